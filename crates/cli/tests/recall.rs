//! Memory through the binary: one run is told what was said in another, unless it is turned off.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const PROTOCOL: [(&str, &str); 4] = [
    ("index.yaml", "name: lamps\nversion: 1.0.0\ndefault_workflow: main\n"),
    (
        "workflows/main.yaml",
        "id: main\nphases:\n  - { id: ask, ask: { question: 'Which colour should the lamp have?', apply: { set: /colour } } }\n  - { id: write, agent: writer, contract: note, prompt: Describe the colour of the lamp. }\n  - { id: done, terminal: true }\ntransitions: [{ from: ask, to: write }, { from: write, to: done }]\n",
    ),
    (
        "agents/writer.yaml",
        "id: writer\ndescription: Writes\nprompt: Write.\nmodel: override\nmodel_config: { name: human }\n",
    ),
    (
        "contracts/note.yaml",
        "id: note\nversion: 1.0.0\nschema: { type: object, required: [note], properties: { note: { type: string } } }\n",
    ),
];

fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    let folder = project.path().join(".opencode/protocol");
    for (path, text) in PROTOCOL {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(project.path().join("reply.json"), r#"{"note":"It glows."}"#).unwrap();
    project
}

fn countersign(project: &Path, memory: Option<&str>, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.current_dir(project).args(args).args(["--as", "anna"]);
    command.env_remove("COUNTERSIGN_MEMORY");
    command.envs(memory.map(|memory| ("COUNTERSIGN_MEMORY", memory)));
    command.output().unwrap()
}

#[track_caller]
fn json(project: &Path, args: &[&str]) -> Value {
    let args = [args, &["--json"]].concat();
    let output = countersign(project, None, &args);
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn run(project: &Path, more: &[&str]) -> String {
    let started = json(project, &[&["run", "main"], more].concat());
    started["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_is_told_what_was_said_in_another() {
    let project = project();
    let project = project.path();
    let first = run(project, &[]);
    json(project, &["answer", &format!("{first}/w1"), "cobalt"]);
    json(project, &["next", &first]);
    json(project, &["submit", &first, "reply.json"]);
    assert!(project.join(".countersign/memory.db").is_file());

    let second = run(project, &[]);
    json(project, &["answer", &format!("{second}/w1"), "whatever"]);
    let next = json(project, &["next", &second]);
    let system = next["system"].as_str().unwrap();
    assert!(system.contains("## Memory") && system.contains("cobalt"), "{system}");
    let build = next["packet_build"].as_str().unwrap();
    assert!(build.starts_with(&format!("{second}/")), "{build}");
    json(project, &["submit", &second, "reply.json"]);
    let history = countersign(project, None, &["history", &second]);
    let history = String::from_utf8(history.stdout).unwrap();
    assert!(history.contains(&format!("memory build {build}")), "{history}");
    assert_eq!(json(project, &["replay", &second, "--verify"])["errors"], Value::Null);
}

#[test]
fn it_can_be_turned_off() {
    let project = project();
    let project = project.path();
    let by_flag = run(project, &["--no-memory"]);
    assert!(!project.join(".countersign/memory.db").exists());
    fs::write(project.join("countersign.toml"), "memory = \"off\"\n").unwrap();
    let by_file = run(project, &[]);
    assert!(!project.join(".countersign/memory.db").exists());

    // With memory on again, they go on without, and no other run is told what was said in them.
    fs::remove_file(project.join("countersign.toml")).unwrap();
    for (run, said) in [(&by_flag, "cobalt"), (&by_file, "vermilion")] {
        json(project, &["answer", &format!("{run}/w1"), said]);
        let next = json(project, &["next", run]);
        assert!(!next["system"].as_str().unwrap().contains("## Memory"), "{next}");
        json(project, &["submit", run, "reply.json"]);
    }
    let third = run(project, &[]);
    json(project, &["answer", &format!("{third}/w1"), "whatever"]);
    let next = json(project, &["next", &third]);
    let system = next["system"].as_str().unwrap();
    assert!(system.contains("whatever"), "{system}");
    assert!(!system.contains("cobalt") && !system.contains("vermilion"), "{system}");
    let mut export = Command::new(env!("CARGO_BIN_EXE_countersign"));
    export.current_dir(project).args(["memory", "export", "--tenant", "default"]);
    let kept = export.args(["--user", "anna", "--agent", "lamps"]).output().unwrap();
    let kept = String::from_utf8(kept.stdout).unwrap();
    assert!(kept.contains("whatever"), "{kept}");
    assert!(!kept.contains("cobalt") && !kept.contains("vermilion"), "{kept}");

    let wrong = countersign(project, Some("maybe"), &["run", "main"]);
    let message = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        message.contains("`memory` must be `on` or `off`, found `maybe` (COUNTERSIGN_MEMORY)"),
        "{message}"
    );
}

#[test]
fn what_is_no_policy_is_told_before_anything_runs() {
    let project = project();
    let project = project.path();
    let folder = project.join(".opencode/protocol");
    let index = format!("{}memory: {{ policy: memory/wide.yaml }}\n", PROTOCOL[0].1);
    fs::write(folder.join("index.yaml"), index).unwrap();
    fs::create_dir(folder.join("memory")).unwrap();
    fs::write(folder.join("memory/wide.yaml"), "id: wide\n").unwrap();
    let checked = countersign(project, None, &["run", "main"]);
    let message = String::from_utf8(checked.stderr).unwrap();
    assert!(
        message.contains("`memory/wide.yaml` is not a valid policy: missing field"),
        "{message}"
    );
}
