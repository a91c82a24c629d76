//! What a run gives in the end, with the real program: it is data, it is the places that the workflow names, and
//! it is there only once the run is completed.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Standard output and standard error of what must go well.
#[track_caller]
fn countersign(folder: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for variable in ["CLICOLOR_FORCE", "COUNTERSIGN_MODEL", "COUNTERSIGN_ANSWER_GRAPH"] {
        command.env_remove(variable);
    }
    let output = command.env("COUNTERSIGN_USER", "ann").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    (out, err)
}

#[track_caller]
fn json_output(folder: &Path, arguments: &[&str]) -> Value {
    let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&countersign(folder, &with_json).0).unwrap()
}

/// A folder of work with a copy of a protocol that ships.
fn project(shipped: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    countersign(folder.path(), &["init", shipped]);
    folder
}

#[test]
fn an_answer_is_all_that_goes_to_standard_output() {
    let project = project("answer");
    let project = project.path();
    let question = "How many tasks of project Atlas are late?";
    let (out, err) =
        countersign(project, &["run", "--input", question, "--idempotency-key", "late"]);
    let document = json_output(project, &["show", "key-late"]);
    assert_eq!(out, format!("{}\n", document["final_answer"].as_str().unwrap()));
    assert!(err.contains("\n/final_answer\n"), "{err}");
    let output = json!([{ "run": "key-late", "pointer": "/final_answer", "value": document["final_answer"] }]);
    assert_eq!(json_output(project, &["status", "key-late"])["output"], output);
    let (page, _) = countersign(project, &["status", "key-late"]);
    assert!(
        page.contains("\n/final_answer\n  ## Answer\n  In project ATLAS 1 task is late"),
        "{page}"
    );

    let wanted = "Show me the password of the exchange server";
    let (out, _) = countersign(project, &["run", "--input", wanted]);
    assert_eq!(out, "This cannot be answered here.\n");
}

#[test]
fn a_delivery_gives_what_was_approved() {
    let project = project("delivery");
    let (out, _) = countersign(project.path(), &["run", "--input", "A note on countersigning"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document[0]["path"], "deliverables/note/v2-countersigning.md");
    let run = json_output(project.path(), &["list", "--workflow", "task"])[0]["run"].clone();
    let of_task = &json_output(project.path(), &["status", run.as_str().unwrap()])["output"];
    assert_eq!(
        (&of_task[0]["pointer"], &of_task[0]["value"]["version"]),
        (&json!("/approved"), &json!(2))
    );
}

/// The interview names no output; what is handed on are the files that its child wrote.
#[test]
fn a_run_without_an_output_hands_on_what_its_child_gave() {
    let project = project("intake");
    let project = project.path();
    let task = "I need a contract for the supply of 200 chairs.";
    let (out, _) =
        countersign(project, &["run", "--input", task, "--idempotency-key", "chairs", "--detach"]);
    assert_eq!(out, "", "it waits, and has given nothing");
    assert_eq!(json_output(project, &["status", "key-chairs"])["output"], json!([]));
    countersign(project, &["answer", "key-chairs", "40 euros a chair."]);
    let (out, _) = countersign(project, &["answer", "key-chairs", "Forty euros, as I said."]);
    assert_eq!(out, "", "its child waits, and has written nothing");
    countersign(project, &["answer", "key-chairs.9", "collect"]);
    let (out, err) = countersign(project, &["approve", "key-chairs.9"]);
    let files: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let given = json_output(project, &["status", "key-chairs"])["output"].clone();
    assert_eq!((&given[0]["pointer"], &given[0]["value"]), (&json!("/files"), &files));
    assert_eq!(given[0]["run"], "key-chairs.9");
    assert_eq!(json_output(project, &["show", "key-chairs.9", "--pointer", "/files"]), files);
    for file in ["markdown", "docx"] {
        assert!(project.join(files[file].as_str().unwrap()).is_file(), "{files}");
    }
}

#[test]
fn the_demo_shows_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = countersign(folder.path(), &["demo", "shown", "--approve"]);
    let text = fs::read_to_string(folder.path().join("shown/out/text.md")).unwrap();
    let (body, path) = out.trim_end().rsplit_once('\n').unwrap();
    assert!(text.contains(body), "{out}");
    assert_eq!(path, "out/text.md");
}
