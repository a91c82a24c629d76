//! The part of a document's text that a tool call asks for: a page, a sheet, some lines.
//!
//! Lines are counted from 1. A line of more than 4,000 characters counts as several, so that every
//! text can be read to its end, whatever the limit of one answer is.

use countersign_contract::reply::{Violation, ViolationCode};
use countersign_documents::{DocumentPart, DocumentPartKind, DocumentText};

/// Length from which a line counts as several, in characters.
const LONG_LINE_CHARS: usize = 4_000;

/// Names of sheets and attachments that a header or a hint lists.
const MAX_LISTED_PARTS: usize = 20;

/// What a call asks for. Absent values mean the whole document.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadArguments<'a> {
    pub(crate) page: Option<u64>,
    pub(crate) sheet: Option<&'a str>,
    pub(crate) offset: Option<u64>,
    pub(crate) limit: Option<u64>,
}

/// The part of a text that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentWindow {
    /// The text, with a header for a document and a footer if something is left out.
    pub(crate) text: String,
    /// Size of the text that the lines were taken from, in bytes.
    pub(crate) bytes: u64,
    /// Whether lines of it are left out.
    pub(crate) truncated: bool,
}

/// Selects what a call asks for, at most `most` bytes of text.
///
/// # Errors
/// An argument does not fit the document.
pub(crate) fn select_window(
    document: &DocumentText,
    arguments: ReadArguments<'_>,
    most: usize,
) -> Result<DocumentWindow, Box<Violation>> {
    let selected = select_part(document, arguments)?;
    let (view, shown_part) = match selected {
        Some(index) => (document.parts[index].text.clone(), Some(index)),
        None => (join_parts(document), None),
    };
    let lines = split_lines(&view);
    let first = arguments.offset.unwrap_or(1);
    let is_beyond = first > lines.len() as u64 && first > 1;
    if first == 0 || is_beyond {
        let expected = match lines.len() {
            0 | 1 => "1, because the text has one line".to_owned(),
            count => format!("a line from 1 to {count}"),
        };
        let hint = "`offset` is the number of the first line to read; leave it out to begin with the first";
        let code = if first == 0 { ViolationCode::Minimum } else { ViolationCode::Maximum };
        return Err(refuse_argument(code, "/offset", expected, first.to_string(), hint));
    }
    if arguments.limit == Some(0) {
        let hint = "`limit` is the number of lines to read; leave it out to read as many as fit";
        let (code, expected) = (ViolationCode::Minimum, "at least 1 line".to_owned());
        return Err(refuse_argument(code, "/limit", expected, "0".to_owned(), hint));
    }
    let start = (first - 1) as usize;
    let wanted =
        arguments.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (mut text, mut shown) = (String::new(), 0);
    for line in lines.iter().skip(start).take(wanted) {
        if text.len() + line.len() > most && shown > 0 {
            break;
        }
        text.push_str(line);
        shown += 1;
    }
    let (end, total) = (start + shown, lines.len());
    let truncated = start > 0 || end < total;
    let header = describe_document(document, shown_part);
    let mut text = if header.is_empty() { text } else { format!("{header}\n{text}") };
    if truncated {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("… lines {first} to {end} of {total} are shown"));
        if end < total {
            text.push_str(&format!("; continue with \"offset\": {}", end + 1));
        }
    }
    Ok(DocumentWindow { text, bytes: view.len() as u64, truncated })
}

/// Returns the index of the part that a call asks for; `None` for the whole document.
fn select_part(
    document: &DocumentText,
    arguments: ReadArguments<'_>,
) -> Result<Option<usize>, Box<Violation>> {
    let parts = &document.parts;
    let has_sheets = parts.iter().any(|part| part.kind == DocumentPartKind::Sheet);
    if let Some(name) = arguments.sheet {
        let what = document.format.describe();
        if !has_sheets {
            let found = format!("`{name}`, but the file is {what}");
            let hint = "only Excel workbooks have sheets; leave `sheet` out";
            let (code, expected) = (ViolationCode::UnknownField, "no sheet".to_owned());
            return Err(refuse_argument(code, "/sheet", expected, found, hint));
        }
        let folded = name.trim().to_lowercase();
        let named = parts.iter().position(|part| part.name == name);
        let named = named
            .or_else(|| parts.iter().position(|part| part.name.trim().to_lowercase() == folded));
        let Some(index) = named else {
            let expected = format!("one of {}", list_names(parts));
            let hint = "sheets are named as in the program; `page` counts them from 1";
            let (code, found) = (ViolationCode::Enum, format!("`{name}`"));
            return Err(refuse_argument(code, "/sheet", expected, found, hint));
        };
        return Ok(Some(index));
    }
    let Some(page) = arguments.page else { return Ok(None) };
    let index = usize::try_from(page).ok().and_then(|page| page.checked_sub(1));
    match index.filter(|index| *index < parts.len()) {
        Some(index) => Ok(Some(index)),
        None => {
            let count = parts.len();
            let what = describe_parts(parts);
            let expected = if count == 1 { "1".to_owned() } else { format!("1 to {count}") };
            let hint = format!(
                "the file has {what}; to read a long text in steps, use `offset` and `limit`"
            );
            let code = if page == 0 { ViolationCode::Minimum } else { ViolationCode::Maximum };
            Err(refuse_argument(code, "/page", expected, page.to_string(), &hint))
        }
    }
}

/// Builds the violation of an argument that does not fit the document.
fn refuse_argument(
    code: ViolationCode,
    pointer: &str,
    expected: String,
    found: String,
    hint: &str,
) -> Box<Violation> {
    Box::new(Violation::new(code, pointer, expected, found).with_hint(hint))
}

/// Joins the parts of a document, each under a line that names it.
fn join_parts(document: &DocumentText) -> String {
    if let [only] = &document.parts[..] {
        return only.text.clone();
    }
    let mut whole = String::new();
    for (index, part) in document.parts.iter().enumerate() {
        whole.push_str(&format!("--- {} ---\n", label_part(part, index)));
        whole.push_str(&part.text);
    }
    whole
}

/// Names a part, such as `page 3` or ``sheet `Budget` ``.
pub(crate) fn label_part(part: &DocumentPart, index: usize) -> String {
    let number = index + 1;
    match (part.kind, part.name.as_str()) {
        (DocumentPartKind::Body, _) => "text".to_owned(),
        (kind, "") => format!("{} {number}", kind.as_str()),
        (DocumentPartKind::Slide, name) => format!("slide {number}, {name}"),
        (kind, name) => format!("{} `{name}`", kind.as_str()),
    }
}

/// Describes a document in brackets: what it is, which part is shown, and what to know about it. A
/// plain UTF-8 text has no header.
fn describe_document(document: &DocumentText, shown: Option<usize>) -> String {
    let is_plain = document.format == countersign_documents::DocumentFormat::Text;
    let mut says = Vec::new();
    if !is_plain {
        let what = document.format.describe();
        says.push(match (shown, document.parts.len()) {
            (_, 1) => what.to_owned(),
            (None, _) => format!("{what} with {}", describe_parts(&document.parts)),
            (Some(index), count) => {
                let label = label_part(&document.parts[index], index);
                format!("{what}: {label}, part {} of {count}", index + 1)
            }
        });
    }
    if let Some(encoding) = document.encoding.as_deref().filter(|name| *name != "UTF-8") {
        says.push(format!("encoded in {encoding}"));
    }
    says.extend(document.notes.iter().cloned());
    if says.is_empty() { String::new() } else { format!("[{}]", says.join("; ")) }
}

/// Describes the parts of a document, such as `12 pages` or ``2 sheets: `A`, `B` ``.
fn describe_parts(parts: &[DocumentPart]) -> String {
    let count = parts.len();
    let kind = parts.last().map_or(DocumentPartKind::Body, |part| part.kind);
    match kind {
        DocumentPartKind::Body => "no pages".to_owned(),
        DocumentPartKind::Sheet => {
            let plural = if count == 1 { "sheet" } else { "sheets" };
            format!("{count} {plural}: {}", list_names(parts))
        }
        DocumentPartKind::Attachment => {
            format!("{count} parts: the mail, {}", list_names(&parts[1..]))
        }
        kind => format!("{count} {}{}", kind.as_str(), if count == 1 { "" } else { "s" }),
    }
}

fn list_names(parts: &[DocumentPart]) -> String {
    let shown = parts.iter().take(MAX_LISTED_PARTS).map(|part| format!("`{}`", part.name));
    let more = parts.len().saturating_sub(MAX_LISTED_PARTS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// Splits a text into lines with their ends; a long line into several.
fn split_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((end, _)) = rest.char_indices().nth(LONG_LINE_CHARS) {
            lines.push(&rest[..end]);
            rest = &rest[end..];
        }
        lines.push(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_documents::{DocumentFormat, extract_document};

    fn pages(count: usize) -> DocumentText {
        let part = |index| DocumentPart {
            kind: DocumentPartKind::Page,
            name: String::new(),
            text: format!("first of {index}\nsecond of {index}\n"),
        };
        let parts = (1..=count).map(part).collect();
        DocumentText { format: DocumentFormat::Pdf, encoding: None, parts, notes: Vec::new() }
    }

    #[test]
    fn a_page_is_shown_under_what_it_is() {
        let page = ReadArguments { page: Some(2), ..ReadArguments::default() };
        let window = select_window(&pages(3), page, 1_000).expect("page 2 exists");
        assert_eq!(window.text, "[a PDF: page 2, part 2 of 3]\nfirst of 2\nsecond of 2\n");
        assert!(!window.truncated);
        let whole = select_window(&pages(2), ReadArguments::default(), 1_000).expect("whole");
        assert_eq!(
            whole.text,
            "[a PDF with 2 pages]\n--- page 1 ---\nfirst of 1\nsecond of 1\n--- page 2 ---\nfirst of 2\nsecond of 2\n"
        );
    }

    #[test]
    fn lines_are_counted_from_one() {
        let some = ReadArguments {
            page: Some(1),
            offset: Some(2),
            limit: Some(1),
            ..ReadArguments::default()
        };
        let window = select_window(&pages(2), some, 1_000).expect("line 2 exists");
        assert!(window.text.ends_with("]\nsecond of 1\n… lines 2 to 2 of 2 are shown"));
        assert!(window.truncated);
    }

    #[test]
    fn every_text_can_be_read_to_its_end() {
        let long = "水".repeat(30_000) + "\nlast line";
        let document = extract_document("a.txt", long.as_bytes()).expect("a text");
        let (mut offset, mut whole, mut rounds) = (1, String::new(), 0);
        loop {
            let next = ReadArguments { offset: Some(offset), ..ReadArguments::default() };
            let window = select_window(&document, next, 16_384).expect("a line that exists");
            let (text, footer) = window.text.rsplit_once("… lines").expect("a footer");
            whole.push_str(text.strip_suffix('\n').unwrap_or(text));
            rounds += 1;
            let Some((_, more)) = footer.rsplit_once(": ") else { break };
            offset = more.parse().expect("a number");
        }
        assert_eq!(whole, long);
        assert!((5..10).contains(&rounds), "{rounds}");
    }

    #[track_caller]
    fn check_refused(document: &DocumentText, arguments: ReadArguments<'_>, expected: &str) {
        let refused = select_window(document, arguments, 1_000).expect_err("refused");
        assert_eq!(refused.message, expected);
        assert!(refused.hint.is_some(), "{refused:?}");
    }

    #[test]
    fn what_does_not_fit_the_document_is_a_violation_with_a_hint() {
        let none = ReadArguments::default();
        let two = pages(2);
        for page in [0, 3, u64::MAX] {
            let expected = format!("/page: expected 1 to 2, found {page}");
            check_refused(&two, ReadArguments { page: Some(page), ..none }, &expected);
        }
        check_refused(
            &two,
            ReadArguments { sheet: Some("A"), ..none },
            "/sheet: expected no sheet, found `A`, but the file is a PDF",
        );
        check_refused(
            &two,
            ReadArguments { offset: Some(7), ..none },
            "/offset: expected a line from 1 to 6, found 7",
        );
        check_refused(
            &two,
            ReadArguments { limit: Some(0), ..none },
            "/limit: expected at least 1 line, found 0",
        );
        let sheet = |name: &str| DocumentPart {
            kind: DocumentPartKind::Sheet,
            name: name.to_owned(),
            text: "row\tA\n1\tx\n".to_owned(),
        };
        let book = DocumentText {
            format: DocumentFormat::Xlsx,
            parts: vec![sheet("Смета"), sheet("B")],
            ..pages(0)
        };
        check_refused(
            &book,
            ReadArguments { sheet: Some("C"), ..none },
            "/sheet: expected one of `Смета`, `B`, found `C`",
        );
        let found = select_window(&book, ReadArguments { sheet: Some("смета"), ..none }, 1_000);
        assert_eq!(
            found.expect("a sheet").text,
            "[an Excel workbook: sheet `Смета`, part 1 of 2]\nrow\tA\n1\tx\n"
        );
    }
}
