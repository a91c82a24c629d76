//! The trait that every chat model implements.

use std::pin::Pin;

use crate::{ModelError, ModelRequest, ModelResponse};

/// A boxed future, because a trait object cannot have an `async fn`.
pub type ModelFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model that replies to a prompt.
pub trait ChatModel: Send + Sync {
    /// Name of the model, as the user wrote it.
    fn name(&self) -> &str;

    /// Calls the model once, without a retry. `live` receives the text as it arrives; dropping the
    /// future cancels the request.
    fn complete<'a>(
        &'a self,
        ask: &'a ModelRequest,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>>;
}
