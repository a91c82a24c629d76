//! Replies made to end the process, through the real program with a limit on its memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What the program may take, in KiB: the first of these replies once took more than 12 GiB.
const MEMORY: u32 = 3 << 20;

/// A log of two refused replies once took 94 MB.
const LARGEST_STORE: u64 = 8 << 20;

const FILES: [(&str, &str); 4] = [
    (".opencode/protocol/index.yaml", "name: own\nversion: 1.0.0\ndefault_workflow: own\n"),
    (
        ".opencode/protocol/workflows/own.yaml",
        "id: own\n\
         phases:\n  - { id: work, agent: writer, contract: note, apply: { set: /note } }\n\
         \x20 - { id: done, terminal: true }\n\
         transitions: [{ from: work, to: done }]\n",
    ),
    (
        ".opencode/protocol/agents/writer.yaml",
        "id: writer\ndescription: Writes a note.\nprompt: Write a note.\nmodel: override\nmodel_config: { name: human }\n",
    ),
    (
        ".opencode/protocol/contracts/note.yaml",
        "id: note\nversion: 1.0.0\nintake: tolerant\non_violation: { reask: 10, then: fail }\n\
         schema:\n  type: object\n  required: [text]\n  additionalProperties: false\n\
         \x20 properties: { text: { type: string }, list: { type: array, items: { type: string } } }\n",
    ),
];

/// The program in a folder, with little memory to spend.
fn countersign(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("COUNTERSIGN_MODEL")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn many(open: &str, item: &str, close: &str, size: usize) -> String {
    format!("{open}{}{close}", vec![item; size / (item.len() + 1)].join(","))
}

/// Each below 1 MiB.
fn replies() -> Vec<(&'static str, String)> {
    let long = "k".repeat(200_000);
    let under = format!("{{\"{}\": ", "k".repeat(1_000)).repeat(4);
    let fields: Vec<String> = (0..60_000).map(|n| format!("\"f{n}\":0")).collect();
    vec![
        ("long key", many(&format!("{{\"{long}\": ["), "0", "]}", 400_000)),
        // Not beside the other one of its kind: the same violations twice in a row end the run.
        ("quoted braces", "\"{x}\" ".repeat(150_000)),
        ("long pointer", many(&format!("{under}["), "0", "]}}}}", 800_000)),
        ("wrong items", many("{\"text\": \"x\", \"list\": [", "0", "]}", 900_000)),
        ("unknown fields", format!("{{{}}}", fields.join(","))),
        ("repeated key", many("{", "\"text\":\"x\"", "}", 900_000)),
        ("numbers", many("{\"text\": [", "1e999", "]}", 900_000)),
        ("depth", format!("{{\"text\": {}{}}}", "[".repeat(126), "]".repeat(126))),
        ("braces in prose", "{x} ".repeat(220_000)),
    ]
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn no_reply_ends_the_program_or_fills_the_store() {
    let folder = folder();
    let folder = folder.path();
    let started = countersign(folder, &["run", "--json", "--no-memory"]);
    let started: Value = serde_json::from_slice(&started.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&started.stderr)));
    let run = started["run"].as_str().unwrap();
    for (name, text) in replies() {
        fs::write(folder.join("reply.txt"), &text).unwrap();
        let admitted =
            countersign(folder, &["admit", ".opencode/protocol/contracts/note.yaml", "reply.txt"]);
        let said = String::from_utf8_lossy(&admitted.stderr);
        assert_eq!(admitted.status.code(), Some(1), "{name}: {said:.2000}");
        let submitted = countersign(folder, &["submit", run, "reply.txt"]);
        let said = String::from_utf8_lossy(&submitted.stderr);
        assert_eq!(submitted.status.code(), Some(1), "{name}: {said:.2000}");
    }
    // The run goes on as if nothing had been said, and its log proves itself.
    fs::write(folder.join("reply.txt"), "{\"text\": \"fine\"}").unwrap();
    let submitted = countersign(folder, &["submit", run, "reply.txt"]);
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    let proved = countersign(folder, &["replay", run, "--verify"]);
    assert!(proved.status.success(), "{}", String::from_utf8_lossy(&proved.stderr));
    let store: u64 = fs::read_dir(folder.join(".countersign"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    // The replies themselves are kept: what is refused must be there to be looked at.
    let kept: usize = replies().iter().map(|(_, text)| text.len()).sum();
    assert!(store < LARGEST_STORE + 3 * kept as u64, "{store} bytes for {kept} bytes of replies");
}
