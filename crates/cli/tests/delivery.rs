//! The shipped protocol `delivery` with the real program: offline, with a document that arrives while the program
//! stays, with tasks that are listed and reset.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct TestProject(TempDir);

impl TestProject {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        assert!(project.run(&["init", "delivery"]).status.success());
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        for name in ["COUNTERSIGN_MODEL", "COUNTERSIGN_PROTOCOL", "COUNTERSIGN_STORE"] {
            command.env_remove(name);
        }
        command.env("COUNTERSIGN_USER", "ann");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Lets the script say something else in a phase.
    fn script(&self, phase: &str, replies: &str) {
        let path = self.path("replies.yaml");
        let text = fs::read_to_string(&path).unwrap();
        let (before, after) = text.split_once(&format!("\n  {phase}:\n")).unwrap();
        let rest = after.find("\n  review:").map_or("", |at| &after[at..]);
        fs::write(path, format!("{before}\n  {phase}:\n{replies}{rest}")).unwrap();
    }
}

const ASKS: &str = "    - reply: { schema_version: xiaobo_action_v1, task_id: note, result_type: NEEDS_INPUT, needs_input: { required_docs: [ { name: Brief, description: What is wanted, accepted_types: [md], suggested_path: workspace/inputs/brief.md } ] } }\n";
const MAKES: &str = "    - reply: { schema_version: xiaobo_action_v1, task_id: note, result_type: ARTIFACT, artifact: { name: Note, format: md, content: Whole. } }\n    - reply: { schema_version: xiaobo_action_v1, task_id: note, result_type: ARTIFACT, artifact: { name: Note, format: md, content: With an example. } }\n";

#[test]
fn the_offline_demo_delivers() {
    let project = TestProject::new();
    let output = project.run(&["run", "--input", "A note on countersigning"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    let manifest = fs::read_to_string(project.path("deliverables/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["deliverables"][0]["version"], 2);
    assert_eq!(manifest["deliverables"][0]["path"], "deliverables/note/v2-countersigning.md");
    let old = fs::read_to_string(project.path("artifacts/note/v1-countersigning.md")).unwrap();
    assert!(!old.contains("cheque"), "the first version is as it was");
    assert!(project.run(&["replay", "--all", "--verify"]).status.success());
}

/// The program waits in one terminal; somebody puts the file there from another.
#[test]
fn a_document_that_arrives_wakes_a_program_that_stays() {
    let project = TestProject::new();
    project.script("execute", &format!("{ASKS}{MAKES}"));
    let mut child = project
        .command(&["run", "--follow", "--input", "A note on countersigning"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let expected = "the run looks for it at ";
    let line = lines.find(|line| line.as_ref().unwrap().contains(expected)).unwrap().unwrap();
    let place = line.split_once(expected).unwrap().1.to_owned();
    assert!(place.starts_with("inputs/") && place.ends_with("/brief.md"), "{line}");
    // Where no run looks, a document answers nothing, and the inbox says where it belongs.
    fs::create_dir_all(project.path("inputs")).unwrap();
    fs::write(project.path("inputs/brief.md"), "Of no run.").unwrap();
    let inbox = String::from_utf8(project.run(&["inbox"]).stderr).unwrap();
    let moved = format!("the file `inputs/brief.md` belongs to no run; move it to `{place}`");
    assert!(inbox.contains(&moved), "{inbox}");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(String::from_utf8(doctor.stdout).unwrap().contains(&moved));
    fs::create_dir_all(project.path(&place).parent().unwrap()).unwrap();
    fs::write(project.path("brief.tmp"), "Short.").unwrap();
    fs::rename(project.path("brief.tmp"), project.path(&place)).unwrap();
    let later: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{}", later.join("\n"));
    assert!(project.path("deliverables/manifest.json").is_file(), "{}", later.join("\n"));
}

/// Somebody answers from another terminal, and the program that stays sees it.
#[test]
fn an_answer_from_elsewhere_is_seen_by_a_program_that_stays() {
    let project = TestProject::new();
    project.script("execute", &format!("    - nonsense\n{MAKES}"));
    let mut child = project
        .command(&["run", "--follow", "--input", "A note on countersigning"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("Why should it be tried again?")));
    let run =
        project.json(&["list", "--workflow", "delivery"])[0]["run"].as_str().unwrap().to_owned();
    let reset = project.run(&["task", "reset", &run, "note", "--reason", "A hiccup"]);
    assert!(reset.status.success(), "{}", String::from_utf8_lossy(&reset.stderr));
    let later: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{}", later.join("\n"));
}

#[test]
fn tasks_are_listed_and_reset() {
    let project = TestProject::new();
    project.script("execute", &format!("    - nonsense\n{MAKES}"));
    let before = project.run(&["task", "list"]);
    assert_eq!(before.status.code(), Some(2), "there is no run yet");
    project.run(&["run", "--input", "A note on countersigning"]);
    let run =
        project.json(&["list", "--workflow", "delivery"])[0]["run"].as_str().unwrap().to_owned();
    let listed = project.json(&["task", "list", &run]);
    assert_eq!(listed[0]["task"], "note");
    assert_eq!(listed[0]["status"], "FAILED");
    assert_eq!(listed[0]["waits"][0]["name"], "reset");
    let table = String::from_utf8(project.run(&["task", "list", &run]).stdout).unwrap();
    assert!(table.starts_with("TASK  STATUS  RUN"), "{table}");

    let said = |arguments: &[&str]| {
        let output = project.run(arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = said(&["task", "reset", &run, "nobody", "--reason", "x"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("has no task `nobody`; it has note"), "{message}");
    let (code, message) = said(&["task", "reset", &run, "--reason", "x"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("no task waits for a reset"), "{message}");
    let (code, message) = said(&["task", "reset", &run, "note", "--reason", ""]);
    assert_eq!(code, Some(1), "a reason is a text that is not empty: {message}");

    let (code, message) =
        said(&["task", "reset", &run, "note", "--reason", "The model was changed"]);
    assert_eq!(code, Some(0), "{message}");
    let listed = project.json(&["task", "list", &run]);
    assert_eq!(listed[0]["status"], "DONE");
    let shown = project.json(&["show", listed[0]["run"].as_str().unwrap()]);
    assert_eq!(shown["notes"][0], "The model was changed");
    assert_eq!(shown["attempt_count"], 2, "one that failed, one that was reworked");
    let (code, _) = said(&["task", "reset", &run, "note", "--reason", "again"]);
    assert_eq!(code, Some(2), "what is done is not reset");
}
