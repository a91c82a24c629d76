//! The trait that every embedding model implements.

use crate::{ModelError, ModelFuture};

/// A model that makes vectors from texts.
pub trait Embedder: Send + Sync {
    /// Name of the model; vectors of models with different names cannot be compared.
    fn name(&self) -> &str;

    /// Returns one vector per text, in order, all of the same length. Dropping the future cancels
    /// the request.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> ModelFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}
