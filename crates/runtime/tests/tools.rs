//! Tools: what an agent reads when it did well, and when it did not.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_run::ToolCall;
use countersign_runtime::tool::{MAX_OUTPUT_BYTES, ToolOutcome, perform_tool_call};
use countersign_runtime::workspace::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

fn workspace() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    workspace.write_atomic("src/main.rs", b"fn main() {}\n").unwrap();
    workspace.write_atomic("docs/guide.md", b"# Guide\nread me\n").unwrap();
    (folder, workspace)
}

fn call(workspace: &Workspace, call: Value) -> ToolOutcome {
    perform_tool_call(workspace, &serde_json::from_value::<ToolCall>(call).unwrap())
}

#[track_caller]
fn check(order: Value, ok: bool, output: &str) {
    let (_folder, workspace) = workspace();
    let outcome = call(&workspace, order);
    assert_eq!((outcome.output.as_str(), outcome.ok), (output, ok));
    assert!(!outcome.truncated);
}

#[test]
fn tools_do_what_they_are_for() {
    check(json!({"tool": "read", "path": "src/main.rs"}), true, "fn main() {}\n");
    check(json!({"tool": "list"}), true, "docs/\nsrc/");
    check(json!({"tool": "list", "path": "src/"}), true, "main.rs  13 bytes");
    check(json!({"tool": "search", "query": "READ"}), true, "docs/guide.md:2: read me");
    check(json!({"tool": "search", "query": "absent"}), true, "nothing found in 2 files");
    check(
        json!({"tool": "write", "path": "new/x.txt", "content": "äö"}),
        true,
        "wrote 4 bytes to `new/x.txt`",
    );
}

#[test]
fn what_an_agent_does_wrong_is_a_sentence() {
    check(
        json!({"tool": "read", "path": "src/mian.rs"}),
        false,
        "`src/mian.rs` does not exist; did you mean `src/main.rs`?",
    );
    check(
        json!({"tool": "read", "path": "Guide.md"}),
        false,
        "`Guide.md` does not exist; did you mean `docs/guide.md`?",
    );
    check(
        json!({"tool": "list", "path": "scr"}),
        false,
        "`scr` does not exist; did you mean `src`?",
    );
    check(
        json!({"tool": "read", "path": "zzz"}),
        false,
        "`zzz` does not exist; the workspace has `docs`, `src`",
    );
    check(
        json!({"tool": "read", "path": "no/zzz"}),
        false,
        "`no/zzz` does not exist; there is no folder `no` either",
    );
    check(
        json!({"tool": "write", "path": "../x", "content": ""}),
        false,
        "`../x` is not a path inside the workspace: `..` is not allowed in it",
    );
    check(
        json!({"tool": "search", "query": ""}),
        false,
        "the text to search for is empty; expected one line of 1 to 1000 bytes",
    );
}

#[test]
fn a_file_without_text_says_what_it_is() {
    let (_folder, workspace) = workspace();
    let check = |name: &str, bytes: &[u8], expected: &str| {
        workspace.write_atomic(name, bytes).unwrap();
        let outcome = call(&workspace, json!({"tool": "read", "path": name}));
        assert_eq!((outcome.output.as_str(), outcome.ok), (expected, false));
    };
    check("image.png", b"\x89PNG", "`image.png` is a PNG image; images are not read");
    check(
        "data.bin",
        b"\x01\0\0\x02",
        "`data.bin` is not a document that can be read: it has binary data of an unknown format",
    );
    check("a.pdf", b"text", "`a.pdf` is named like a PDF, but is text");
}

#[test]
fn long_answers_are_cut_between_letters_and_can_be_continued() {
    let (_folder, workspace) = workspace();
    // Three bytes a letter, and one line that is longer than an answer.
    for (name, count) in [("long.txt", 10_000), ("huge.txt", 400_000)] {
        let text = "水".repeat(count);
        workspace.write_atomic(name, text.as_bytes()).unwrap();
        let outcome = call(&workspace, json!({"tool": "read", "path": name}));
        assert!(outcome.ok && outcome.truncated);
        assert_eq!(outcome.bytes, 3 * count as u64);
        assert!(outcome.output.len() < MAX_OUTPUT_BYTES + 100);
        let total = count.div_ceil(4_000);
        let footer =
            format!("水\n… lines 1 to 1 of {total} are shown; continue with \"offset\": 2");
        assert!(outcome.output.ends_with(&footer), "{}", &outcome.output[15_900..]);
        let last = json!({"tool": "read", "path": name, "offset": total, "limit": 1});
        let outcome = call(&workspace, last);
        assert!(
            outcome
                .output
                .ends_with(&format!("水\n… lines {total} to {total} of {total} are shown"))
        );
    }
}

/// A document that a foreign program wrote; see `crates/documents/tests/make_fixtures.py`.
fn put_fixture(workspace: &Workspace, name: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(folder.join("../documents/tests/fixtures").join(name)).unwrap();
    workspace.write_atomic(&format!("files/{name}"), &bytes).unwrap();
}

#[test]
fn documents_are_read_page_by_page_and_sheet_by_sheet() {
    let (_folder, workspace) = workspace();
    for name in ["budget.xlsx", "report.pptx", "contract.pdf", "lease.docx"] {
        put_fixture(&workspace, name);
    }
    let read = |more: Value| {
        let mut whole = json!({"tool": "read"});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let outcome = call(&workspace, whole);
        assert!(outcome.ok, "{}", outcome.output);
        outcome.output
    };
    assert_eq!(
        read(json!({"path": "files/budget.xlsx", "sheet": "notes"})),
        "[an Excel workbook: sheet `Notes`, part 2 of 3; sheet `Secret` is hidden in the program]\nrow\tA\tB\tC\n2\t\tfirst second\t2026-03-01 12:30:00\n"
    );
    let page = read(json!({"path": "files/contract.pdf", "page": 2}));
    assert!(page.starts_with("[a PDF: page 2, part 2 of 2]\n"), "{page}");
    assert!(page.contains("передаёт отчёт"), "{page}");
    let slides = read(json!({"path": "files/report.pptx"}));
    assert!(
        slides
            .starts_with("[a PowerPoint presentation with 2 slides]\n--- slide 1 ---\n季度报告\n")
    );
    let lines = read(json!({"path": "files/lease.docx", "offset": 3, "limit": 2}));
    assert_eq!(
        lines,
        "[a Word document]\nАрендатор вносит плату до 5-го числа каждого месяца.\n1. Срок\n… lines 3 to 4 of 14 are shown; continue with \"offset\": 5"
    );
}

#[test]
fn an_argument_that_does_not_fit_the_document_is_a_violation_with_a_hint() {
    let (_folder, workspace) = workspace();
    put_fixture(&workspace, "contract.pdf");
    let outcome =
        call(&workspace, json!({"tool": "read", "path": "files/contract.pdf", "page": 7}));
    assert_eq!(
        (outcome.output.as_str(), outcome.ok),
        (
            "`files/contract.pdf`: /page: expected 1 to 2, found 7 [maximum]; the file has 2 pages; to read a long text in steps, use `offset` and `limit`",
            false
        )
    );
}

#[test]
fn a_search_finds_what_a_reader_sees() {
    let (_folder, workspace) = workspace();
    for name in ["budget.xlsx", "report.pptx", "contract.pdf", "lease.docx", "mail.eml", "scan.pdf"]
    {
        put_fixture(&workspace, name);
    }
    let cyrillic =
        b"\xc0\xf0\xe5\xed\xe4\xe0 \xef\xee\xec\xe5\xf9\xe5\xed\xe8\xff \xe8 \xef\xeb\xe0\xf2\xe0";
    workspace.write_atomic("files/old.txt", cyrillic).unwrap();
    workspace.write_atomic("files/page.html", b"<p class=plain>Rent &amp; more</p>").unwrap();
    let search = |query: &str| {
        call(&workspace, json!({"tool": "search", "query": query, "path": "files"})).output
    };
    let scan = "\n… `files/scan.pdf` was not searched: it is a PDF without text: its 1 page is images, such as a scan; images are not read";
    assert_eq!(
        search("аренда"),
        format!(
            "files/budget.xlsx:sheet `Смета`:3: 2\tАренда\t2026-01-31\t45000.5\t25%\nfiles/lease.docx:3: Арендатор вносит плату до 5-го числа каждого месяца.\nfiles/mail.eml:attachment `смета.xlsx: Смета`:3: 2\tАренда\t2026-01-31\t45000.5\t25%\nfiles/old.txt:1: Аренда помещения и плата{scan}"
        )
    );
    assert_eq!(search("thank the"), format!("files/report.pptx:slide 1:6: Thank the team.{scan}"));
    assert_eq!(search("rent & more"), format!("files/page.html:1: Rent & more{scan}"));
    assert_eq!(
        search("class=plain"),
        format!("files/page.html:source:1: <p class=plain>Rent &amp; more</p>{scan}")
    );
    let raw = call(&workspace, json!({"tool": "read", "path": "files/page.html", "raw": true}));
    assert_eq!(raw.output, "<p class=plain>Rent &amp; more</p>");
    let page = call(&workspace, json!({"tool": "read", "path": "files/page.html"}));
    assert_eq!(page.output, "[an HTML page]\nRent & more\n");
}

#[test]
fn a_search_that_ended_early_says_so() {
    let (_folder, workspace) = workspace();
    workspace.write_atomic("many", "hit\n".repeat(1_000).as_bytes()).unwrap();
    let outcome = call(&workspace, json!({"tool": "search", "query": "hit"}));
    assert!(outcome.truncated);
    let last = outcome.output.lines().last().unwrap();
    assert_eq!(last, "… the search is incomplete: the limit of matching lines is reached");
}

#[test]
fn an_empty_folder_is_no_silence() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let outcome = call(&workspace, json!({"tool": "list"}));
    assert_eq!((outcome.output.as_str(), outcome.ok), ("the folder is empty", true));
}
