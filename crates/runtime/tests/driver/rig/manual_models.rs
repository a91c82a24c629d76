//! A model that answers when the test does.

use std::sync::Arc;

use countersign_contract::reply::FinishReason;
use countersign_models::{
    ChatModel, ModelError, ModelExchange, ModelFuture, ModelRequest, ModelResponse,
    OutputConstraint,
};
use countersign_runtime::driver::ModelResolver;
use tokio::sync::{mpsc, oneshot};

/// A question that is out: where its answer goes.
pub(crate) struct Question {
    answer: oneshot::Sender<String>,
}

impl Question {
    pub(crate) fn answer(self, text: &str) {
        // Whoever asked may be gone; some tests are about that.
        let _ = self.answer.send(text.to_owned());
    }

    /// Waits until nobody wants the answer any more.
    pub(crate) async fn dropped(mut self) {
        self.answer.closed().await;
    }
}

/// Every model there is: each question goes to the test.
pub(crate) struct ManualModels {
    questions: mpsc::UnboundedSender<Question>,
}

impl ManualModels {
    pub(crate) fn open() -> (Arc<Self>, mpsc::UnboundedReceiver<Question>) {
        let (questions, receiver) = mpsc::unbounded_channel();
        (Arc::new(Self { questions }), receiver)
    }
}

struct Clerk(mpsc::UnboundedSender<Question>);

impl ModelResolver for ManualModels {
    fn resolve_model(&self, _: &str) -> Result<Option<Arc<dyn ChatModel>>, String> {
        Ok(Some(Arc::new(Clerk(self.questions.clone()))))
    }
}

impl ChatModel for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn complete<'a>(
        &'a self,
        _: &'a ModelRequest,
        _: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let (answer, text) = oneshot::channel();
            self.0.send(Question { answer }).unwrap();
            let text = text.await.expect("the test answers");
            Ok(ModelResponse {
                text,
                finish: FinishReason::Stop,
                finish_reason: "stop".to_owned(),
                usage: None,
                model: "clerk".to_owned(),
                exchange: ModelExchange::default(),
                constraint: OutputConstraint::Unconstrained,
                drop_nulls: false,
            })
        })
    }
}
