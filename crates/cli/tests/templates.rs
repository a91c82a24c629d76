//! Every template that has a README runs to its end with its scripted replies and the commands that the
//! README shows.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Runs the program in a folder; what it prints as JSON. It must end with 0.
#[track_caller]
fn does(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).arg("--json").current_dir(folder).stdin(Stdio::null());
    for variable in ["COUNTERSIGN_MODEL", "COUNTERSIGN_USER", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    let output = command.env("XDG_CONFIG_HOME", folder.join("settings")).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {out}{err}");
    serde_json::from_str(&out).unwrap()
}

/// Copies a template, starts a run with these arguments, takes the steps, and looks where it ends.
/// `RUN` in a step is the id of the run, and `@FILE` the content of a file.
fn template_ends(name: &str, start: &[&str], steps: &[&[&str]], end: &str) {
    let project = tempfile::tempdir().unwrap();
    let project = project.path();
    does(project, &["init", name]);
    assert_eq!(does(project, &["check", "--strict"])["warnings"], 0, "{name}");
    let begin: Vec<&str> = ["run", "--detach"].into_iter().chain(start.iter().copied()).collect();
    let run = does(project, &begin)["run"].as_str().unwrap().to_owned();
    for step in steps {
        let filled: Vec<String> = step
            .iter()
            .map(|argument| match argument.strip_prefix('@') {
                Some(file) => fs::read_to_string(project.join(file)).unwrap(),
                None => argument.replace("RUN", &run),
            })
            .collect();
        does(project, &filled.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let status = does(project, &["status", &run]);
    assert_eq!(status["status"], "completed", "{name}: {status}");
    assert_eq!(status["phase"], end, "{name}: {status}");
    does(project, &["replay", &run, "--verify"]);
}

#[test]
fn blank_answers() {
    template_ends("blank", &["--input", "@examples/request.txt"], &[], "done");
}

#[test]
fn expense_pays_a_small_claim_at_once() {
    let start = ["--input", "@examples/small.txt", "--model", "script:replies/small.yaml"];
    template_ends("expense", &start, &[], "paid");
}

#[test]
fn expense_pays_a_large_claim_after_a_denial() {
    template_ends(
        "expense",
        &["--input", "@examples/claim.txt"],
        &[
            &["deny", "RUN", "--as", "manager", "--note", "The dinner was paid by the supplier."],
            &["answer", "RUN", "Leave out the dinner. The total is 487.80 EUR."],
            &["delegate", "RUN", "--to", "deputy", "--as", "manager"],
            &["approve", "RUN", "--as", "deputy"],
        ],
        "paid",
    );
}

#[test]
fn triage_sends_a_reply_that_was_rewritten() {
    template_ends(
        "triage",
        &["--input", "@examples/ticket.txt"],
        &[
            &[
                "deny",
                "RUN",
                "--as",
                "support",
                "--note",
                "Say first how Ines is back before noon.",
            ],
            &["approve", "RUN", "--as", "support"],
        ],
        "done",
    );
}

#[test]
fn triage_hands_a_critical_ticket_to_a_person() {
    template_ends(
        "triage",
        &["--input", "@examples/critical.txt", "--model", "script:replies/critical.yaml"],
        &[&["answer", "RUN", "We are looking into it now.", "--as", "lead"]],
        "done",
    );
}

#[test]
fn review_asks_both_approvers_again_after_a_denial() {
    template_ends(
        "review",
        &["--input", "@examples/draft.md"],
        &[
            &["approve", "RUN", "--as", "legal"],
            &[
                "deny",
                "RUN",
                "--as",
                "finance",
                "--note",
                "Say how much the company pays for equipment.",
            ],
            &["approve", "RUN", "--as", "legal"],
            &["approve", "RUN", "--as", "finance"],
        ],
        "done",
    );
}

#[test]
fn change_is_approved_after_a_denial() {
    template_ends(
        "change",
        &["--input", "@examples/request.txt"],
        &[
            &["answer", "RUN", "It gets the slug `untitled`."],
            &["answer", "RUN", "@examples/red.json", "--as", "ci"],
            &["answer", "RUN", "@examples/green.json", "--as", "ci"],
            &["deny", "RUN", "--as", "maintainer", "--note", "The docstring is too short."],
            &["answer", "RUN", "@examples/green.json", "--as", "ci"],
            &["approve", "RUN", "--as", "maintainer"],
        ],
        "done",
    );
}
