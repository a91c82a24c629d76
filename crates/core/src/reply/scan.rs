//! Finds objects inside prose: one pass, strings and nesting known, nothing chosen.
//!
//! Only outermost stretches are candidates. A stretch that does not read as JSON is passed over
//! whole, so that no piece of a broken object is ever taken for the object. Reasoning blocks are
//! passed over too. What lies outside all of these is given along: pieces of an answer there mean
//! that the answer was torn.

use crate::json::{self, Repair, RepairKind, RepairLevel, Span, Stop};

use super::intake::{Candidate, candidate};
use super::violation::{Code, Violation};

/// How many candidates are looked at.
const MAX_CANDIDATES: usize = 64;

/// How many times over the text may be looked at. A bracket of prose that opens nothing costs a
/// look at what follows it; hostile text is made of them.
const MAX_LOOKS: usize = 8;

const REASONING: [&str; 5] = ["think", "thinking", "reasoning", "reflection", "scratchpad"];

/// Every candidate of a text with prose in it, in the order of the text, and the prose.
pub(super) fn candidates(text: &str, level: RepairLevel) -> Result<Found, Box<Violation>> {
    // White space behind a reply that was cut off is no part of its last string.
    let text = text.trim_end();
    let found = Found::default();
    let mut scan = Scan { text, level, found, objects: 0, looked: 0, outside: 0 };
    scan.run();
    if scan.objects > MAX_CANDIDATES {
        let expected = format!("at most {MAX_CANDIDATES} objects to choose from");
        let found = format!("{} or more", scan.objects);
        return Err(Box::new(Violation::new(Code::TooManyCandidates, "", expected, found)));
    }
    if scan.found.candidates.is_empty() {
        return Err(Box::new(none(text)));
    }
    Ok(scan.found)
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
}

struct Scan<'t> {
    text: &'t str,
    level: RepairLevel,
    found: Found,
    /// How many of the candidates are more than brackets of prose.
    objects: usize,
    looked: usize,
    /// Where the prose begins that is being passed.
    outside: usize,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut position = 0;
        while let Some(length) = self.text[position..].find(['{', '[', '<', '}', ']']) {
            let at = position + length;
            let end = match self.text.as_bytes()[at] {
                b'<' => self.past_reasoning(at),
                b'{' | b'[' => self.region(at),
                _ => self.stray(at),
            };
            if end > at + 1 {
                self.found.prose.push(Span::new(self.outside, at));
                self.outside = end;
            }
            position = end;
            if self.objects > MAX_CANDIDATES {
                return;
            }
        }
        self.found.prose.push(Span::new(self.outside, self.text.len()));
    }

    /// A closing bracket that nothing opened. After a string or another such bracket it is the
    /// end of something torn; right behind a candidate, or in prose, it is a slip.
    fn stray(&mut self, at: usize) -> usize {
        let before = self.text[self.outside..at].trim_end();
        if before.ends_with(['"', '\'', '”', '}', ']']) {
            self.found.torn.get_or_insert(Span::new(at, at + 1));
        }
        at + 1
    }

    /// Past a whole reasoning block, or past the `<`.
    fn past_reasoning(&self, at: usize) -> usize {
        let rest = &self.text[at + 1..];
        let name_end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let name = rest[..name_end].to_ascii_lowercase();
        if !REASONING.contains(&name.as_str()) || !rest[name_end..].starts_with(['>', ' ']) {
            return at + 1;
        }
        let mut search = at + 1;
        while let Some(length) = self.text[search..].find("</") {
            let start = search + length + 2;
            let closing = self.text.get(start..start + name.len());
            if closing.is_some_and(|closing| closing.eq_ignore_ascii_case(&name)) {
                return start + name.len();
            }
            search = start;
        }
        self.text.len()
    }

    /// Takes in the stretch that the bracket at `at` opens; gives where to go on.
    fn region(&mut self, at: usize) -> usize {
        let reading = json::read_prefix(self.text, at, self.level);
        let object = self.text.as_bytes()[at] == b'{';
        let stop = match reading {
            Ok(reading) => {
                let end = reading.span.end;
                self.take(at, end, Ok(reading), false);
                return end;
            }
            Err(stop) => stop,
        };
        let looks_real =
            if object { begins_object(self.text, at) } else { begins_array(self.text, at) };
        let extent = extent(self.text, at);
        self.looked += extent.unwrap_or(self.text.len()) - at;
        self.looked += stop.span.start.saturating_sub(at);
        let tired = self.looked > MAX_LOOKS * self.text.len();
        match extent {
            Some(end) if object || looks_real || tired => {
                self.take(at, end, Err(stop), !looks_real);
                end
            }
            // `[see below]` is prose; what stands inside may still be an object.
            Some(_) => at + 1,
            None if !looks_real && !tired => at + 1,
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
        let mut found = candidate(self.text, Span::new(start, end), reading);
        found.prose = prose;
        self.objects += usize::from(!prose);
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

/// Whether a `{` that nothing closes was meant as an object: a key follows, however mangled.
fn begins_object(text: &str, at: usize) -> bool {
    // A brace alone on its line was meant to open something, even if nothing came of it.
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let alone = text[line..at].trim().is_empty()
        && text[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    if alone {
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
