//! `countersign agent`: agents that phases use and agents that only a coding agent plays, with
//! models behind aliases, skills and tools that only the coding agent has.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

const FILES: [(&str, &str); 5] = [
    (
        "index.yaml",
        "name: own\nversion: 1.0.0\ndefault_workflow: main\nmodels: { aliases: { gpt-4: \"script:replies.yaml\" } }\n",
    ),
    (
        "workflows/main.yaml",
        "id: main\nphases:\n  - { id: write, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }\n  - { id: done, terminal: true }\ntransitions: [ { from: write, to: done } ]\n",
    ),
    (
        "contracts/note.yaml",
        "id: note\nversion: 1.0.0\nschema: { type: object, required: [note], properties: { note: { type: string } } }\n",
    ),
    (
        "skills/markdown/SKILL.md",
        "---\nname: markdown\ndescription: How we write Markdown.\n---\n\nOne sentence a line.\n",
    ),
    (
        "agents/writer.yaml",
        "id: writer\ndescription: writes\nprompt: You write notes.\nmodel: override\nmodel_config: { name: gpt-4, temperature: 0.3 }\nskills: [markdown]\n",
    ),
];

/// An agent that no phase uses, with a tool and a skill that only a coding agent has.
const TRANSLATOR: &str = "id: translator\ndescription: translates\nprompt: You translate.\nmodel: override\nmodel_config: { name: gpt-4 }\ntools: replace\ntools_list: [read, bash]\nskills: [markdown, pdf]\nrules: [style]\n";

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let protocol = folder.path().join(".opencode/protocol");
    let more = [("agents/translator.yaml", TRANSLATOR), ("rules/style.md", "Be short.\n")];
    for (path, text) in FILES.into_iter().chain(more) {
        let path = protocol.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // A folder of a skill may hold anything; only its text is read.
    fs::write(protocol.join("skills/markdown/logo.png"), [0x89, 0xff, 0x00]).unwrap();
    let replies = "phases:\n  write:\n    - reply: { tool_calls: [ { tool: skill, name: markdown } ] }\n    - reply: { note: Written. }\n";
    fs::write(folder.path().join("replies.yaml"), replies).unwrap();
    folder
}

fn call(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env("COUNTERSIGN_USER", "anna")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = call(folder, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn an_agent_that_no_phase_uses_is_shown_as_it_is_resolved() {
    let folder = project();
    let shown = json_of(folder.path(), &["agent", "show", "translator"]);
    assert_eq!(shown["prompt"], "You translate.");
    assert_eq!(
        (&shown["model"], &shown["model_name"]),
        (&json!("script:replies.yaml"), &json!("gpt-4"))
    );
    assert_eq!((&shown["tools"], &shown["foreign_tools"]), (&json!(["read"]), &json!(["bash"])));
    let skills = json!([
        { "name": "markdown", "description": "How we write Markdown.", "text": null },
        { "name": "pdf", "description": null, "text": null },
    ]);
    assert_eq!(shown["skills"], skills);
    assert_eq!(shown["rules"][0]["text"], "Be short.\n");
    assert_eq!(shown["phases"], json!([]));

    let read = json_of(folder.path(), &["agent", "show", "translator", "--skill", "markdown"]);
    assert_eq!(read["skills"][0]["text"], "One sentence a line.");
    let (_, text, _) = call(folder.path(), &["agent", "show", "translator", "--skill", "markdown"]);
    assert_eq!(text, "One sentence a line.\n");
    let (_, text, _) = call(folder.path(), &["agent", "show", "translator"]);
    for part in ["script:replies.yaml (named gpt-4)", "bash (of a coding agent)", "## Rule: style"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, _, said) = call(folder.path(), &["agent", "show", "translater"]);
    assert_eq!(code, 2);
    assert!(said.contains("did you mean `translator`?"), "{said}");
    let (code, _, said) = call(folder.path(), &["agent", "show", "translator", "--skill", "pdf"]);
    assert_eq!(code, 2, "{said}");

    let listed = json_of(folder.path(), &["agent", "list"]);
    let writer = listed.as_array().unwrap().iter().find(|one| one["id"] == "writer").unwrap();
    assert_eq!(writer["phases"], json!(["main/write"]));
}

#[test]
fn what_only_a_coding_agent_has_is_a_warning_until_a_phase_uses_the_agent() {
    let folder = project();
    let (code, _, said) = call(folder.path(), &["check"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("warning[unknown_tool]: no tool `bash`"), "{said}");
    assert!(said.contains("warning[unknown_skill]: no skill `pdf`"), "{said}");
    let workflow = folder.path().join(".opencode/protocol/workflows/main.yaml");
    let used = fs::read_to_string(&workflow).unwrap().replace("agent: writer", "agent: translator");
    fs::write(&workflow, used).unwrap();
    let (code, _, said) = call(folder.path(), &["check"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("error[unknown_tool]: no tool `bash`"), "{said}");
}

#[test]
fn a_model_behind_an_alias_reads_a_skill_and_replies() {
    let folder = project();
    let run = json_of(folder.path(), &["run"]);
    assert_eq!(
        (&run["status"], &run["document"]["note"]),
        (&json!("completed"), &json!("Written."))
    );
    let history = call(folder.path(), &["history", "--full"]).1;
    assert!(history.contains("One sentence a line."), "what was read is in the log: {history}");
    let (code, _, said) = call(folder.path(), &["replay", "--verify"]);
    assert_eq!(code, 0, "{said}");
    let again = json_of(folder.path(), &["run", "--model", "gpt-4"]);
    assert_eq!(again["status"], "completed", "a caller may use the name too: {again}");
}
