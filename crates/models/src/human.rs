//! A person who acts as the model: nothing is sent, and the caller waits for what the person
//! submits.

use crate::{ChatModel, ModelError, ModelErrorKind, ModelFuture, ModelRequest, ModelResponse};

/// The model `human`; every call returns [`ModelErrorKind::HumanRequired`].
#[derive(Debug, Clone, Copy, Default)]
pub struct HumanModel;

impl ChatModel for HumanModel {
    fn name(&self) -> &'static str {
        "human"
    }

    fn complete<'a>(
        &'a self,
        _ask: &'a ModelRequest,
        _live: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        let error = ModelError {
            model: self.name().to_owned(),
            kind: ModelErrorKind::HumanRequired,
            exchange: None,
        };
        Box::pin(std::future::ready(Err(error)))
    }
}
