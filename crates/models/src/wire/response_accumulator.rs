//! A response while it is being received.

use countersign_contract::limits::MAX_REPLY_BYTES;
use countersign_contract::reply::FinishReason;
use serde_json::Value;

use crate::{ModelErrorKind, ResponseDefect, TokenUsage};

/// What has been received so far.
pub(crate) struct ResponseAccumulator<'l> {
    /// Text of the reply so far.
    pub(crate) text: String,
    /// Name of the model, as the provider reports it.
    pub(crate) model: Option<String>,
    /// Tokens that the call used, if reported so far.
    pub(crate) usage: Option<TokenUsage>,
    /// Why the model stopped; without it, the response is incomplete.
    pub(crate) finish: Option<(FinishReason, String)>,
    /// Whether the provider has marked the end of the response.
    pub(crate) is_complete: bool,
    on_text: &'l mut (dyn FnMut(&str) + Send),
}

impl<'l> ResponseAccumulator<'l> {
    /// Creates an empty accumulator; `on_text` receives each piece of text.
    pub(crate) fn new(on_text: &'l mut (dyn FnMut(&str) + Send)) -> Self {
        Self {
            text: String::new(),
            model: None,
            usage: None,
            finish: None,
            is_complete: false,
            on_text,
        }
    }

    /// Appends text and passes it to the callback.
    pub(crate) fn push_text(&mut self, piece: &str) -> Result<(), ModelErrorKind> {
        if self.text.len() + piece.len() > MAX_REPLY_BYTES {
            return Err(ModelErrorKind::InvalidResponse {
                defect: ResponseDefect::TooLarge { limit: MAX_REPLY_BYTES },
            });
        }
        if !piece.is_empty() {
            self.text.push_str(piece);
            (self.on_text)(piece);
        }
        Ok(())
    }

    /// Sets the model's name if the provider reports one.
    pub(crate) fn set_model(&mut self, name: &Value) {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
            self.model = Some(name.to_owned());
        }
    }

    /// Records why the model stopped.
    pub(crate) fn set_finish(&mut self, finish: FinishReason, reason: &str) {
        self.finish = Some((finish, reason.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_passed_on_as_it_comes_and_has_a_limit() {
        let mut pieces = Vec::new();
        let mut live = |piece: &str| pieces.push(piece.len());
        let mut heard = ResponseAccumulator::new(&mut live);
        heard.push_text("").unwrap();
        heard.push_text("аб").unwrap();
        heard.push_text(&"x".repeat(MAX_REPLY_BYTES - 4)).unwrap();
        let fault = heard.push_text("x").unwrap_err();
        assert_eq!(
            fault,
            ModelErrorKind::InvalidResponse {
                defect: ResponseDefect::TooLarge { limit: MAX_REPLY_BYTES }
            }
        );
        assert_eq!(pieces, [4, MAX_REPLY_BYTES - 4]);
    }
}
