//! Decides whether an object in prose stands there as a reply or is only quoted.
//!
//! The position decides, not the wording. A reply stands on lines of its own, or after a colon, or
//! between complete sentences. An object is quoted if a sentence leads into it or continues after
//! it, or if it is inside quotation marks, a block quote or a tag that marks someone else's text.
//! The words around the object are examined only where the position leaves the question open
//! (`reporting_words.rs`), and only to refuse.

use super::reply_markers::{self, MarkupTag};
use super::reply_scanner::{ScanResult, is_quote};
use super::reporting_words::{reports_after, reports_before, reports_in_comment};
use super::violation::{Violation, ViolationCode};
use crate::json::TextSpan;

/// The number of bytes around an object within which quotation marks are paired.
const MAX_PARAGRAPH_BYTES: usize = 2_048;

/// Abbreviations whose final period does not end a sentence.
const ABBREVIATIONS: [&str; 7] = ["e.g.", "i.e.", "ex.", "z.B.", "z. B.", "напр.", "т.е."];

/// The maximum number of open tags that are tracked.
const MAX_OPEN_TAGS: usize = 16;

/// The maximum number of decoration layers removed on each side of an object.
const MAX_DECORATION_LAYERS: usize = 16;

/// The construct that contains a quoted object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QuotationKind {
    /// A sentence leads into the object or continues after it.
    Sentence,
    /// Quotation marks enclose the object.
    Quotes,
    /// The object is in a Markdown block quote.
    BlockQuote,
    /// The object is in a tag that marks a document, an input or an example; holds the tag's name.
    Tag(String),
    /// The introduction says that the object is an example, belongs to someone else, or is not
    /// meant.
    Reported,
}

impl QuotationKind {
    /// Converts the finding into a violation.
    pub(super) fn into_violation(self, span: TextSpan) -> Violation {
        let found = match self {
            Self::Sentence => "an object inside a sentence".to_owned(),
            Self::Quotes => "an object in quotation marks".to_owned(),
            Self::BlockQuote => "an object in a block quote".to_owned(),
            Self::Tag(name) => format!("an object inside `<{name}>`"),
            Self::Reported => "an object that the text quotes or gives as an example".to_owned(),
        };
        let expected = "the reply object on its own lines";
        Violation::new(ViolationCode::QuotedObject, "", expected, found)
            .with_hint("send the object alone, without a sentence, quotes or tags around it")
            .with_span(span)
    }
}

/// Returns the construct that quotes the object at `span`, or `None` if it stands as a reply.
pub(super) fn find_quotation(
    text: &str,
    span: TextSpan,
    found: &ScanResult,
) -> Option<QuotationKind> {
    // Quotations occur only in a text with prose.
    if found.prose.is_empty() {
        return None;
    }
    let (floor, ceiling) = find_bounds(text, span, found);
    let before = &text[floor..span.start];
    let behind = &text[span.end..ceiling];
    if is_blank(before) && is_blank(behind) {
        return None;
    }
    if let Some(name) = find_enclosing_tag(text, span, &found.tags) {
        return Some(QuotationKind::Tag(name));
    }
    if is_in_comment(before, behind) {
        return Some(QuotationKind::Tag("!--".to_owned()));
    }
    let line = before.rfind('\n').map_or(before, |newline| &before[newline + 1..]);
    if line.trim_start().starts_with('>') {
        return Some(QuotationKind::BlockQuote);
    }
    let rest = behind.split('\n').next().unwrap_or_default();
    let line = strip_before(line);
    let stripped = strip_after(rest);
    let (rest, apart) = (stripped, stripped.len() < rest.len());
    if ends_with_quote(line) || starts_with_quote(rest) {
        // Quotes around the whole reply are a notation, not a quotation.
        let whole = before.trim().chars().all(is_quote) && behind.trim().chars().all(is_quote);
        return (!whole).then_some(QuotationKind::Quotes);
    }
    if is_inside_quotes(before, behind) {
        return Some(QuotationKind::Quotes);
    }
    if is_code(line) {
        return None;
    }
    classify_before(line, &before[..find_line_start(before)], behind)
        .or_else(|| classify_after(rest, apart))
}

/// Returns the bounds of the text that can refer to the object: up to the adjacent reasoning and
/// candidates.
fn find_bounds(text: &str, span: TextSpan, found: &ScanResult) -> (usize, usize) {
    let others = found.reasoning.iter().copied().chain(found.candidate_spans.iter().copied());
    let others = others.chain(found.reasoning_end.map(|end| TextSpan::new(0, end)));
    let (mut floor, mut ceiling) = (0, text.len());
    for other in others {
        if other.end <= span.start {
            floor = floor.max(other.end);
        } else if other.start >= span.end {
            ceiling = ceiling.min(other.start);
        }
    }
    (floor, ceiling)
}

fn find_line_start(before: &str) -> usize {
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

fn is_space(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns the innermost tag around the object that marks neither the reply nor layout.
fn find_enclosing_tag(text: &str, span: TextSpan, tags: &[MarkupTag]) -> Option<String> {
    let opaque = |tag: &MarkupTag| !tag.is_transparent(text);
    let mut open: Vec<&MarkupTag> = Vec::new();
    for tag in tags {
        if !tag.is_closing {
            if open.len() < MAX_OPEN_TAGS && tag.span.end <= span.start {
                open.push(tag);
            }
            continue;
        }
        let Some(at) = open.iter().rposition(|one| one.matches(tag, text)) else { continue };
        if tag.span.start >= span.end && opaque(open[at]) {
            return Some(text[tag.name.range()].to_owned());
        }
        open.truncate(at);
    }
    // An unclosed tag encloses everything after it if it stands on a line of its own.
    let alone = |tag: &&&MarkupTag| {
        let before = &text[find_line_start(&text[..tag.span.start])..tag.span.start];
        is_blank(before)
            && text[tag.span.end..].trim_start_matches([' ', '\t', '\r']).starts_with('\n')
    };
    let unclosed = open.iter().filter(|tag| opaque(tag)).find(alone)?;
    Some(text[unclosed.name.range()].to_owned())
}

fn is_in_comment(before: &str, behind: &str) -> bool {
    let opened = before.rfind("<!--");
    opened.is_some() && opened > before.rfind("-->") && behind.contains("-->")
}

/// Removes decoration from the end of the text before an object: fences, code marks, emphasis, tags
/// of the reply, special tokens, bullets.
fn strip_before(line: &str) -> &str {
    let mut line = line.trim_start();
    for _ in 0..MAX_DECORATION_LAYERS {
        let mut shorter = line.trim_end_matches(is_space);
        let fence = shorter.starts_with("```") || shorter.starts_with("~~~");
        let info = shorter.trim_start_matches(['`', '~']);
        let bullet = |c: char| matches!(c, '-' | '*' | '+' | '•' | '#');
        if fence && info.chars().all(char::is_alphanumeric) || shorter.chars().all(bullet) {
            return "";
        }
        shorter = shorter.trim_end_matches(['`', '*', '_']);
        if shorter.ends_with('>')
            && let Some(open) = shorter.rfind('<')
        {
            let token = reply_markers::find_special_token_end(shorter, open) == Some(shorter.len());
            let tag =
                reply_markers::read_tag(shorter, open).filter(|tag| tag.span.end == shorter.len());
            if token {
                // The name of a channel or speaker belongs to the tokens around it.
                let name = shorter[..open].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
                shorter = if name.ends_with("|>") { name } else { &shorter[..open] };
            } else if tag.is_some_and(|tag| tag.is_transparent(shorter)) {
                shorter = &shorter[..open];
            }
        }
        if shorter.len() == line.len() {
            break;
        }
        line = shorter;
    }
    line
}

/// Removes decoration and final punctuation from the beginning of the text after an object.
fn strip_after(rest: &str) -> &str {
    let mut rest = rest;
    for _ in 0..MAX_DECORATION_LAYERS {
        let mut shorter = rest.trim_start_matches(is_space);
        shorter = shorter.trim_start_matches(['`', '~', '*', '_', '}', ']', ')']);
        if shorter.starts_with('<') {
            let token = reply_markers::find_special_token_end(shorter, 0);
            let tag = reply_markers::read_tag(shorter, 0).filter(|tag| tag.is_transparent(shorter));
            let end = token.or(tag.map(|tag| tag.span.end)).unwrap_or(0);
            shorter = &shorter[end..];
        }
        if is_blank(shorter.trim_start_matches(['.', ';', '。'])) {
            return "";
        }
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    rest
}

fn ends_with_quote(line: &str) -> bool {
    line.ends_with(|c: char| is_quote(c) && c != '`')
}

fn starts_with_quote(rest: &str) -> bool {
    rest.starts_with(|c: char| is_quote(c) && c != '`')
}

/// Returns whether quotation marks opened in the same paragraph are closed after the object.
fn is_inside_quotes(before: &str, behind: &str) -> bool {
    const PAIRS: [(char, &[char]); 5] =
        [('“', &['”', '“']), ('„', &['“', '”']), ('«', &['»']), ('「', &['」']), ('『', &['』'])];
    let before = take_last_paragraph(before);
    let behind = take_first_paragraph(behind);
    let paired = PAIRS.iter().any(|(open, close)| {
        before.rfind(*open).is_some_and(|at| {
            !before[at + open.len_utf8()..].contains(*close) && behind.contains(*close)
        })
    });
    // A straight opening quote follows a space; an inch mark does not.
    let straight = before.matches('"').count() % 2 == 1
        && before.rfind('"').is_some_and(|at| {
            before[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(')
        })
        && behind.contains('"');
    paired || straight
}

fn take_last_paragraph(text: &str) -> &str {
    let mut from = text.len().saturating_sub(MAX_PARAGRAPH_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let text = &text[from..];
    text.rfind("\n\n").map_or(text, |blank| &text[blank + 2..])
}

fn take_first_paragraph(text: &str) -> &str {
    let mut end = text.len().min(MAX_PARAGRAPH_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].split("\n\n").next().unwrap_or_default()
}

/// Returns whether an assignment or a call precedes the object: `report = `, `print(json.dumps(`.
fn is_code(line: &str) -> bool {
    let line = line.trim();
    let code =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '(' | ' ' | '=');
    let call = line.ends_with('(') && !line.contains(' ');
    let assignment = line.ends_with('=') && line.split_whitespace().count() <= 3;
    line.len() > 1 && line.chars().all(code) && (call || assignment)
}

/// Returns whether a parenthesis is open at the end of the line.
fn opens_parenthesis(line: &str) -> bool {
    const PAIRS: [[char; 2]; 3] = [['(', ')'], ['[', ']'], ['（', '）']];
    PAIRS.iter().any(|[open, close]| line.rfind(*open) > line.rfind(*close))
}

/// Checks the text before the object, on its line or above it. Returns `None` if the object can be
/// a reply.
fn classify_before(line: &str, above: &str, behind: &str) -> Option<QuotationKind> {
    let line = line.trim();
    if line.is_empty() || line.eq_ignore_ascii_case("json") {
        return classify_above(above, behind);
    }
    let last = line.chars().next_back()?;
    let abbreviated = ABBREVIATIONS.iter().any(|end| line.ends_with(end));
    if abbreviated || opens_parenthesis(line) {
        return Some(QuotationKind::Sentence);
    }
    let introduced = matches!(last, ':' | '：' | '→' | '➜' | '—' | '–' | '-')
        || line.ends_with("->")
        || line.ends_with("=>");
    if introduced {
        return reports_before(line).then_some(QuotationKind::Reported);
    }
    let ended = matches!(last, '.' | '!' | '?' | '…' | '。' | '！' | '？' | ')' | '）');
    let symbol = !last.is_alphanumeric()
        && !last.is_ascii_punctuation()
        && !is_quote(last)
        && last > '\u{2000}'
        && !matches!(last, '，' | '、' | '；');
    (!ended && !symbol).then_some(QuotationKind::Sentence)
}

/// Checks the lines above and below an object that begins its line: they may introduce the object
/// or run into it.
fn classify_above(above: &str, behind: &str) -> Option<QuotationKind> {
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    // A sentence may continue below the object, also after a fence and an empty line.
    let mut below = behind.lines().skip(1).map(str::trim);
    let below = below.find(|line| !line.is_empty() && !is_fence(line)).unwrap_or_default();
    let goes_on = below.starts_with(|c: char| c.is_lowercase() || matches!(c, ',' | ';'));
    if goes_on && reports_after(below) {
        return Some(QuotationKind::Reported);
    }
    let mut lines = above.lines().rev();
    // If the object is in a fence, the last line above it is the line of the fence.
    let adjacent = lines.clone().next().is_some_and(|line| !is_blank(line));
    let introduction = lines.find(|line| {
        let line = line.trim();
        !line.is_empty() && !is_fence(line)
    })?;
    let introduction = introduction.trim_end().trim_end_matches(['*', '_', '`']).trim_end();
    if introduction.ends_with([':', '：']) {
        return reports_before(introduction).then_some(QuotationKind::Reported);
    }
    let open =
        introduction.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '，' | ';'));
    if !adjacent || !open {
        return None;
    }
    let goes_on = behind.lines().nth(1).unwrap_or_default().trim_start();
    if goes_on.starts_with(|c: char| c.is_lowercase() || matches!(c, ',' | ';')) {
        return Some(QuotationKind::Sentence);
    }
    reports_before(introduction).then_some(QuotationKind::Reported)
}

/// Checks the text after the object on its line. The object can be a reply if that text is empty, a
/// comment, or a separate sentence.
fn classify_after(rest: &str, apart: bool) -> Option<QuotationKind> {
    let first = rest.chars().next()?;
    if ["//", "/*", "#", "<!--"].iter().any(|mark| rest.starts_with(mark)) {
        return reports_in_comment(rest).then_some(QuotationKind::Reported);
    }
    if matches!(first, '{' | '[') {
        return None;
    }
    let symbol = !first.is_alphanumeric()
        && first > '\u{2000}'
        && !is_quote(first)
        && !matches!(first, '—' | '–' | '，' | '。' | '、' | '；' | '：');
    if symbol || (apart && first.is_uppercase()) {
        return reports_after(rest).then_some(QuotationKind::Reported);
    }
    Some(QuotationKind::Sentence)
}
