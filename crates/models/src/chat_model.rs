//! The one door to every model.

use std::pin::Pin;

use crate::{ModelError, ModelRequest, ModelResponse};

/// A future on the heap: a trait object cannot have an `async fn`.
pub type ModelFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that answers.
pub trait ChatModel: Send + Sync {
    /// What a user typed to get it.
    fn name(&self) -> &str;

    /// Asks once. `live` hears the text as it comes; dropping the future ends the request.
    fn complete<'a>(
        &'a self,
        ask: &'a ModelRequest,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>>;
}
