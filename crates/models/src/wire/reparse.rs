//! Parses a response again from the bytes that were kept.

use super::frame_decoder::FrameDecoder;
use super::{ProviderDialect, ResponseAccumulator};
use crate::ModelProvider;
use crate::providers::dialect_for;

/// Returns the text of a response in each wire format in which it is complete. The list is empty if
/// no format can read the bytes; then nothing is known about the text.
#[must_use]
pub fn reparse_texts(response: &[u8]) -> Vec<String> {
    let formats = [
        ModelProvider::OpenAi,
        ModelProvider::Anthropic,
        ModelProvider::Gemini,
        ModelProvider::Ollama,
    ];
    let mut texts: Vec<String> = formats
        .into_iter()
        .filter_map(|format| reparse_text(&*dialect_for(format, true), response))
        .collect();
    texts.dedup();
    texts
}

fn reparse_text(dialect: &dyn ProviderDialect, response: &[u8]) -> Option<String> {
    let mut unheard = |_: &str| {};
    let mut heard = ResponseAccumulator::new(&mut unheard);
    let mut frames = FrameDecoder::new(dialect.framing());
    let mut pieces = frames.push(response).ok()?;
    pieces.extend(frames.finish().ok()?);
    for piece in pieces {
        if !heard.is_complete {
            dialect.apply_chunk(&piece, &mut heard).ok()?;
        }
    }
    heard.finish.is_some().then_some(heard.text)
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
        assert_eq!(reparse_texts(response("yes").as_bytes()), ["yes"]);
        assert_eq!(reparse_texts(response("no").as_bytes()), ["no"]);
        let ollama = "{\"message\":{\"content\":\"a\"},\"done\":false}\n\
                      {\"message\":{\"content\":\"b\"},\"done\":true,\"done_reason\":\"stop\"}\n";
        assert_eq!(reparse_texts(ollama.as_bytes()), ["ab"]);
        assert!(reparse_texts(b"<html>").is_empty(), "nothing can be said about it");
    }
}
