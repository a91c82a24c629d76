//! An answer while it comes in.

use countersign_core::limits::MAX_REPLY_BYTES;
use countersign_core::reply::FinishReason;
use serde_json::Value;

use crate::{ModelErrorKind, ResponseDefect, TokenUsage};

/// What has been heard so far.
pub(crate) struct ResponseAccumulator<'l> {
    /// The text.
    pub(crate) text: String,
    /// The model, as the provider names it.
    pub(crate) model: Option<String>,
    /// What was used up.
    pub(crate) usage: Option<TokenUsage>,
    /// Why the model stopped; without it the answer has no end.
    pub(crate) finish: Option<(FinishReason, String)>,
    /// Whether nothing more will come.
    pub(crate) is_complete: bool,
    on_text: &'l mut (dyn FnMut(&str) + Send),
}

impl<'l> ResponseAccumulator<'l> {
    /// Nothing yet.
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

    /// More text.
    pub(crate) fn push_text(&mut self, piece: &str) -> Result<(), ModelErrorKind> {
        if self.text.len() + piece.len() > MAX_REPLY_BYTES {
            return Err(ModelErrorKind::BadAnswer {
                defect: ResponseDefect::TooLarge { limit: MAX_REPLY_BYTES },
            });
        }
        if !piece.is_empty() {
            self.text.push_str(piece);
            (self.on_text)(piece);
        }
        Ok(())
    }

    /// The model's name, where it is told.
    pub(crate) fn set_model(&mut self, name: &Value) {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
            self.model = Some(name.to_owned());
        }
    }

    /// Why the model stopped.
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
            ModelErrorKind::BadAnswer {
                defect: ResponseDefect::TooLarge { limit: MAX_REPLY_BYTES }
            }
        );
        assert_eq!(pieces, [4, MAX_REPLY_BYTES - 4]);
    }
}
