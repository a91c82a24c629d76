//! An answer while it comes in.

use countersign_core::limits::MAX_REPLY_BYTES;
use countersign_core::reply::Finish;
use serde_json::Value;

use crate::{Fault, Flaw, Usage};

/// What has been heard so far.
pub(crate) struct Heard<'l> {
    /// The text.
    pub(crate) text: String,
    /// The model, as the provider names it.
    pub(crate) model: Option<String>,
    /// What was used up.
    pub(crate) usage: Option<Usage>,
    /// Why the model stopped; without it the answer has no end.
    pub(crate) end: Option<(Finish, String)>,
    /// Whether nothing more will come.
    pub(crate) is_over: bool,
    live: &'l mut (dyn FnMut(&str) + Send),
}

impl<'l> Heard<'l> {
    /// Nothing yet.
    pub(crate) fn new(live: &'l mut (dyn FnMut(&str) + Send)) -> Self {
        Self { text: String::new(), model: None, usage: None, end: None, is_over: false, live }
    }

    /// More text.
    pub(crate) fn say(&mut self, piece: &str) -> Result<(), Fault> {
        if self.text.len() + piece.len() > MAX_REPLY_BYTES {
            return Err(Fault::BadAnswer { flaw: Flaw::TooLarge { limit: MAX_REPLY_BYTES } });
        }
        if !piece.is_empty() {
            self.text.push_str(piece);
            (self.live)(piece);
        }
        Ok(())
    }

    /// The model's name, where it is told.
    pub(crate) fn name(&mut self, name: &Value) {
        if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
            self.model = Some(name.to_owned());
        }
    }

    /// Why the model stopped.
    pub(crate) fn stop(&mut self, finish: Finish, reason: &str) {
        self.end = Some((finish, reason.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_passed_on_as_it_comes_and_has_a_limit() {
        let mut pieces = Vec::new();
        let mut live = |piece: &str| pieces.push(piece.len());
        let mut heard = Heard::new(&mut live);
        heard.say("").unwrap();
        heard.say("аб").unwrap();
        heard.say(&"x".repeat(MAX_REPLY_BYTES - 4)).unwrap();
        let fault = heard.say("x").unwrap_err();
        assert_eq!(fault, Fault::BadAnswer { flaw: Flaw::TooLarge { limit: MAX_REPLY_BYTES } });
        assert_eq!(pieces, [4, MAX_REPLY_BYTES - 4]);
    }
}
