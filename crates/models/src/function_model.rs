//! A model that is a function of the program itself.

use countersign_contract::reply::FinishReason;

use crate::chat_model::{ChatModel, ModelFuture};
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::response::{ModelExchange, ModelResponse, OutputConstraint};

/// Calls a function for every request: for tests, for local inference, and for providers that this
/// crate does not know.
///
/// ```
/// use countersign_models::{ChatModel, FunctionModel};
///
/// let model = FunctionModel::new("echo", |request| {
///     let last = request.messages.last().map(|message| message.text.clone());
///     async move { Ok(last.unwrap_or_default()) }
/// });
/// assert_eq!(model.name(), "echo");
/// ```
pub struct FunctionModel<F> {
    name: String,
    reply: F,
}

impl<F, R> FunctionModel<F>
where
    F: Fn(&ModelRequest) -> R + Send + Sync,
    R: Future<Output = Result<String, ModelError>> + Send + 'static,
{
    /// Creates a model with a name, which the log records, and a function that returns the text of
    /// the reply.
    pub fn new(name: impl Into<String>, reply: F) -> Self {
        Self { name: name.into(), reply }
    }
}

impl<F, R> ChatModel for FunctionModel<F>
where
    F: Fn(&ModelRequest) -> R + Send + Sync,
    R: Future<Output = Result<String, ModelError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn complete<'a>(
        &'a self,
        ask: &'a ModelRequest,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        let reply = (self.reply)(ask);
        Box::pin(async move {
            let text = reply.await?;
            live(&text);
            Ok(ModelResponse {
                exchange: ModelExchange {
                    request: Vec::new(),
                    response: text.clone().into_bytes(),
                },
                text,
                finish: FinishReason::Stop,
                finish_reason: "stop".to_owned(),
                usage: None,
                model: self.name.clone(),
                constraint: OutputConstraint::Unconstrained,
                drop_nulls: false,
            })
        })
    }
}
