//! `countersign memory` as Ann with her helper.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

pub(crate) const WHOSE: [&str; 6] =
    ["--user", "ann", "--agent", "helper", "--now", "2026-01-21T12:00:00Z"];

/// Exit code, standard output and standard error of `countersign memory …` in a folder.
pub(crate) fn raw(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("memory").args(arguments).current_dir(folder);
    for variable in ["CLICOLOR_FORCE", "COUNTERSIGN_USER", "COUNTERSIGN_AGENT"] {
        command.env_remove(variable);
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading its input is no fault of the test.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The same as Ann with her helper, at a moment that stands still.
pub(crate) fn memory(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let all: Vec<&str> = arguments.iter().copied().chain(WHOSE).collect();
    raw(folder, &all, "")
}

/// What goes well: its standard output as JSON.
#[track_caller]
pub(crate) fn does(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let (code, out, err) = memory(folder, &all);
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    serde_json::from_str(&out).unwrap()
}

/// What is said to a command that must end with this code.
#[track_caller]
pub(crate) fn fails(folder: &Path, expected: i32, arguments: &[&str]) -> String {
    let (code, out, err) = memory(folder, arguments);
    assert_eq!(code, expected, "{arguments:?}: {out}{err}");
    err
}

#[track_caller]
pub(crate) fn remembered(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["remember"].into_iter().chain(arguments.iter().copied()).collect();
    does(folder, &all)["saved"][0].clone()
}

/// A folder where Ann and her helper spoke of a dinner.
pub(crate) fn dinner() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let items = [
        json!({"event": "I am vegetarian, and Bob is allergic to nuts.", "id": "e1", "speaker": "Ann"}),
        json!({"event": "Noted. Shall I plan a dinner?", "id": "e2", "role": "assistant"}),
        json!({"event": "Yes, for six, on Friday.", "id": "e3", "speaker": "Ann"}),
        json!({"fact": "diet", "value": "vegetarian", "id": "f1", "sources": ["e1"], "quote": "vegetarian", "preference": true}),
        json!({"fact": "guests", "value": 6, "id": "f2", "sources": ["e3"]}),
        json!({"fact": "guests", "value": 8, "id": "f3"}),
        json!({"episode": "Ann cooked a risotto for Bob.", "id": "ep1", "start": "2026-01-19"}),
        json!({"episode": "Ann moved to Rome.", "id": "ep2", "start": "2025-01-19"}),
        json!({"insight": "Bob may like tofu.", "id": "i1"}),
        json!({"procedure": {"steps": ["ask", "cook"]}, "task_type": "dinner", "id": "p1"}),
        json!({"working_memory": {"goal": "a dinner on Friday"}}),
        json!({"summary": "Ann plans a dinner.", "sources": ["e3"]}),
    ];
    let lines = items.map(|line| line.to_string()).join("\n");
    let all: Vec<&str> = ["remember", "-"].into_iter().chain(WHOSE).collect();
    let (code, _, err) = raw(folder.path(), &all, &lines);
    assert_eq!(code, 0, "{err}");
    folder
}
