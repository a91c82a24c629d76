//! Recognizes markers in a reply text: reasoning blocks, tags and special tokens.
//!
//! It reads one marker at a time, at an offset that the scanner gives, and examines the content of
//! a block at most once. It decides nothing about objects.

use crate::json::TextSpan;

/// Tags whose content is reasoning.
const REASONING_TAGS: [&str; 8] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
];

/// Reasoning tags in square brackets, which some models are trained to write.
const REASONING_BRACKETS: [&str; 2] = ["THINK", "THINKING"];

/// Special-token channels whose message is reasoning.
const REASONING_CHANNELS: [&str; 3] = ["analysis", "reasoning", "thinking"];

/// Tags that mark the reply, or that do not say whose words they enclose.
const TRANSPARENT_TAGS: [&str; 27] = [
    "answer",
    "final",
    "final_answer",
    "finalanswer",
    "output",
    "reply",
    "response",
    "result",
    "json",
    "tool_call",
    "function_call",
    "function",
    "invoke",
    "parameter",
    "arguments",
    "s",
    "p",
    "b",
    "br",
    "hr",
    "pre",
    "code",
    "div",
    "span",
    "body",
    "html",
    "details",
];

/// The maximum length in bytes of a tag's name, and of its attributes; a longer one is not a tag.
const MAX_TAG_BYTES: usize = 256;

/// A marker that begins with `<` or `[` and is not a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyMarker {
    /// A reasoning block, which the scanner skips up to `end`.
    Reasoning { end: usize },
    /// The closing mark of a reasoning block.
    ReasoningEnd { end: usize },
    /// An opening or closing tag, or a special token.
    Tag(MarkupTag),
}

/// A tag in the reply text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MarkupTag {
    /// The span of the whole tag, including its brackets.
    pub(super) span: TextSpan,
    /// The span of the tag's name.
    pub(super) name: TextSpan,
    /// Whether it is a closing tag; special tokens count as closing.
    pub(super) is_closing: bool,
}

impl MarkupTag {
    /// Returns whether the content of the tag may be the reply.
    pub(super) fn is_transparent(&self, text: &str) -> bool {
        let name = &text[self.name.range()];
        TRANSPARENT_TAGS.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns whether both tags have the same name, ignoring ASCII case.
    pub(super) fn matches(&self, other: &Self, text: &str) -> bool {
        text[self.name.range()].eq_ignore_ascii_case(&text[other.name.range()])
    }
}

/// Reads the marker that begins with the `<` or `[` at `at`.
pub(super) fn read_marker(text: &str, at: usize) -> Option<ReplyMarker> {
    if text.as_bytes()[at] == b'[' {
        return read_bracket_marker(text, at);
    }
    if text[at..].starts_with("<|") {
        return read_special_token(text, at);
    }
    let tag = read_tag(text, at)?;
    let name = &text[tag.name.range()];
    if !REASONING_TAGS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Some(ReplyMarker::Tag(tag));
    }
    if tag.is_closing {
        return Some(ReplyMarker::ReasoningEnd { end: tag.span.end });
    }
    let end = find_closing_name(text, tag.span.end, "</", name)
        .map_or(text.len(), |end| end + usize::from(text[end..].starts_with('>')));
    Some(ReplyMarker::Reasoning { end })
}

/// Reads `<name attribute="x">` or `</name>`.
pub(super) fn read_tag(text: &str, at: usize) -> Option<MarkupTag> {
    let closes = text[at + 1..].starts_with('/');
    let start = at + 1 + usize::from(closes);
    let rest = &text[start..];
    if !rest.starts_with(char::is_alphabetic) {
        return None;
    }
    let length = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.')))
        .filter(|length| *length < MAX_TAG_BYTES)?;
    let name = TextSpan::new(start, start + length);
    let mut window = (name.end + MAX_TAG_BYTES).min(text.len());
    while !text.is_char_boundary(window) {
        window -= 1;
    }
    let attributes = &text[name.end..window];
    let end = attributes.find(['>', '<', '\n'])?;
    let separate = attributes.starts_with(['>', ' ', '/']);
    (separate && attributes[end..].starts_with('>')).then(|| MarkupTag {
        span: TextSpan::new(at, name.end + end + 1),
        name,
        is_closing: closes,
    })
}

/// Reads `[THINK]` … `[/THINK]`.
fn read_bracket_marker(text: &str, at: usize) -> Option<ReplyMarker> {
    let rest = &text[at + 1..];
    let closes = rest.starts_with('/');
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let name = REASONING_BRACKETS
        .into_iter()
        .find(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(']')))?;
    let end = at + 2 + usize::from(closes) + name.len();
    if closes {
        return Some(ReplyMarker::ReasoningEnd { end });
    }
    let closing = format!("[/{name}]");
    let end = text[end..].find(&closing).map_or(text.len(), |found| end + found + closing.len());
    Some(ReplyMarker::Reasoning { end })
}

/// Reads `<|channel|>analysis<|message|>` up to the next token that ends or begins a message. Any
/// other token is a marker on its own.
fn read_special_token(text: &str, at: usize) -> Option<ReplyMarker> {
    let token = find_special_token_end(text, at)?;
    let name = &text[at + 2..token - 2];
    let channel = text[token..].trim_start();
    let reasons =
        name == "channel" && REASONING_CHANNELS.iter().any(|one| channel.starts_with(one));
    if !reasons && name != "begin_of_thought" {
        let name = TextSpan::new(at + 2, token - 2);
        return Some(ReplyMarker::Tag(MarkupTag {
            span: TextSpan::new(at, token),
            name,
            is_closing: true,
        }));
    }
    let mut search = token;
    while let Some(found) = text[search..].find("<|") {
        let start = search + found;
        let Some(end) = find_special_token_end(text, start) else {
            search = start + 2;
            continue;
        };
        match &text[start + 2..end - 2] {
            "end" | "return" | "end_of_thought" => return Some(ReplyMarker::Reasoning { end }),
            "channel" | "start" => return Some(ReplyMarker::Reasoning { end: start }),
            _ => search = end,
        }
    }
    Some(ReplyMarker::Reasoning { end: text.len() })
}

/// Returns the end of the special token that begins at `at`.
pub(super) fn find_special_token_end(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix("<|")?;
    let length = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|length| (1..MAX_TAG_BYTES).contains(length))?;
    rest[length..].starts_with("|>").then_some(at + 2 + length + 2)
}

/// Finds the next `mark` that is followed by `name`, and returns the end of that name.
fn find_closing_name(text: &str, from: usize, mark: &str, name: &str) -> Option<usize> {
    let mut search = from;
    while let Some(found) = text[search..].find(mark) {
        let start = search + found + mark.len();
        let closing = text.get(start..start + name.len());
        if closing.is_some_and(|closing| closing.eq_ignore_ascii_case(name)) {
            return Some(start + name.len());
        }
        search = start;
    }
    None
}
