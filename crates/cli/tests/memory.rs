//! Memory alone, with the real program: what is kept, what is refused, what is composed and why, what is forgotten.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const WHOSE: [&str; 6] = ["--user", "ann", "--agent", "helper", "--at", "2026-01-21T12:00:00Z"];

/// Exit code, standard output and standard error of `countersign memory …` in a folder.
fn raw(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
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
fn memory(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let all: Vec<&str> = arguments.iter().copied().chain(WHOSE).collect();
    raw(folder, &all, "")
}

/// What goes well: its standard output as JSON.
#[track_caller]
fn does(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let (code, out, err) = memory(folder, &all);
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    serde_json::from_str(&out).unwrap()
}

/// What is said to a command that must end with this code.
#[track_caller]
fn fails(folder: &Path, expected: i32, arguments: &[&str]) -> String {
    let (code, out, err) = memory(folder, arguments);
    assert_eq!(code, expected, "{arguments:?}: {out}{err}");
    err
}

#[track_caller]
fn remembered(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["remember"].into_iter().chain(arguments.iter().copied()).collect();
    does(folder, &all)["kept"][0].clone()
}

#[test]
fn whose_memory_is_never_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let event = ["remember", "--event", "Hi"];
    let (code, _, err) = raw(folder, &event, "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`--user` is missing"), "{err}");
    let (code, _, err) = raw(folder, &["remember", "--event", "Hi", "--user", "ann"], "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`--agent` is missing"), "{err}");
    let (code, _, err) =
        raw(folder, &["remember", "--event", "Hi", "--user", "", "--agent", "helper"], "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`--user`: `user_id` of a scope must be 1 to 256 bytes"), "{err}");
    assert!(!folder.join(".countersign").exists(), "nothing was made for nobody");
    // A file beside the work may say it.
    fs::write(folder.join("countersign.toml"), "user = 'ann'\nagent = 'helper'\n").unwrap();
    let (code, _, err) = raw(folder, &event, "");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn everything_is_remembered_by_flags() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let event = remembered(folder, &["--event", "I am vegetarian", "--speaker", "Ann"]);
    assert_eq!((&event["kind"], &event["outcome"]), (&json!("event"), &json!("kept")));
    let id = event["id"].as_str().unwrap();
    assert_eq!(remembered(folder, &["--event", "I am vegetarian", "--speaker", "Ann"])["id"], id);
    let (code, out, err) = memory(folder, &["remember", "--event", "Hello", "--id", "e1"]);
    assert_eq!((code, &*out, &*err), (0, "", "kept event e1\n"));

    let fact = ["--fact", "diet=vegetarian", "--source", id, "--quote", "vegetarian"];
    assert_eq!(remembered(folder, &[&fact[..], &["--id", "f1"]].concat())["outcome"], "kept");
    let other = remembered(folder, &["--fact", "diet=vegan", "--id", "f2"]);
    assert_eq!((&other["outcome"], &other["others"]), (&json!("disputed"), &json!(["f1"])));
    let third = remembered(folder, &["--fact", "diet=pescatarian", "--confirmed"]);
    assert_eq!(third["outcome"], "superseded");
    let said = fails(folder, 1, &["remember", "--fact", "a=b", "--source", id, "--quote", "meat"]);
    assert!(said.contains("its quote does not stand letter for letter"), "{said}");
    let said = fails(folder, 2, &["remember", "--fact", "diet"]);
    assert!(said.contains("`--fact` must be KEY=VALUE"), "{said}");

    let episode = ["--episode", "Dinner was planned", "--start", "2026-01-20", "--id", "ep1"];
    assert_eq!(remembered(folder, &episode)["kind"], "episode");
    fs::write(folder.join("p.json"), r#"{"steps": ["ask", "cook"]}"#).unwrap();
    let procedure = ["--procedure", "p.json", "--task-type", "dinner", "--id", "p1"];
    assert_eq!(remembered(folder, &procedure)["revision"], 1);
    assert_eq!(remembered(folder, &["--insight", "She may like tofu"])["kind"], "insight");
    fs::write(folder.join("w.json"), r#"{"goal": "a dinner for six"}"#).unwrap();
    assert_eq!(remembered(folder, &["--working", "w.json"])["revision"], 1);
    assert_eq!(remembered(folder, &["--working", "w.json"])["revision"], 2);
    fs::write(folder.join("w.json"), r#"{"goal": "dinner", "state_version": 1}"#).unwrap();
    let said = fails(folder, 1, &["remember", "--working", "w.json"]);
    assert!(said.contains("the working state is at version 2, expected 1"), "{said}");
    assert_eq!(remembered(folder, &["--summary", "Ann plans a dinner."])["revision"], 1);
}

#[test]
fn lines_are_read_before_anything_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = |lines: &str, more: &[&str]| {
        let all: Vec<&str> = ["remember"].iter().chain(more).chain(&WHOSE).copied().collect();
        raw(folder, &all, lines)
    };
    let (code, _, err) = lines("{\"event\": \"a\"}\n\n{\"evnt\": \"b\"}\n", &["-"]);
    assert_eq!(code, 2);
    assert!(err.contains("<stdin>:3: unknown field `evnt`"), "{err}");
    let (code, _, err) = lines("{\"event\": \"a\", \"role\": \"king\"}\n", &["-"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("<stdin>:1: `role`: unknown variant `king`, expected one of `user`"),
        "{err}"
    );
    let (code, _, err) = lines("\n", &["-"]);
    assert_eq!(code, 2);
    assert!(err.contains("nothing to remember"), "{err}");
    assert!(!folder.join(".countersign").exists());

    // One that the rules refuse does not hold up the others.
    let told = "{\"event\": \"a\", \"id\": \"e1\"}\n{\"event\": \"b\", \"id\": \"e1\"}\n{\"event\": \"c\", \"id\": \"e2\", \"session\": \"s2\"}\n{\"fact\": \"k\", \"value\": 1, \"sources\": [\"e2\"]}\n";
    let (code, out, err) = lines(told, &["--json"]);
    assert_eq!(code, 1, "{err}");
    let account: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(account["kept"].as_array().unwrap().len(), 3, "{account}");
    assert_eq!(
        account["refused"],
        json!([{ "line": 2, "message": "event `e1` is there already and says something else" }])
    );
}
