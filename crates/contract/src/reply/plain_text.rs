//! Finds the text of a reply that is no object at all, for contracts that accept plain text as the
//! value of one field.
//!
//! A text that could be an attempt at the object is never taken as text: one that begins with a
//! bracket, that names the field, or that was cut off.

use super::intake::{self, FinishReason};
use super::reply_markers::{self, ReplyMarker};
use crate::json::TextSpan;
use crate::limits::MAX_REPLY_BYTES;

/// Info strings of a code fence around a whole text that is still plain text.
const TEXT_FENCES: [&str; 5] = ["", "markdown", "md", "text", "txt"];

/// Returns the span of the plain text of a reply, without its reasoning and without a fence around
/// all of it; `None` if the reply is not plain text.
pub(super) fn find_plain_text(text: &str, field: &str, finish: FinishReason) -> Option<TextSpan> {
    if finish == FinishReason::Length || text.len() > MAX_REPLY_BYTES {
        return None;
    }
    let mut span = trim_span(text, TextSpan::new(find_reasoning_end(text)?, text.len()));
    if let Some((inner, fence)) = intake::find_fence(text, span)
        && fence == span
    {
        let opening = text[span.start..inner.start].trim_start_matches(['`', '~']);
        let is_text = TEXT_FENCES.iter().any(|info| opening.trim().eq_ignore_ascii_case(info));
        if !is_text {
            return None;
        }
        span = trim_span(text, inner);
    }
    let inside = &text[span.range()];
    let is_attempt = inside.is_empty()
        || inside.starts_with('{')
        || names_field(inside, field)
        || inside.contains("\"tool_calls\"");
    (!is_attempt).then_some(span)
}

/// Returns the end of the reasoning at the beginning of the text, 0 if there is none; `None` if
/// there is reasoning elsewhere, because then nobody knows which part is the reply.
fn find_reasoning_end(text: &str) -> Option<usize> {
    let mut end = 0;
    let mut position = 0;
    while let Some(length) = text[position..].find(['<', '[']) {
        let at = position + length;
        position = match reply_markers::read_marker(text, at) {
            Some(ReplyMarker::Reasoning { end: after }) => {
                if !text[end..at].trim().is_empty() {
                    return None;
                }
                end = after;
                after
            }
            Some(ReplyMarker::ReasoningEnd { end: after }) => {
                if end > 0 {
                    return None;
                }
                end = after;
                after
            }
            Some(ReplyMarker::Tag(_)) if text[at..].starts_with("<|") => return None,
            Some(ReplyMarker::Tag(_)) | None => at + 1,
        };
    }
    Some(end)
}

/// Returns whether the field is named in the text as a word of its own.
fn names_field(text: &str, field: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(field).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + field.len()..].starts_with(is_word)
    })
}

fn trim_span(text: &str, span: TextSpan) -> TextSpan {
    let inside = &text[span.range()];
    let start = span.start + (inside.len() - inside.trim_start().len());
    TextSpan::new(start, start + inside.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        find_plain_text(text, "body_text", FinishReason::Stop).map(|span| &text[span.range()])
    }

    #[test]
    fn text_is_taken_without_reasoning_and_fence() {
        for (text, expected) in [
            ("  ## Answer\nOne task is late [1].\n", "## Answer\nOne task is late [1]."),
            ("<think>which?</think>\nIt is late.", "It is late."),
            ("which one?</think>It is late.", "It is late."),
            ("[THINK]a[/THINK] Late.", "Late."),
            ("```markdown\n## Answer\nLate.\n```", "## Answer\nLate."),
            ("[1] says so: {a} and <b>", "[1] says so: {a} and <b>"),
            ("Intro\n```json\n{\"late\": 1}\n```\nEnd", "Intro\n```json\n{\"late\": 1}\n```\nEnd"),
            ("답변입니다.", "답변입니다."),
        ] {
            assert_eq!(found(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn an_attempt_at_the_object_is_no_text() {
        for text in [
            "",
            "  \n",
            "<think>only this</think>",
            "{\"text\": \"Late.\"}",
            "{\"body_te",
            "Here: {\"body_text\": \"Late.",
            "body_text: Late.",
            "```json\n{\"late\": 1}\n```",
            "Late. <think>or not</think> Not late.",
            "a</think>b</think>c",
            "<|channel|>final<|message|>Late.",
            "Calling {\"tool_calls\": []}",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        assert_eq!(find_plain_text("Late", "body_text", FinishReason::Length), None);
        assert_eq!(found("my_body_texts are late"), Some("my_body_texts are late"));
    }
}
