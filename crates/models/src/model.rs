//! The one door to every model.

use std::pin::Pin;

use crate::{Answer, Ask, ModelError};

/// A future on the heap: a trait object cannot have an `async fn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that answers.
pub trait Model: Send + Sync {
    /// What a user typed to get it.
    fn name(&self) -> &str;

    /// Asks once. `live` hears the text as it comes; dropping the future ends the request.
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}
