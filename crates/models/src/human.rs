//! A person who plays the model: nothing is sent, and the caller waits for what they hand in.

use crate::{Answer, Ask, BoxFuture, Fault, Model, ModelError};

/// The model `human`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Human;

impl Model for Human {
    fn name(&self) -> &'static str {
        "human"
    }

    fn complete<'a>(
        &'a self,
        _ask: &'a Ask,
        _live: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let error =
            ModelError { model: self.name().to_owned(), fault: Fault::NeedsPerson, exchange: None };
        Box::pin(std::future::ready(Err(error)))
    }
}
