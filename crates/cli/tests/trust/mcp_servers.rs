//! MCP servers through the real program: not started before the owner trusts them, then used, and
//! shown in `doctor` and `history`.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::TestProject;

const REST: &str = "
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, required: [note], properties: { note: { type: string } } }
--- agents/worker.yaml
id: worker
description: works
base: oracle
tools: add
tools_list: [calc.add]
--- workflows/main.yaml
id: main
phases:
  - { id: use, agent: worker, contract: note, writes: [/note], apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: use, to: done }]
";

const SCRIPT: &str = "
- reply: { tool_calls: [ { tool: calc.add, arguments: { n: 1 } } ] }
- reply: { note: all done }
";

/// The Python interpreter itself: a wrapper would need environment variables.
fn python() -> Option<String> {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = String::from_utf8(found.ok()?.stdout).ok()?;
    Some(path.trim().to_owned()).filter(|path| !path.is_empty())
}

#[test]
fn a_server_is_used_after_trust_and_shown() {
    let Some(python) = python() else {
        testkit::report_not_run("a_server_is_used_after_trust_and_shown", "python3 is missing");
        return;
    };
    let server = testkit::workspace_root().join("crates/runtime/tests/driver/mcp_server.py");
    let project = TestProject::new();
    let command = json!([python, server, "plain"]);
    let index = format!(
        "name: w\nversion: 1.0.0\ndefault_workflow: main\nmodels: {{ default: 'script:script.yaml' }}\n\
         policy: {{ mcp: {{ calc: {{ command: {command} }} }} }}\n"
    );
    project.write(".opencode/protocol/index.yaml", &index);
    for file in REST.split("--- ").skip(1) {
        let (path, text) = file.split_once('\n').unwrap();
        project.write(&format!(".opencode/protocol/{path}"), text);
    }
    project.write("script.yaml", SCRIPT);

    let run = project.halts(&["run"]);
    assert!(
        project.why(&run).contains("wants to run MCP server `calc` ("),
        "{}",
        project.why(&run)
    );
    let doctor = String::from_utf8(project.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("calc; not started, because the protocol is not trusted"), "{doctor}");
    assert!(!project.path().join("pid.txt").exists(), "nothing was started");

    let trusted = project.run(&["trust", "--yes"]);
    let trusted = String::from_utf8_lossy(&trusted.stderr).into_owned();
    assert!(trusted.contains("MCP server calc: "), "{trusted}");
    let doctor = String::from_utf8(project.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("calc answers: test 1.0 (2 tools, MCP "), "{doctor}");

    project.says(&["resume", &run]);
    assert_eq!(project.status(&run), "completed");
    let history = String::from_utf8(project.run(&["history", &run]).stdout).unwrap();
    assert!(history.contains("MCP server calc: 2 tools"), "{history}");
    assert!(history.contains("tool call: call calc.add"), "{history}");

    fs::write(project.path().join("changed"), "").unwrap();
    project.says(&["run"]);
    let list = project.json(&["list"]);
    let runs = list["runs"].as_array().or(list.as_array()).unwrap();
    let second = runs.iter().find_map(|one| one["run"].as_str().filter(|id| *id != run)).unwrap();
    let history = String::from_utf8(project.run(&["history", second]).stdout).unwrap();
    assert!(history.contains(&format!("since run {run}: changed: `add`")), "{history}");
    project.says(&["replay", second, "--verify"]);
}
