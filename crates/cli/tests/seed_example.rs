//! The specification's own example, as files: the folder, the state that is taken over, and the way to
//! its end, with the state files valid under the specification's schema after every commit.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Index, workflow and agents, a file after each `--- path` line; a test beside the loader holds them
/// against the specification's text.
const FOLDER: &str = include_str!("../../protocol/tests/protocol_load/seed.txt");

fn countersign(folder: &Path, arguments: &[&str], input: &str) -> (i32, Value, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env("COUNTERSIGN_USER", "anna")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading its input is no fault of the test.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        output.status.code().unwrap(),
        serde_json::from_slice(&output.stdout).unwrap_or_default(),
        stderr,
    )
}

/// The state that the specification shows.
fn state() -> Value {
    json!({
        "workflow": "task_loop",
        "phase": "work_loop",
        "status": "running",
        "current_task_id": "task-02",
        "tasks": [
            {"id": "task-01", "status": "done"},
            {"id": "task-02", "status": "in_progress"},
            {"id": "task-03", "status": "pending"}
        ],
        "updated_at": "2026-01-21T12:00:00Z"
    })
}

fn lay_out(folder: &Path, format: &str) {
    for file in FOLDER.split("--- ").skip(1) {
        let (path, text) = file.split_once('\n').unwrap();
        let path = folder.join(".opencode/protocol").join(path.trim());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("format: single", &format!("format: {format}"))).unwrap();
    }
}

fn write_state(folder: &Path, name: &str, state: &Value) {
    let path = folder.join(".opencode/state").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, state.to_string()).unwrap();
}

/// What the state files say together, held against the specification's schema.
fn valid(folder: &Path, names: &[&str]) -> Value {
    let mut whole = json!({});
    for name in names {
        let text = fs::read_to_string(folder.join(".opencode/state").join(name)).unwrap();
        let part: Value = serde_json::from_str(&text).unwrap();
        whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
    }
    let (code, _, stderr) = countersign(folder, &["admit", "state"], &whole.to_string());
    assert_eq!(code, 0, "{stderr}");
    whole
}

fn to_its_end(format: &str, names: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    lay_out(folder, format);
    let initial = state();
    if format == "single" {
        write_state(folder, "current.json", &initial);
    } else {
        let mut rest = initial.clone();
        let members = rest.as_object_mut().unwrap();
        let tasks = json!({
            "tasks": members.remove("tasks"),
            "current_task_id": members.remove("current_task_id"),
        });
        write_state(folder, "workflow.json", &rest);
        write_state(folder, "tasks.json", &tasks);
        write_state(folder, "sprint.json", &json!({}));
    }
    let (code, run, stderr) = countersign(folder, &["run", "--json"], "");
    assert_eq!(
        (code, &run["status"], &run["phase"]),
        (0, &json!("waiting"), &json!("work_loop")),
        "{stderr}"
    );
    assert_eq!(valid(folder, names)["tasks"], initial["tasks"], "the state was taken over");
    let id = run["run"].as_str().unwrap();

    let forbidden = json!({"patch": [{"op": "replace", "path": "/status", "value": "completed"}]});
    let (code, refused, _) = countersign(folder, &["submit", id, "--json"], &forbidden.to_string());
    assert_eq!((code, &refused["violations"][0]["code"]), (1, &json!("not_authorized")));
    valid(folder, names);

    for index in [1, 2] {
        let pointer = format!("/tasks/{index}/status");
        let patch = json!({"patch": [{"op": "replace", "path": pointer, "value": "done"}]});
        let (code, _, stderr) = countersign(folder, &["submit", id, "--json"], &patch.to_string());
        assert_eq!(code, 0, "{stderr}");
        valid(folder, names);
    }
    let end = valid(folder, names);
    assert_eq!((&end["phase"], &end["status"]), (&json!("done"), &json!("completed")));
    let (code, _, stderr) = countersign(folder, &["replay", id, "--verify"], "");
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn the_example_runs_to_its_end_in_one_file() {
    to_its_end("single", &["current.json"]);
}

#[test]
fn the_example_runs_to_its_end_in_several_files() {
    to_its_end("multi", &["workflow.json", "sprint.json", "tasks.json"]);
}

#[test]
fn a_process_that_is_over_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), "single");
    let mut over = state();
    over["phase"] = json!("done");
    over["status"] = json!("completed");
    write_state(folder.path(), "current.json", &over);
    let (code, run, stderr) = countersign(folder.path(), &["run", "--json"], "");
    let seen = (code, &run["status"], &run["phase"]);
    assert_eq!(seen, (0, &json!("waiting"), &json!("decompose")), "{stderr}");
    assert!(
        stderr.contains("their run is completed") && stderr.contains("current.json.bak"),
        "{stderr}"
    );
    let kept = fs::read_to_string(folder.path().join(".opencode/state/current.json.bak")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), over, "nothing is lost");
}

#[test]
fn a_halted_process_stays_halted_until_somebody_resumes_it() {
    for format in ["single", "multi"] {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), format);
        let mut halted = state();
        halted["status"] = json!("halted");
        let name = if format == "single" { "current.json" } else { "workflow.json" };
        write_state(folder.path(), name, &halted);
        let (code, run, stderr) = countersign(folder.path(), &["run", "--json"], "");
        let seen = (code, &run["status"], &run["phase"]);
        assert_eq!(seen, (0, &json!("halted"), &json!("work_loop")), "{stderr}");
        assert_eq!(run["document"]["tasks"], halted["tasks"]);
        let id = run["run"].as_str().unwrap();
        let (code, run, stderr) = countersign(folder.path(), &["resume", id, "--json"], "");
        assert_eq!((code, &run["status"]), (0, &json!("waiting")), "{stderr}");
        let (code, _, stderr) = countersign(folder.path(), &["replay", "--verify"], "");
        assert_eq!(code, 0, "{stderr}");
    }
}

#[test]
fn a_state_that_the_schema_refuses_is_not_taken_over_and_not_replaced() {
    let broken: [(&str, Value); 3] =
        [("status", json!("paused")), ("tasks", json!("none")), ("phase", Value::Null)];
    for (key, value) in broken {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), "single");
        let mut wrong = state();
        wrong[key] = value;
        write_state(folder.path(), "current.json", &wrong);
        let (code, _, stderr) = countersign(folder.path(), &["run"], "");
        assert_eq!(code, 2, "{stderr}");
        assert!(
            stderr.contains("contract `state`") && stderr.contains(&format!("/{key}")),
            "{stderr}"
        );
        let there = fs::read_to_string(folder.path().join(".opencode/state/current.json")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&there).unwrap(), wrong);
        let (_, runs, _) = countersign(folder.path(), &["list", "--json"], "");
        assert_eq!(runs, json!([]));
    }
}

#[test]
fn state_files_that_a_new_run_replaces_are_kept_beside() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), "multi");
    let path = |name: &str| folder.path().join(".opencode/state").join(name);
    let mut other = state();
    other["workflow"] = json!("another");
    write_state(folder.path(), "workflow.json", &other);
    fs::write(path("workflow.json.bak"), "an older one").unwrap();
    let (code, _, stderr) = countersign(folder.path(), &["run"], "");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("they are of the workflow `another`"), "{stderr}");
    assert_eq!(fs::read_to_string(path("workflow.json.bak")).unwrap(), "an older one");
    let kept = fs::read_to_string(path("workflow.json.bak.2")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), other);
}
