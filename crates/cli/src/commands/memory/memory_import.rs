//! `countersign memory import`: imports the lines of an export in bounded steps.
//!
//! The command reads one line at a time and imports in batches, so that neither a long file nor a
//! long line is in memory as a whole. Lines imported before an error stay; importing them again
//! changes nothing.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use countersign_contract::limits::{
    MAX_IMPORT_BATCH_BYTES, MAX_IMPORT_ERRORS, MAX_IMPORT_LINE_BYTES, MAX_RECORDED_DEPTH,
};
use countersign_memory::MemorySubject;
use countersign_memory::store::{ImportTrust, MemoryExportLine};
use serde_json::{Value, json};

use super::open_memory;
use crate::args::{MemoryImportArgs, ScopeArgs};
use crate::byte_format::format_bytes;
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD};

pub(super) fn import_memory(
    whose: &ScopeArgs,
    args: &MemoryImportArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let now = open_memory::resolve_now(whose)?;
    let provenance = if args.trusted { ImportTrust::OwnExport } else { ImportTrust::Foreign };
    let mut source = ImportSource::open(&args.file)?;
    let mut report = ImportReport { json, ..ImportReport::default() };
    let mut batch = source.next_batch(whose, &mut report)?;
    if let (true, Some((line, said))) = (batch.lines.is_empty(), report.first_unparsed.take()) {
        return Err(CliError::Usage(format!(
            "{}:{line}: {said}; `memory remember` reads simpler lines",
            source.name
        )));
    }
    // Read the first batch before creating a folder or a database for it.
    let memory = open_memory::open_or_create(whose)?;
    block_on(async {
        while !batch.lines.is_empty() {
            let imported = memory.import(batch.lines, provenance, now).await?;
            report.kept += imported.accepted;
            // The memory numbers the lines of the batch; the report uses the line numbers of the
            // file.
            for (batch_line, said) in imported.refused {
                let index = usize::try_from(batch_line)
                    .ok()
                    .and_then(|batch_line| batch_line.checked_sub(1));
                let line = index.and_then(|index| batch.numbers.get(index)).copied();
                report.record_refusal(line.unwrap_or_default(), &said);
            }
            let (line, read) = (source.line, format_bytes(source.bytes));
            output::print_transient(&format!(
                "  line {line}, {read}: {} lines imported",
                report.kept
            ));
            batch = source.next_batch(whose, &mut report)?;
        }
        output::print_transient("");
        Ok(report.finish())
    })
}

/// Lines to import together, with their line numbers in the file.
#[derive(Default)]
struct ImportBatch {
    numbers: Vec<u64>,
    lines: Vec<MemoryExportLine>,
}

/// The results of the import so far.
#[derive(Default)]
struct ImportReport {
    json: bool,
    kept: u64,
    refused: u64,
    /// The first refused lines, for JSON output.
    refused_lines: Vec<Value>,
    /// The first line that is not an export line, as long as no export line was found.
    first_unparsed: Option<(u64, String)>,
}

impl ImportReport {
    fn record_refusal(&mut self, line: u64, said: &str) {
        self.refused += 1;
        if self.refused > MAX_IMPORT_ERRORS {
            return;
        }
        if self.json {
            self.refused_lines.push(json!({ "line": line, "message": said }));
        } else {
            output::print_transient("");
            output::print_message(&format!("{BAD}refused{BAD:#} line {line}: {said}"));
        }
    }

    fn finish(self) -> CliExit {
        let more = self.refused.saturating_sub(MAX_IMPORT_ERRORS);
        if self.json {
            let mut report = json!({ "saved": self.kept, "refused": self.refused_lines });
            if more > 0 {
                report["more_refused"] = more.into();
            }
            output::print_json(&report);
        } else {
            if more > 0 {
                output::print_message(&format!("{BAD}refused{BAD:#} … and {more} more lines"));
            }
            let lines = if self.kept == 1 { "line" } else { "lines" };
            output::print_message(&format!("{GOOD}{} {lines} imported{GOOD:#}", self.kept));
        }
        if self.refused == 0 { CliExit::Success } else { CliExit::Refused }
    }
}

/// The file or standard input that lines are read from.
struct ImportSource {
    name: String,
    reader: Box<dyn BufRead>,
    /// The number of the last line read.
    line: u64,
    /// The number of bytes read.
    bytes: u64,
    /// Whether an export line was found.
    is_export: bool,
}

/// One raw line of the file.
enum ImportLine {
    Text(Vec<u8>),
    /// A line that exceeds the length limit and was skipped.
    TooLong,
    End,
}

impl ImportSource {
    fn open(file: &Path) -> Result<Self, CliError> {
        let (name, reader): (String, Box<dyn BufRead>) = if file.as_os_str() == "-" {
            ("<stdin>".to_owned(), Box::new(BufReader::new(std::io::stdin())))
        } else {
            let what = file.display().to_string();
            let opened = File::open(file);
            let opened = opened
                .map_err(|source| CliError::Unreadable { what: format!("`{what}`"), source })?;
            (what, Box::new(BufReader::with_capacity(1 << 16, opened)))
        };
        Ok(Self { name, reader, line: 0, bytes: 0, is_export: false })
    }

    /// Reads the next batch of valid lines and reports invalid ones immediately. The batch is empty
    /// at the end of the file, or if the file starts with only lines that are not export lines.
    fn next_batch(
        &mut self,
        whose: &ScopeArgs,
        report: &mut ImportReport,
    ) -> Result<ImportBatch, CliError> {
        let (mut batch, mut bytes) = (ImportBatch::default(), 0);
        let mut unread: Vec<(u64, String)> = Vec::new();
        while bytes < MAX_IMPORT_BATCH_BYTES && unread.len() as u64 <= MAX_IMPORT_ERRORS {
            let text = match self.next_line()? {
                ImportLine::End => break,
                ImportLine::TooLong => Err(format!(
                    "the line is longer than {}; expected a line of `memory export`",
                    format_bytes(MAX_IMPORT_LINE_BYTES as u64)
                )),
                ImportLine::Text(text) if text.trim_ascii().is_empty() => continue,
                ImportLine::Text(text) => {
                    bytes += text.len();
                    parse_line(&text)
                }
            };
            match text {
                Ok(line) => {
                    self.is_export = true;
                    unread.drain(..).for_each(|(line, said)| report.record_refusal(line, &said));
                    match check_subject(whose, &line.subject) {
                        None => {
                            batch.numbers.push(self.line);
                            batch.lines.push(line);
                        }
                        Some(said) => report.record_refusal(self.line, &said),
                    }
                }
                Err(said) if self.is_export => report.record_refusal(self.line, &said),
                Err(said) => unread.push((self.line, said)),
            }
        }
        report.first_unparsed = unread.into_iter().next();
        Ok(batch)
    }

    fn next_line(&mut self) -> Result<ImportLine, CliError> {
        let (mut text, mut too_long, mut any) = (Vec::new(), false, false);
        loop {
            let unreadable = |source| CliError::Unreadable { what: self.name.clone(), source };
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
            return Ok(ImportLine::End);
        }
        self.line += 1;
        Ok(if too_long { ImportLine::TooLong } else { ImportLine::Text(text) })
    }
}

fn parse_line(text: &[u8]) -> Result<MemoryExportLine, String> {
    if nesting_depth(text) > MAX_RECORDED_DEPTH {
        return Err(format!(
            "the line is nested more than {MAX_RECORDED_DEPTH} levels deep; expected a line of `memory export`"
        ));
    }
    serde_json::from_slice(text).map_err(|error| format!("not a line of an export: {error}"))
}

/// Returns the nesting depth of arrays and objects in a JSON text.
fn nesting_depth(text: &[u8]) -> usize {
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

/// Returns why a line does not match the flags. The tenant must always match, user and agent only
/// if given.
fn check_subject(whose: &ScopeArgs, subject: &MemorySubject) -> Option<String> {
    let named = |flag: &Option<String>, name: &str| flag.as_deref().is_none_or(|flag| flag == name);
    let MemorySubject { tenant, user, agent } = subject;
    let is_meant =
        *tenant == whose.tenant && named(&whose.user, user) && named(&whose.agent, agent);
    (!is_meant).then(|| {
        format!("the line belongs to user `{user}` with agent `{agent}` of tenant `{tenant}`, which differs from the flags")
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
        let mut source = ImportSource { name, reader, line: 0, bytes: 0, is_export: false };
        assert!(matches!(source.next_line().unwrap(), ImportLine::TooLong));
        let mut rest = Vec::new();
        while let ImportLine::Text(text) = source.next_line().unwrap() {
            rest.push((source.line, String::from_utf8(text).unwrap()));
        }
        let expected = [(2, "short"), (3, ""), (4, "last")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(rest, expected);
    }

    #[test]
    fn depth_is_counted_outside_of_texts() {
        assert_eq!(nesting_depth(br#"{"a[[\"[[": [1, {"b": []}]}"#), 4);
        assert_eq!(nesting_depth(b"]]}} 1"), 0);
    }
}
