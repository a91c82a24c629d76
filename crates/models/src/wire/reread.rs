//! Reading an answer again from the bytes that were kept of it.

use super::frames::Frames;
use super::{Dialect, Heard};
use crate::Provider;
use crate::providers::dialect;

/// The texts that a response says, in each wire format in which it is a whole answer. None where no
/// format can read it: then nothing can be said about it.
#[must_use]
pub fn reread_texts(response: &[u8]) -> Vec<String> {
    let formats = [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama];
    let mut texts: Vec<String> = formats
        .into_iter()
        .filter_map(|format| reread(&*dialect(format, true), response))
        .collect();
    texts.dedup();
    texts
}

fn reread(dialect: &dyn Dialect, response: &[u8]) -> Option<String> {
    let mut unheard = |_: &str| {};
    let mut heard = Heard::new(&mut unheard);
    let mut frames = Frames::new(dialect.framing());
    let mut pieces = frames.push(response).ok()?;
    pieces.extend(frames.rest().ok()?);
    for piece in pieces {
        if !heard.is_over {
            dialect.hear(&piece, &mut heard).ok()?;
        }
    }
    heard.end.is_some().then_some(heard.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_says_one_text_and_another_edit_says_another() {
        let response = |text: &str| {
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n\
                 data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n\
                 data: [DONE]\n\n"
            )
        };
        assert_eq!(reread_texts(response("yes").as_bytes()), ["yes"]);
        assert_eq!(reread_texts(response("no").as_bytes()), ["no"]);
        let ollama = "{\"message\":{\"content\":\"a\"},\"done\":false}\n\
                      {\"message\":{\"content\":\"b\"},\"done\":true,\"done_reason\":\"stop\"}\n";
        assert_eq!(reread_texts(ollama.as_bytes()), ["ab"]);
        assert!(reread_texts(b"<html>").is_empty(), "nothing can be said about it");
    }
}
