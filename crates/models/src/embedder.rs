//! The one door to every model that makes vectors of texts.

use crate::{ModelError, ModelFuture};

/// Something that makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// The model's name: vectors of two names have nothing to do with each other.
    fn name(&self) -> &str;

    /// A vector for each text, in their order, all of one length. Dropping the future ends the request.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> ModelFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}
