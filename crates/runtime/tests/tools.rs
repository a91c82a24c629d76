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
    check(json!({"tool": "read", "path": "zzz"}), false, "`zzz` does not exist");
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
fn a_file_that_is_no_text_says_where() {
    let (_folder, workspace) = workspace();
    workspace.write_atomic("image.png", b"\x89PNG").unwrap();
    let outcome = call(&workspace, json!({"tool": "read", "path": "image.png"}));
    assert_eq!(outcome.output, "`image.png` is not a text file: byte 0 is not UTF-8");
    assert!(!outcome.ok);
}

#[test]
fn long_answers_are_cut_between_letters_and_say_so() {
    let (_folder, workspace) = workspace();
    // Three bytes a letter: the limit falls inside one.
    let text = "水".repeat(10_000);
    workspace.write_atomic("long.txt", text.as_bytes()).unwrap();
    let outcome = call(&workspace, json!({"tool": "read", "path": "long.txt"}));
    assert!(outcome.ok && outcome.truncated);
    assert_eq!(outcome.bytes, 30_000);
    assert!(outcome.output.len() < MAX_OUTPUT_BYTES + 100);
    assert!(outcome.output.ends_with("水\n… truncated: 16383 of 30000 bytes are shown"));

    // Past what is read at all; 1 MiB is no multiple of three either.
    let text = "水".repeat(400_000);
    workspace.write_atomic("huge.txt", text.as_bytes()).unwrap();
    let outcome = call(&workspace, json!({"tool": "read", "path": "huge.txt"}));
    assert!(outcome.ok && outcome.truncated);
    assert!(outcome.output.ends_with("16383 of 1200000 bytes are shown"));
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
