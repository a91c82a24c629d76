//! The intake protocol behind the binary, and what its page says of it.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::Command;

fn countersign(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env("COUNTERSIGN_USER", "anna")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn page() -> String {
    fs::read_to_string(testkit::workspace_root().join("docs/protocols/intake.md")).unwrap()
}

#[test]
fn the_page_shows_the_graph_of_the_protocol() {
    let page = page();
    let drawn = page.split("```mermaid\n").nth(1).unwrap().split("\n```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    countersign(folder.path(), &["init", "intake"]);
    assert_eq!(countersign(folder.path(), &["graph"]).trim_end(), drawn);
}

#[test]
fn every_test_that_the_page_names_exists() {
    let page = page();
    let table = page.split("## Where each statement is tested").nth(1).unwrap();
    let stories = testkit::workspace_root().join("crates/shipped-protocols/tests/intake");
    let mut named = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let tests = row.trim_end_matches(" |").rsplit_once(" | ").unwrap().1;
        for name in tests.split('`').skip(1).step_by(2) {
            assert!(stories.join(format!("{name}.yaml")).exists(), "no story `{name}`");
            named += 1;
        }
    }
    assert!(named >= 45, "only {named} stories are named");
}

/// A run without a copy, whose model is named; a task that is not given is asked for.
#[test]
fn a_run_without_a_copy_asks_for_its_task() {
    let folder = tempfile::tempdir().unwrap();
    let replies =
        testkit::workspace_root().join("crates/shipped-protocols/templates/intake/replies.yaml");
    fs::copy(replies, folder.path().join("said.yaml")).unwrap();
    let model = ["--model", "script:said.yaml"];
    let run = [&["run", "intake", "--detach", "--idempotency-key", "chairs"], &model[..]].concat();
    countersign(folder.path(), &run);
    let inbox = countersign(folder.path(), &["inbox"]);
    assert!(inbox.contains("What document do you need?"), "{inbox}");
    for answer in ["200 chairs, please.", "40 euros a chair.", "Yes."] {
        countersign(folder.path(), &["answer", "key-chairs", answer]);
        countersign(folder.path(), &["run", "--resume", "key-chairs", "--detach"]);
    }
    let status = countersign(folder.path(), &["show", "key-chairs", "--pointer", "/meta/status"]);
    assert_eq!(status.trim(), "\"ready\"");
    countersign(folder.path(), &["replay", "--all", "--verify"]);
}
