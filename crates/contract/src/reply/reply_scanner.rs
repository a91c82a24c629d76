//! Finds objects inside prose in one pass that tracks strings and nesting; it chooses none of them.
//!
//! Only outermost regions are candidates. A region that is not valid JSON is skipped as a whole, so
//! that no piece of a broken object is taken for the object. Reasoning blocks are skipped, too. The
//! scan also returns the prose outside all of these, because pieces of an answer there mean that
//! the answer was torn apart. The work is bounded: a text that consists only of brackets is
//! refused.

use crate::json::{self, JsonParseError, Repair, RepairKind, RepairLevel, TextSpan};
use crate::limits::{MAX_CANDIDATES, MAX_SCAN_PASSES, MIN_SCAN_BYTES};

use super::intake::{ReplyCandidate, build_candidate};
use super::reply_markers::{self, MarkupTag, ReplyMarker};
use super::violation::{Violation, ViolationCode};
use super::wrapper;

/// The number of arrays of plain values kept as candidates. They serve only the message: a citation
/// such as `[3]` is never the reply.
const MAX_PLAIN_LISTS: usize = 8;

/// The number of bytes before a stray bracket that are searched for the end of a torn object.
const TORN_WINDOW_BYTES: usize = 128;

/// Returns every candidate of a text with prose, in the order of the text, and the prose itself.
pub(super) fn scan_candidates(
    text: &str,
    level: RepairLevel,
) -> Result<ScanResult, Box<Violation>> {
    // White space after a reply that was cut off is not part of its last string.
    let text = text.trim_end();
    if let Some(held) = wrapper::find_string_wrapped_object(text, level) {
        return Ok(ScanResult { candidates: vec![held], ..ScanResult::default() });
    }
    let mut scan = ReplyScanner::new(text, level);
    scan.scan_text();
    if scan.object_count > MAX_CANDIDATES {
        let expected = format!("at most {MAX_CANDIDATES} objects to choose from");
        let found = format!("{} or more", scan.object_count);
        return Err(Box::new(Violation::new(
            ViolationCode::TooManyCandidates,
            "",
            expected,
            found,
        )));
    }
    if scan.is_exhausted() {
        let expected = "one object with few brackets around it";
        let found = "too many brackets to examine";
        return Err(Box::new(
            Violation::new(ViolationCode::TooManyCandidates, "", expected, found)
                .with_hint("send the object alone"),
        ));
    }
    let mut found = scan.result;
    if found.candidates.is_empty() {
        return Err(Box::new(describe_no_object(text)));
    }
    found.candidate_spans = found.candidates.iter().map(|candidate| candidate.span).collect();
    Ok(found)
}

/// Describes a text that contains no object.
pub(super) fn describe_no_object(text: &str) -> Violation {
    let found = if text.trim().is_empty() { "nothing" } else { "only text" };
    Violation::new(ViolationCode::NoJson, "", "a JSON object", found)
}

/// The result of scanning a reply text.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// The candidates, in the order of the text.
    pub(super) candidates: Vec<ReplyCandidate>,
    /// The spans of prose between the candidates.
    pub(super) prose: Vec<TextSpan>,
    /// The first stray bracket in the prose that closes a torn object.
    pub(super) torn_bracket: Option<TextSpan>,
    /// The tags in the prose, in the order of the text.
    pub(super) tags: Vec<MarkupTag>,
    /// The reasoning blocks that were skipped.
    pub(super) reasoning: Vec<TextSpan>,
    /// The spans of all candidates, still available after `candidates` is taken.
    pub(super) candidate_spans: Vec<TextSpan>,
    /// The end of the only closing reasoning mark, if no opening mark precedes it. The text before
    /// it is reasoning, except objects that stand there as a reply would.
    pub(super) reasoning_end: Option<usize>,
}

struct ReplyScanner<'t> {
    text: &'t str,
    repair_level: RepairLevel,
    result: ScanResult,
    /// The number of candidates that could be the reply or an attempt at it.
    object_count: usize,
    /// The number of arrays of plain values found.
    plain_list_count: usize,
    /// The number of bytes examined for brackets that opened no valid JSON.
    scanned_bytes: usize,
    /// The start of the current stretch of prose.
    prose_start: usize,
    line: ScanLine,
    reasoning_end_count: usize,
    torn_in_reasoning: Option<TextSpan>,
}

/// The line that contains the scan position.
#[derive(Default)]
struct ScanLine {
    start: usize,
    /// The offset of its first character that is not white space.
    first_non_space: usize,
    /// The offset up to which the scan has searched for line breaks.
    scanned_to: usize,
}

impl<'t> ReplyScanner<'t> {
    fn new(text: &'t str, repair_level: RepairLevel) -> Self {
        Self {
            text,
            repair_level,
            result: ScanResult::default(),
            object_count: 0,
            plain_list_count: 0,
            scanned_bytes: 0,
            prose_start: 0,
            line: ScanLine::default(),
            reasoning_end_count: 0,
            torn_in_reasoning: None,
        }
    }

    fn scan_text(&mut self) {
        let mut position = 0;
        while let Some(length) = self.text[position..].find(['{', '[', '<', '}', ']']) {
            let at = position + length;
            let end = match self.text.as_bytes()[at] {
                b'<' => self.skip_marker(at),
                b'{' => self.read_region(at),
                b'[' => match reply_markers::read_marker(self.text, at) {
                    Some(_) => self.skip_marker(at),
                    None => self.read_region(at),
                },
                _ => self.skip_stray_bracket(at),
            };
            if end > at + 1 {
                self.result.prose.push(TextSpan::new(self.prose_start, at));
                self.prose_start = end;
            }
            position = end;
            if self.object_count > MAX_CANDIDATES || self.is_exhausted() {
                return;
            }
        }
        self.result.prose.push(TextSpan::new(self.prose_start, self.text.len()));
    }

    fn is_exhausted(&self) -> bool {
        self.scanned_bytes > MAX_SCAN_PASSES * self.text.len() + MIN_SCAN_BYTES
    }

    /// Skips a closing bracket that has no opening one. After a string, a member or another such
    /// bracket it is the end of a torn object; directly after a candidate, or in prose, it is a
    /// slip.
    fn skip_stray_bracket(&mut self, at: usize) -> usize {
        let before = self.text[self.prose_start..at].trim_end();
        if before.ends_with(['"', '\'', '”', '}', ']']) || ends_with_member(before) {
            self.result.torn_bracket.get_or_insert(TextSpan::new(at, at + 1));
        }
        at + 1
    }

    /// Skips a whole reasoning block, a tag, or the bracket alone.
    fn skip_marker(&mut self, at: usize) -> usize {
        match reply_markers::read_marker(self.text, at) {
            Some(ReplyMarker::Reasoning { end }) => {
                // A closing mark after this block may be quoted, so it no longer counts as the only
                // one.
                self.reasoning_end_count += 1;
                self.result.reasoning.push(TextSpan::new(at, end));
                end
            }
            Some(ReplyMarker::ReasoningEnd { end }) => {
                let first = self.reasoning_end_count == 0;
                self.reasoning_end_count += 1;
                self.result.reasoning_end = first.then_some(end);
                // A torn object in the reasoning counts only if the text turns out not to be
                // reasoning.
                self.torn_in_reasoning = self.torn_in_reasoning.or(self.result.torn_bracket);
                self.result.torn_bracket = if first { None } else { self.torn_in_reasoning };
                end
            }
            Some(ReplyMarker::Tag(tag)) => {
                self.result.tags.push(tag);
                at + 1
            }
            None => at + 1,
        }
    }

    /// Reads the region that the bracket at `at` opens, and returns the offset at which to
    /// continue.
    fn read_region(&mut self, at: usize) -> usize {
        let object = self.text.as_bytes()[at] == b'{';
        let stop = match json::parse_json_prefix(self.text, at, self.repair_level) {
            Ok(reading) => {
                let end = reading.span.end;
                if object && continues_with_member(&self.text[end..]) {
                    self.result.torn_bracket.get_or_insert(TextSpan::new(end, end));
                }
                self.push_candidate(at, end, Ok(reading), false);
                return end;
            }
            Err(stop) => stop,
        };
        let looks_real = if object { self.begins_object(at) } else { begins_array(self.text, at) };
        let extent = find_extent(self.text, at);
        self.scanned_bytes += extent.unwrap_or(self.text.len()) - at;
        self.scanned_bytes += stop.span.start.saturating_sub(at);
        match extent {
            Some(end) if object || looks_real => {
                // `{name}` is a mention; with a colon inside it may still be an answer.
                if looks_real || self.text[at..end].contains(':') {
                    self.push_candidate(at, end, Err(stop), !looks_real);
                }
                end
            }
            // `[see below]` is prose; its content may still be an object.
            Some(_) => at + 1,
            None if !looks_real => at + 1,
            None => {
                let end = self.text.len();
                self.push_candidate(at, end, Err(stop), false);
                if let Some(last) = self.result.candidates.last_mut() {
                    last.is_unclosed = true;
                }
                end
            }
        }
    }

    fn push_candidate(
        &mut self,
        start: usize,
        end: usize,
        reading: Result<json::ParsedJson, JsonParseError>,
        prose: bool,
    ) {
        let plain_list = !self.text[start..end].contains('{');
        if plain_list && reading.is_ok() {
            self.plain_list_count += 1;
            if self.plain_list_count > MAX_PLAIN_LISTS {
                return;
            }
        } else {
            self.object_count += 1;
        }
        let mut found = build_candidate(self.text, TextSpan::new(start, end), reading);
        found.is_prose = prose;
        if let Ok(reading) = &mut found.reading {
            let mut around = Vec::new();
            if self.text.starts_with('\u{feff}') {
                around.push(Repair::new(RepairKind::ByteOrderMark, TextSpan::new(0, 3)));
            }
            if let Some(fence) = find_fence_before(self.text, start) {
                around.push(Repair::new(RepairKind::CodeFence, fence));
            }
            around.append(&mut reading.repairs);
            reading.repairs = around;
        }
        self.result.candidates.push(found);
    }

    /// Returns whether only white space precedes `at` on its line. Calls come in the order of the
    /// text, so every byte is examined once.
    fn begins_line(&mut self, at: usize) -> bool {
        let line = &mut self.line;
        if let Some(newline) = self.text[line.scanned_to..at].rfind('\n') {
            line.start = line.scanned_to + newline + 1;
            line.first_non_space = line.start;
        }
        line.scanned_to = at;
        if line.first_non_space < at {
            let rest = &self.text[line.first_non_space..at];
            line.first_non_space += rest.len() - rest.trim_start().len();
        }
        line.first_non_space == at
    }

    /// Returns whether a `{` that does not parse was meant as an object: a key follows, however
    /// damaged.
    fn begins_object(&mut self, at: usize) -> bool {
        let text = self.text;
        // A brace alone on its line was meant to open an object, even if nothing valid follows.
        let ends_line = text[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        if self.begins_line(at) && ends_line {
            return true;
        }
        // A doubled brace is more often a template than a slip; its content decides.
        let rest = text[at + 1..].trim_start_matches(|c: char| c == '{' || c.is_whitespace());
        match rest.chars().next() {
            None => true,
            Some('"' | '\'' | '“' | '”' | '‘' | '«' | '＂' | '}' | '[' | ',' | ':' | '/') => {
                true
            }
            Some(first) if first.is_alphanumeric() || first == '_' || first == '$' => {
                let end = rest
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
                    .unwrap_or(rest.len());
                rest[end..].is_empty()
                    || rest[end..].trim_start().starts_with([':', '"', '\'', '=', '”'])
            }
            Some(_) => false,
        }
    }
}

/// Returns whether a text ends with `key: value`, with the key in any quotes or none.
fn ends_with_member(text: &str) -> bool {
    let mut from = text.len().saturating_sub(TORN_WINDOW_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let line = text[from..].rsplit('\n').next().unwrap_or_default();
    let Some((key, value)) = line.rsplit_once(':') else { return false };
    let value = value.trim();
    let one_word = !value.is_empty() && !value.contains(char::is_whitespace);
    one_word && key.trim_end().ends_with(|c: char| c.is_alphanumeric() || is_quote(c))
}

/// Returns whether a text continues with `, key:` as an object does, with the key in any quotes or
/// none.
fn continues_with_member(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix(',') else { return false };
    let rest = rest.trim_start().trim_start_matches(|c: char| is_quote(c) || c == '\\');
    let name = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
        .unwrap_or(rest.len());
    let behind = rest[name..].trim_start_matches(|c: char| is_quote(c) || c == '\\');
    name > 0 && behind.trim_start().starts_with(':')
}

/// Returns whether the character is a quotation mark of any script.
pub(super) fn is_quote(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | '`'
            | '“'
            | '”'
            | '„'
            | '‟'
            | '‘'
            | '’'
            | '‚'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '「'
            | '」'
            | '『'
            | '』'
            | '＂'
            | '＇'
    )
}

/// Returns the end of the region that the bracket at `at` opens, ignoring brackets in double-quoted
/// strings. A closing bracket of the wrong kind closes nothing.
fn find_extent(text: &str, at: usize) -> Option<usize> {
    let mut open = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for (offset, byte) in text.as_bytes()[at..].iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => open.push(b'}'),
            b'[' if !in_string => open.push(b']'),
            b'}' | b']' if !in_string && open.last() == Some(byte) => {
                open.pop();
                if open.is_empty() {
                    return Some(at + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a `[` was meant as an array.
fn begins_array(text: &str, at: usize) -> bool {
    let rest = text[at + 1..].trim_start();
    rest.is_empty() || rest.starts_with(['{', '[', '"'])
}

/// Returns the opening fence whose line ends where the candidate begins.
fn find_fence_before(text: &str, start: usize) -> Option<TextSpan> {
    let before = text[..start].trim_end();
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let first = before[line..].trim_start();
    (first.starts_with("```") || first.starts_with("~~~"))
        .then(|| TextSpan::new(before.len() - first.len(), before.len()))
}
