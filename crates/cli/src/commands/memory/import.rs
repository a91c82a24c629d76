//! `countersign memory import`: lines of an export into a store, in bounded steps.
//!
//! A file is read a line at a time and taken in by batches: neither a long file nor a long line is ever
//! in memory as a whole. What was taken in before a fault stays; taking it in again changes nothing.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use countersign_core::limits::{
    MAX_IMPORT_BATCH_BYTES, MAX_IMPORT_FAULTS, MAX_IMPORT_LINE_BYTES, MAX_RECORDED_DEPTH,
};
use countersign_memory::Subject;
use countersign_memory::store::{Line, Provenance};
use serde_json::{Value, json};

use super::desk;
use crate::args::{ImportMemory, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, GOOD};
use crate::sized::sized;

pub(super) fn import(whose: &Whose, args: &ImportMemory, json: bool) -> Result<Exit, Error> {
    let now = desk::now(whose)?;
    let provenance = if args.ours { Provenance::Ours } else { Provenance::Foreign };
    let mut source = Source::open(&args.file)?;
    let mut report = Report { json, ..Report::default() };
    let mut batch = source.next_batch(whose, &mut report)?;
    if let (true, Some((line, said))) = (batch.lines.is_empty(), report.first_unread.take()) {
        return Err(Error::Usage(format!(
            "{}:{line}: {said}; `memory remember` reads simpler ones",
            source.name
        )));
    }
    // Read before a folder or a database is made for it.
    let memory = desk::open(whose)?;
    wait(async {
        while !batch.lines.is_empty() {
            let imported = memory.import(batch.lines, provenance, now).await?;
            report.kept += imported.kept;
            // The memory counts what it was given; people count the lines of their file.
            for (given, said) in imported.refused {
                let place = usize::try_from(given).ok().and_then(|given| given.checked_sub(1));
                let line = place.and_then(|place| batch.numbers.get(place)).copied();
                report.refuse(line.unwrap_or_default(), &said);
            }
            let (line, read) = (source.line, sized(source.bytes));
            output::passing(&format!("  line {line}, {read}: {} lines are here", report.kept));
            batch = source.next_batch(whose, &mut report)?;
        }
        output::passing("");
        Ok(report.end())
    })
}

/// Lines that are taken in at once, with their numbers in the file.
#[derive(Default)]
struct Batch {
    numbers: Vec<u64>,
    lines: Vec<Line>,
}

/// What came of it so far.
#[derive(Default)]
struct Report {
    json: bool,
    kept: u64,
    refused: u64,
    /// The first ones, for programs.
    named: Vec<Value>,
    /// The first line that is none of an export, while no other was found.
    first_unread: Option<(u64, String)>,
}

impl Report {
    fn refuse(&mut self, line: u64, said: &str) {
        self.refused += 1;
        if self.refused > MAX_IMPORT_FAULTS {
            return;
        }
        if self.json {
            self.named.push(json!({ "line": line, "message": said }));
        } else {
            output::passing("");
            output::talk(&format!("{BAD}refused{BAD:#} line {line}: {said}"));
        }
    }

    fn end(self) -> Exit {
        let more = self.refused.saturating_sub(MAX_IMPORT_FAULTS);
        if self.json {
            let mut told = json!({ "kept": self.kept, "refused": self.named });
            if more > 0 {
                told["refused_more"] = more.into();
            }
            output::json(&told);
        } else {
            if more > 0 {
                output::talk(&format!("{BAD}refused{BAD:#} … and {more} more lines"));
            }
            let lines = if self.kept == 1 { "line is" } else { "lines are" };
            output::talk(&format!("{GOOD}{} {lines} here now{GOOD:#}", self.kept));
        }
        if self.refused == 0 { Exit::Good } else { Exit::Refused }
    }
}

/// A file of lines, or standard input.
struct Source {
    name: String,
    reader: Box<dyn BufRead>,
    /// The number of the last line that was read.
    line: u64,
    /// How many bytes were read.
    bytes: u64,
    /// Whether a line of an export was found.
    is_export: bool,
}

/// A line as it stands in a file.
enum Raw {
    Text(Vec<u8>),
    /// Longer than a line may be; it was passed over.
    TooLong,
    End,
}

impl Source {
    fn open(file: &Path) -> Result<Self, Error> {
        let (name, reader): (String, Box<dyn BufRead>) = if file.as_os_str() == "-" {
            ("<stdin>".to_owned(), Box::new(BufReader::new(std::io::stdin())))
        } else {
            let what = file.display().to_string();
            let opened = File::open(file);
            let opened =
                opened.map_err(|source| Error::Unreadable { what: format!("`{what}`"), source })?;
            (what, Box::new(BufReader::with_capacity(1 << 16, opened)))
        };
        Ok(Self { name, reader, line: 0, bytes: 0, is_export: false })
    }

    /// The next lines that can be taken in. What cannot is told at once. Nothing at the end of the file, and where
    /// it begins with nothing but lines that are none of an export.
    fn next_batch(&mut self, whose: &Whose, report: &mut Report) -> Result<Batch, Error> {
        let (mut batch, mut bytes) = (Batch::default(), 0);
        let mut unread: Vec<(u64, String)> = Vec::new();
        while bytes < MAX_IMPORT_BATCH_BYTES && unread.len() as u64 <= MAX_IMPORT_FAULTS {
            let text = match self.next_line()? {
                Raw::End => break,
                Raw::TooLong => Err(format!(
                    "it is longer than {}; expected a line of `memory export`",
                    sized(MAX_IMPORT_LINE_BYTES as u64)
                )),
                Raw::Text(text) if text.trim_ascii().is_empty() => continue,
                Raw::Text(text) => {
                    bytes += text.len();
                    read(&text)
                }
            };
            match text {
                Ok(line) => {
                    self.is_export = true;
                    unread.drain(..).for_each(|(line, said)| report.refuse(line, &said));
                    match refusal(whose, &line.subject) {
                        None => {
                            batch.numbers.push(self.line);
                            batch.lines.push(line);
                        }
                        Some(said) => report.refuse(self.line, &said),
                    }
                }
                Err(said) if self.is_export => report.refuse(self.line, &said),
                Err(said) => unread.push((self.line, said)),
            }
        }
        report.first_unread = unread.into_iter().next();
        Ok(batch)
    }

    fn next_line(&mut self) -> Result<Raw, Error> {
        let (mut text, mut too_long, mut any) = (Vec::new(), false, false);
        loop {
            let unreadable = |source| Error::Unreadable { what: self.name.clone(), source };
            let chunk = self.reader.fill_buf().map_err(unreadable)?;
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(chunk.len(), |end| end + 1);
            let piece = &chunk[..end.unwrap_or(used)];
            too_long |= text.len() + piece.len() > MAX_IMPORT_LINE_BYTES;
            if too_long {
                text = Vec::new();
            } else {
                text.extend_from_slice(piece);
            }
            self.bytes += used as u64;
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(Raw::End);
        }
        self.line += 1;
        Ok(if too_long { Raw::TooLong } else { Raw::Text(text) })
    }
}

fn read(text: &[u8]) -> Result<Line, String> {
    if depth(text) > MAX_RECORDED_DEPTH {
        return Err(format!(
            "it is nested more than {MAX_RECORDED_DEPTH} deep; expected a line of `memory export`"
        ));
    }
    serde_json::from_slice(text).map_err(|error| format!("no line of an export: {error}"))
}

/// How deep arrays and objects are nested in a JSON text.
fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Why a line does not belong to whoever the flags name: the tenant always counts, a user and an agent where they are
/// said.
fn refusal(whose: &Whose, subject: &Subject) -> Option<String> {
    let named = |flag: &Option<String>, name: &str| flag.as_deref().is_none_or(|flag| flag == name);
    let Subject { tenant, user, agent } = subject;
    let is_meant =
        *tenant == whose.tenant && named(&whose.user, user) && named(&whose.agent, agent);
    (!is_meant).then(|| {
        format!("it is of user `{user}` with agent `{agent}` of tenant `{tenant}`, and that is not who is named here")
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn a_long_line_is_passed_over_and_the_next_one_is_read() {
        let mut text = vec![b'x'; 3 * MAX_IMPORT_LINE_BYTES];
        text.extend_from_slice(b"\nshort\n\nlast");
        let reader = Box::new(BufReader::with_capacity(100, Cursor::new(text)));
        let name = String::new();
        let mut source = Source { name, reader, line: 0, bytes: 0, is_export: false };
        assert!(matches!(source.next_line().unwrap(), Raw::TooLong));
        let mut rest = Vec::new();
        while let Raw::Text(text) = source.next_line().unwrap() {
            rest.push((source.line, String::from_utf8(text).unwrap()));
        }
        let expected = [(2, "short"), (3, ""), (4, "last")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(rest, expected);
    }

    #[test]
    fn depth_is_counted_outside_of_texts() {
        assert_eq!(depth(br#"{"a[[\"[[": [1, {"b": []}]}"#), 4);
        assert_eq!(depth(b"]]}} 1"), 0);
    }
}
