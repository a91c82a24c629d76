//! Finds objects inside prose: one pass, strings and nesting known, nothing chosen.
//!
//! Only outermost stretches are candidates. A stretch that does not read as JSON is passed over
//! whole, so that no piece of a broken object is ever taken for the object. Reasoning blocks are
//! passed over too. What lies outside all of these is given along: pieces of an answer there mean
//! that the answer was torn. Work is bounded: a text of nothing but brackets is refused.

use crate::json::{self, Repair, RepairKind, RepairLevel, Span, Stop};
use crate::limits::{MAX_CANDIDATES, MAX_SCAN_PASSES, MIN_SCAN_BYTES};

use super::intake::{Candidate, candidate};
use super::marks::{self, Mark, Tag};
use super::violation::{Code, Violation};
use super::wrapper;

/// Lists of plain values that are kept as candidates, for the sake of the message: a citation such
/// as `[3]` is never the reply.
const MOST_PLAIN_LISTS: usize = 8;

/// How far back the end of something torn is looked for.
const TORN_WINDOW: usize = 128;

/// Every candidate of a text with prose in it, in the order of the text, and the prose.
pub(super) fn candidates(text: &str, level: RepairLevel) -> Result<Found, Box<Violation>> {
    // White space behind a reply that was cut off is no part of its last string.
    let text = text.trim_end();
    if let Some(held) = wrapper::find_held_object(text, level) {
        return Ok(Found { candidates: vec![held], ..Found::default() });
    }
    let mut scan = Scan::new(text, level);
    scan.run();
    if scan.objects > MAX_CANDIDATES {
        let expected = format!("at most {MAX_CANDIDATES} objects to choose from");
        let found = format!("{} or more", scan.objects);
        return Err(Box::new(Violation::new(Code::TooManyCandidates, "", expected, found)));
    }
    if scan.is_exhausted() {
        let expected = "one object, and few brackets around it";
        let found = "more brackets than can be looked at";
        return Err(Box::new(
            Violation::new(Code::TooManyCandidates, "", expected, found)
                .hinting("send the object alone"),
        ));
    }
    let mut found = scan.found;
    if found.candidates.is_empty() {
        return Err(Box::new(none(text)));
    }
    found.others = found.candidates.iter().map(|candidate| candidate.span).collect();
    Ok(found)
}

/// That there is no object at all.
pub(super) fn none(text: &str) -> Violation {
    let found = if text.trim().is_empty() { "nothing" } else { "only text" };
    Violation::new(Code::NoJson, "", "a JSON object", found)
}

/// What a scan finds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The candidates.
    pub(super) candidates: Vec<Candidate>,
    /// The stretches between them.
    pub(super) prose: Vec<Span>,
    /// A bracket in the prose that closes something torn.
    pub(super) torn: Option<Span>,
    /// The tags of the prose, in the order of the text.
    pub(super) tags: Vec<Tag>,
    /// The reasoning blocks that were passed over.
    pub(super) reasoning: Vec<Span>,
    /// Where the candidates stand, for whoever has taken them out.
    pub(super) others: Vec<Span>,
    /// The end of the one closing mark that no opening mark precedes: what stands before it is
    /// reasoning, unless it stands there as a reply would.
    pub(super) reasoned: Option<usize>,
}

struct Scan<'t> {
    text: &'t str,
    level: RepairLevel,
    found: Found,
    /// How many of the candidates could be the reply, or an attempt at it.
    objects: usize,
    /// How many candidates are lists of plain values.
    plain_lists: usize,
    /// Bytes that were looked at for a bracket that opened nothing.
    looked: usize,
    /// Where the prose begins that is being passed.
    outside: usize,
    line: Line,
    reasoning_ends: usize,
    torn_in_reasoning: Option<Span>,
}

/// The line that the scan is in.
#[derive(Default)]
struct Line {
    start: usize,
    /// Its first character that is no white space.
    text: usize,
    /// How far line breaks have been looked for.
    seen: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, level: RepairLevel) -> Self {
        Self {
            text,
            level,
            found: Found::default(),
            objects: 0,
            plain_lists: 0,
            looked: 0,
            outside: 0,
            line: Line::default(),
            reasoning_ends: 0,
            torn_in_reasoning: None,
        }
    }

    fn run(&mut self) {
        let mut position = 0;
        while let Some(length) = self.text[position..].find(['{', '[', '<', '}', ']']) {
            let at = position + length;
            let end = match self.text.as_bytes()[at] {
                b'<' => self.mark(at),
                b'{' => self.region(at),
                b'[' => match marks::read_mark(self.text, at) {
                    Some(_) => self.mark(at),
                    None => self.region(at),
                },
                _ => self.stray(at),
            };
            if end > at + 1 {
                self.found.prose.push(Span::new(self.outside, at));
                self.outside = end;
            }
            position = end;
            if self.objects > MAX_CANDIDATES || self.is_exhausted() {
                return;
            }
        }
        self.found.prose.push(Span::new(self.outside, self.text.len()));
    }

    fn is_exhausted(&self) -> bool {
        self.looked > MAX_SCAN_PASSES * self.text.len() + MIN_SCAN_BYTES
    }

    /// A closing bracket that nothing opened. After a string, a member or another such bracket it
    /// is the end of something torn; right behind a candidate, or in prose, it is a slip.
    fn stray(&mut self, at: usize) -> usize {
        let before = self.text[self.outside..at].trim_end();
        if before.ends_with(['"', '\'', '”', '}', ']']) || ends_with_member(before) {
            self.found.torn.get_or_insert(Span::new(at, at + 1));
        }
        at + 1
    }

    /// Past a whole reasoning block, past a tag, or past the bracket.
    fn mark(&mut self, at: usize) -> usize {
        match marks::read_mark(self.text, at) {
            Some(Mark::Reasoning { end }) => {
                // A closing mark after this one may have been quoted.
                self.reasoning_ends += 1;
                self.found.reasoning.push(Span::new(at, end));
                end
            }
            Some(Mark::ReasoningEnd { end }) => {
                let first = self.reasoning_ends == 0;
                self.reasoning_ends += 1;
                self.found.reasoned = first.then_some(end);
                // What was torn in the reasoning counts only if it turns out to be none.
                self.torn_in_reasoning = self.torn_in_reasoning.or(self.found.torn);
                self.found.torn = if first { None } else { self.torn_in_reasoning };
                end
            }
            Some(Mark::Tag(tag)) => {
                self.found.tags.push(tag);
                at + 1
            }
            None => at + 1,
        }
    }

    /// Takes in the stretch that the bracket at `at` opens; gives where to go on.
    fn region(&mut self, at: usize) -> usize {
        let object = self.text.as_bytes()[at] == b'{';
        let stop = match json::read_prefix(self.text, at, self.level) {
            Ok(reading) => {
                let end = reading.span.end;
                if object && goes_on_with_member(&self.text[end..]) {
                    self.found.torn.get_or_insert(Span::new(end, end));
                }
                self.take(at, end, Ok(reading), false);
                return end;
            }
            Err(stop) => stop,
        };
        let looks_real = if object { self.begins_object(at) } else { begins_array(self.text, at) };
        let extent = extent(self.text, at);
        self.looked += extent.unwrap_or(self.text.len()) - at;
        self.looked += stop.span.start.saturating_sub(at);
        match extent {
            Some(end) if object || looks_real => {
                // `{name}` is a mention; with a colon inside it may be an answer all the same.
                if looks_real || self.text[at..end].contains(':') {
                    self.take(at, end, Err(stop), !looks_real);
                }
                end
            }
            // `[see below]` is prose; what stands inside may still be an object.
            Some(_) => at + 1,
            None if !looks_real => at + 1,
            None => {
                let end = self.text.len();
                self.take(at, end, Err(stop), false);
                if let Some(last) = self.found.candidates.last_mut() {
                    last.unclosed = true;
                }
                end
            }
        }
    }

    fn take(
        &mut self,
        start: usize,
        end: usize,
        reading: Result<json::Reading, Stop>,
        prose: bool,
    ) {
        let plain_list = !self.text[start..end].contains('{');
        if plain_list && reading.is_ok() {
            self.plain_lists += 1;
            if self.plain_lists > MOST_PLAIN_LISTS {
                return;
            }
        } else {
            self.objects += 1;
        }
        let mut found = candidate(self.text, Span::new(start, end), reading);
        found.prose = prose;
        if let Ok(reading) = &mut found.reading {
            let mut around = Vec::new();
            if self.text.starts_with('\u{feff}') {
                around.push(Repair::new(RepairKind::ByteOrderMark, Span::new(0, 3)));
            }
            if let Some(fence) = fence_before(self.text, start) {
                around.push(Repair::new(RepairKind::CodeFence, fence));
            }
            around.append(&mut reading.repairs);
            reading.repairs = around;
        }
        self.found.candidates.push(found);
    }

    /// Whether only white space stands before `at` on its line. Places are asked for in the order
    /// of the text, so every byte is looked at once.
    fn begins_line(&mut self, at: usize) -> bool {
        let line = &mut self.line;
        if let Some(newline) = self.text[line.seen..at].rfind('\n') {
            line.start = line.seen + newline + 1;
            line.text = line.start;
        }
        line.seen = at;
        if line.text < at {
            let rest = &self.text[line.text..at];
            line.text += rest.len() - rest.trim_start().len();
        }
        line.text == at
    }

    /// Whether a `{` that does not read was meant as an object: a key follows, however mangled.
    fn begins_object(&mut self, at: usize) -> bool {
        let text = self.text;
        // A brace alone on its line was meant to open something, even if nothing came of it.
        let ends_line = text[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        if self.begins_line(at) && ends_line {
            return true;
        }
        // A doubled brace is a template's more often than a slip; what it encloses decides.
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

/// Whether a text ends with `key: value`, the key in quotes of any kind or in none.
fn ends_with_member(text: &str) -> bool {
    let mut from = text.len().saturating_sub(TORN_WINDOW);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let line = text[from..].rsplit('\n').next().unwrap_or_default();
    let Some((key, value)) = line.rsplit_once(':') else { return false };
    let value = value.trim();
    let one_word = !value.is_empty() && !value.contains(char::is_whitespace);
    one_word && key.trim_end().ends_with(|c: char| c.is_alphanumeric() || is_quote(c))
}

/// Whether a text goes on with `, key:` as an object does, the key in quotes of any kind or in none.
fn goes_on_with_member(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix(',') else { return false };
    let rest = rest.trim_start().trim_start_matches(|c: char| is_quote(c) || c == '\\');
    let name = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
        .unwrap_or(rest.len());
    let behind = rest[name..].trim_start_matches(|c: char| is_quote(c) || c == '\\');
    name > 0 && behind.trim_start().starts_with(':')
}

/// A quotation mark of any script.
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

/// Where the bracket at `at` is closed by one of its own kind, strings in double quotes left out.
/// A closing bracket of the wrong kind closes nothing.
fn extent(text: &str, at: usize) -> Option<usize> {
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

/// Whether a `[` was meant as an array.
fn begins_array(text: &str, at: usize) -> bool {
    let rest = text[at + 1..].trim_start();
    rest.is_empty() || rest.starts_with(['{', '[', '"'])
}

/// The opening fence whose line ends where the candidate begins.
fn fence_before(text: &str, start: usize) -> Option<Span> {
    let before = text[..start].trim_end();
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let first = before[line..].trim_start();
    (first.starts_with("```") || first.starts_with("~~~"))
        .then(|| Span::new(before.len() - first.len(), before.len()))
}
