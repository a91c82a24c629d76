//! How runs begin, with the real program: what they are given, which protocol is meant, what the log
//! calls what an author announces.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use countersign_shipped_protocols::SHIPPED_PROTOCOLS;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Exit code, standard output and standard error of the program in a folder.
fn countersign(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for variable in [
        "COUNTERSIGN_MODEL",
        "CLICOLOR_FORCE",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
    ] {
        command.env_remove(variable);
    }
    let output = command.env("COUNTERSIGN_USER", "ann").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The same for what must go well; its standard output as JSON.
#[track_caller]
fn does(folder: &Path, arguments: &[&str]) -> Value {
    let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let (code, out, err) = countersign(folder, &with_json);
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    serde_json::from_str(&out).unwrap()
}

/// What is said to a command that must fail with this code.
#[track_caller]
fn fails(folder: &Path, expected: i32, arguments: &[&str]) -> String {
    let (code, out, err) = countersign(folder, arguments);
    assert_eq!(code, expected, "{arguments:?}: {out}{err}");
    err
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const INDEX: &str = "name: own\nversion: 1.0.0\ndefault_workflow: main\n";

/// A folder of work with a protocol `own` of these workflows.
fn project(workflows: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ".opencode/protocol/index.yaml", INDEX);
    for (name, text) in workflows {
        write(folder.path(), &format!(".opencode/protocol/workflows/{name}.yaml"), text);
    }
    folder
}

const ASKS: &str =
    "phases: [ { id: only, ask: { question: Well?, deadline: 1d } } ]\ntransitions: []\n";

#[test]
fn a_run_is_given_what_its_workflow_takes() {
    let runs = "workflows:
  main: { input: { apply: { set: /title } } }
  order:
    input:
      question: What and how many?
      answer: { type: object, required: [title], properties: { title: { type: string }, count: { type: integer } } }
      apply: [ { merge: '' }, { emit: { event: ORDERED, data: reply.title } } ]
";
    let project = project(&[
        ("main", &format!("id: main\n{ASKS}")),
        ("order", &format!("id: order\n{ASKS}")),
        ("plain", &format!("id: plain\n{ASKS}")),
    ]);
    let project = project.path();
    write(project, ".opencode/protocol/index.yaml", &format!("{INDEX}{runs}"));
    assert_eq!(does(project, &["run", "--input", "a text"])["document"]["title"], "a text");
    // A text is a text, whatever it looks like.
    assert_eq!(does(project, &["run", "--input", "12"])["document"]["title"], "12");
    write(project, "goal.txt", "from a file\n");
    assert_eq!(
        does(project, &["run", "--input", "@goal.txt"])["document"]["title"],
        "from a file\n"
    );
    let said = fails(project, 1, &["run", "--input", ""]);
    assert!(said.contains("its input was refused"), "{said}");
    let said = fails(project, 3, &["run", "--input", "@nowhere"]);
    assert!(said.contains("nowhere"), "{said}");

    let input = r#"{"title": "apples", "count": 2}"#;
    let run = does(project, &["run", "order", "--input", input]);
    assert_eq!(
        (&run["document"]["title"], &run["document"]["count"]),
        (&json!("apples"), &json!(2))
    );
    write(project, "order.json", input);
    let run = does(project, &["run", "order", "--input", "@order.json"]);
    assert_eq!(run["document"]["count"], 2);
    let (_, history, _) = countersign(project, &["history"]);
    assert!(history.contains("started by ann with {\"title\":\"apples\""), "{history}");
    assert!(history.contains("ORDERED \"apples\""), "{history}");
    let said = fails(project, 1, &["run", "order", "--input", "apples"]);
    assert!(said.contains("expected an object, found \"apples\""), "{said}");
    // Nobody sits at the terminal, so the question is not asked, and the run may begin without.
    assert!(does(project, &["run", "order"])["document"].get("title").is_none());

    let run = does(project, &["run", "plain", "--input", r#"{"note": "merged"}"#]);
    assert_eq!(run["document"]["note"], "merged");
    let said = fails(project, 1, &["run", "plain", "--input", "a text"]);
    assert!(said.contains("workflow `plain` declares no `input`"), "{said}");
    let said = fails(project, 2, &["run", "oder", "--input", "x"]);
    assert!(said.contains("did you mean `order`?"), "{said}");
    does(project, &["replay", "--verify", "--all"]);
}

/// A state file can be written by anybody: it does not lead past an approval.
#[test]
fn a_state_file_does_not_lead_past_an_approval() {
    let main = "id: main
phases:
  - { id: check }
  - { id: pay, do: { write: { path: paid.txt, content: state.amount } } }
  - { id: denied, terminal: true }
  - { id: done, terminal: true }
transitions:
  - { from: check, to: pay, gate: { type: manual, who: anna, deadline: 1d } }
  - { from: check, to: denied, after: denied }
  - { from: pay, to: done }
";
    let runs = "workflows: { main: { document: { engine: { workflow: /workflow, phase: /phase, status: /status } } } }\n";
    let project = project(&[("main", main)]);
    let project = project.path();
    write(project, ".opencode/protocol/index.yaml", &format!("{INDEX}{runs}"));
    let state = |phase: &str| {
        let state =
            json!({ "workflow": "main", "phase": phase, "status": "running", "amount": "9000" });
        write(project, ".opencode/state/current.json", &state.to_string());
    };
    state("pay");
    let said = fails(project, 1, &["run"]);
    assert!(said.contains("phase `pay` is entered only by an approval"), "{said}");
    assert!(!project.join("paid.txt").exists());
    assert_eq!(does(project, &["list"]), json!([]));
    state("check");
    let run = does(project, &["run"]);
    assert_eq!((&run["phase"], &run["status"]), (&json!("check"), &json!("waiting")));
}

#[test]
fn state_files_follow_the_document_of_the_workflow() {
    let main = "id: main\nphases: [ { id: first }, { id: second, ask: { question: Well?, deadline: 1d } } ]\ntransitions: [ { from: first, to: second } ]\n";
    let runs = "workflows: { main: { document: { contract: sheet, engine: { workflow: /meta/flow, phase: /meta/phase, status: /meta/status } } } }\n";
    let project = project(&[("main", main)]);
    let project = project.path();
    write(project, ".opencode/protocol/index.yaml", &format!("{INDEX}{runs}"));
    write(
        project,
        ".opencode/protocol/contracts/sheet.yaml",
        "id: sheet\nversion: 1.0.0\nschema: { type: object, properties: { meta: { type: object }, note: { type: string } } }\n",
    );
    let state = json!({ "meta": { "flow": "main", "phase": "second", "status": "waiting" }, "note": "kept" });
    write(project, ".opencode/state/current.json", &state.to_string());
    let run = does(project, &["run"]);
    assert_eq!((&run["phase"], &run["document"]["note"]), (&json!("second"), &json!("kept")));
    let text = fs::read_to_string(project.join(".opencode/state/current.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), run["document"]);
}

#[test]
fn a_protocol_that_ships_runs_without_a_copy() {
    let project = tempfile::tempdir().unwrap();
    let project = project.path();
    let said = fails(project, 2, &["run", "none"]);
    assert!(said.contains("no protocol at"), "{said}");
    let run = does(project, &["run", "ralph", "--input", "a goal", "--model", "human"]);
    assert_eq!(run["document"]["input"], "a goal");
    assert!(!project.join(".opencode").exists());
    assert!(project.join(".countersign/countersign.db").is_file());
    assert_eq!(does(project, &["status"])["protocol"]["folder_changed"], Value::Null);
    does(project, &["replay", "--verify"]);
}

#[test]
fn whoever_names_no_model_is_told_what_to_do() {
    for shipped in SHIPPED_PROTOCOLS {
        let project = tempfile::tempdir().unwrap();
        let (project, name) = (project.path(), shipped.name);
        let said = fails(project, 2, &["run", name]);
        assert!(
            said.starts_with(&format!("error: `{name}` needs a model, but none is configured\n"))
        );
        for way in ["--model openai:NAME", "OPENAI_API_KEY", "COUNTERSIGN_MODEL", "--model human"] {
            assert!(said.contains(way), "{name}: {said}");
        }
        // The way without a model is walked.
        let offline = said.split("then `countersign ").nth(1).unwrap().split('`').next().unwrap();
        does(project, &["init", name]);
        let arguments: Vec<&str> = offline.split(' ').collect();
        let status = does(project, &arguments)["status"].clone();
        assert!(["completed", "waiting"].contains(&status.as_str().unwrap()), "{name}: {status}");
    }
}

#[test]
fn whoever_gives_nothing_is_told_what_is_asked() {
    let project = tempfile::tempdir().unwrap();
    does(project.path(), &["init", "answer"]);
    let said = fails(project.path(), 1, &["run", "--detach"]);
    let question = "\n  provide it with `--input`: What do you want to know?\n";
    assert!(said.contains(question), "{said}");
    let (code, out, _) = countersign(project.path(), &["run", "--json"]);
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["errors"][0]["code"], "cannot_start", "{report}");
}

#[test]
fn a_folder_comes_before_what_ships() {
    let own = project(&[("main", &format!("id: main\n{ASKS}"))]);
    let project = own.path();
    does(project, &["run"]);
    let ours = fs::read_to_string(project.join(".opencode/state/current.json")).unwrap();
    let run = does(project, &["run", "ralph", "--input", "a goal", "--model", "human"]);
    assert_eq!(run["phase"], "decompose");
    assert_eq!(does(project, &["status"])["protocol"]["folder_changed"], Value::Null);
    // The state files beside the folder's protocol are those of its own runs.
    let after = fs::read_to_string(project.join(".opencode/state/current.json")).unwrap();
    assert_eq!(after, ours);
    let named = ["run", "ralph", "--protocol", ".opencode/protocol", "--model", "human"];
    let said = fails(project, 2, &named);
    assert!(said.contains("no workflow `ralph`"), "{said}");
    write(project, ".opencode/protocol/workflows/ralph.yaml", &format!("id: ralph\n{ASKS}"));
    assert_eq!(does(project, &["run", "ralph"])["phase"], "only");
}

#[test]
fn a_fork_inherits_tickets_and_a_state_file_brings_none() {
    let main = "id: main
phases:
  - { id: plan, issues: plan, ask: { question: Plan?, deadline: 1d } }
  - { id: draft, needs: plan, ask: { question: Draft?, deadline: 1d } }
transitions: [ { from: plan, to: draft } ]
";
    let own = project(&[("main", main)]);
    let project = own.path();
    let run = does(project, &["run"])["run"].as_str().unwrap().to_owned();
    does(project, &["answer", &run, "yes"]);
    assert_eq!(does(project, &["status", &run])["tickets"], json!(["plan"]));
    let (_, history, _) = countersign(project, &["history", &run]);
    assert!(history.contains("ticket issued: plan"), "{history}");
    let fork = does(project, &["fork", &run, "--at-version", "2", "--detach"]);
    let fork = fork["run"].as_str().unwrap();
    assert_eq!(does(project, &["show", fork, "--state"])["tickets"], json!(["plan"]));
    does(project, &["replay", "--verify", "--all"]);

    fs::remove_dir_all(project.join(".countersign")).unwrap();
    let state = json!({ "workflow": "main", "phase": "draft", "status": "waiting" });
    write(project, ".opencode/state/current.json", &state.to_string());
    let said = fails(project, 1, &["run"]);
    assert!(said.contains("phase `draft` needs the ticket `plan`"), "{said}");
}

#[test]
fn every_protocol_that_ships_can_be_copied() {
    for shipped in SHIPPED_PROTOCOLS {
        let project = tempfile::tempdir().unwrap();
        does(project.path(), &["init", shipped.name]);
        assert_eq!(does(project.path(), &["check"])["errors"], 0, "{}", shipped.name);
    }
}

#[test]
fn an_unknown_template_is_answered_with_the_nearest_one() {
    let project = tempfile::tempdir().unwrap();
    let said = fails(project.path(), 2, &["init", "expanse"]);
    assert!(said.contains("did you mean `expense`?"), "{said}");
    assert!(said.contains("countersign init --list"), "{said}");
}

const AGENT: &str = "phases:
  - { id: work, agent: worker, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [ { from: work, to: done } ]
";

/// A project whose workflow calls a model.
fn project_with_agent() -> TempDir {
    let folder = project(&[("main", &format!("id: main\n{AGENT}"))]);
    let agent = "id: worker\ndescription: works\nbase: fixer\n";
    write(folder.path(), ".opencode/protocol/agents/worker.yaml", agent);
    let contract = "id: note\nversion: 1.0.0\nschema: { type: object, required: [note], properties: { note: { type: string } } }\n";
    write(folder.path(), ".opencode/protocol/contracts/note.yaml", contract);
    folder
}

#[test]
fn a_model_that_does_not_exist_starts_no_run() {
    let project = project_with_agent();
    let project = project.path();
    for (model, reason) in [
        ("openia:gpt", "no provider `openia`"),
        ("gpt", "`gpt` does not name a provider"),
        ("gemini:pro", "`gemini` needs a key; set `GEMINI_API_KEY`"),
        ("script:nowhere.yaml", "cannot read the script `nowhere.yaml`"),
    ] {
        let said = fails(project, 2, &["run", "--model", model]);
        assert!(said.contains(reason), "{said}");
        assert_eq!(said.matches(reason).count(), 1, "it is said once: {said}");
        let (_, out, _) = countersign(project, &["run", "--model", model, "--json"]);
        assert!(!out.contains("\"run\""), "{out}");
    }
    assert_eq!(does(project, &["list"]), json!([]));
    assert_eq!(does(project, &["inbox"]), json!([]));
    // Workers have keys and scripts of their own, but no provider of another name.
    let said = fails(project, 2, &["run", "--queue", "--model", "openia:gpt"]);
    assert!(said.contains("no provider `openia`"), "{said}");
    does(project, &["run", "--queue", "--model", "gemini:pro"]);
    // What the protocol names is checked in the same way.
    let agent = "id: worker\ndescription: works\nbase: fixer\nmodel: override\nmodel_config: { name: \"anthropic:claude\" }\n";
    write(project, ".opencode/protocol/agents/worker.yaml", agent);
    let said = fails(project, 2, &["run"]);
    assert!(said.contains("set `ANTHROPIC_API_KEY`"), "{said}");
    assert_eq!(does(project, &["list"]).as_array().unwrap().len(), 1, "only the queued run");
}

#[test]
fn a_run_goes_on_with_another_model() {
    let project = project_with_agent();
    let project = project.path();
    write(project, "bad.yaml", "phases: { work: [ { reply: { other: 1 } } ] }\n");
    let good = "      - { reply: { note: second } }\n".repeat(8);
    write(project, "good.yaml", &format!("phases:\n  work:\n{good}"));
    let run = does(project, &["run", "--model", "script:bad.yaml", "--detach"]);
    assert_eq!(run["status"], "waiting", "{run}");
    let run = run["run"].as_str().unwrap().to_owned();
    let said = fails(project, 2, &["run", "--resume", &run, "--model", "openia:gpt"]);
    assert!(said.contains("no provider `openia`"), "{said}");
    let said = fails(project, 2, &["run", "--resume", &run, "--model", "gemini:pro"]);
    assert!(said.contains("set `GEMINI_API_KEY`"), "{said}");
    let done = does(project, &["run", "--resume", &run, "--model", "script:good.yaml", "--detach"]);
    assert_eq!(
        (&done["status"], &done["document"]["note"]),
        (&json!("completed"), &json!("second"))
    );
    let (_, history, _) = countersign(project, &["history", &run]);
    assert!(history.contains("ann selected model script:good.yaml for the run"), "{history}");
    does(project, &["replay", "--verify", &run]);
    let said = fails(project, 1, &["run", "--resume", &run, "--model", "human"]);
    assert!(said.contains("the run has ended: completed"), "{said}");
    // A denial that ends the run is recorded as it was asked for.
    let other = does(project, &["run", "--model", "script:bad.yaml", "--detach"]);
    let other = other["run"].as_str().unwrap();
    does(project, &["deny", other]);
    assert_eq!(does(project, &["status", other])["status"], "failed");
    // The same key for another run is a mistake of the caller.
    does(project, &["run", "--model", "human", "--detach", "--idempotency-key", "k"]);
    let other = ["run", "--model", "script:good.yaml", "--detach", "--idempotency-key", "k"];
    let said = fails(project, 1, &other);
    assert!(said.contains("the idempotency key was already used for another input"), "{said}");
}

#[test]
fn the_only_open_wait_needs_no_name() {
    let asks = "id: main\nphases:\n  - { id: only, ask: { question: Well?, apply: { set: /said } } }\n  - { id: sure }\n  - { id: done, terminal: true }\ntransitions:\n  - { from: only, to: sure }\n  - { from: sure, to: done, gate: { type: manual, description: Sure? } }\n";
    let project = project(&[("main", asks)]);
    let project = project.path();
    let said = fails(project, 2, &["approve"]);
    assert!(said.contains("nothing of this kind is waiting"), "{said}");
    let run = does(project, &["run", "--detach"])["run"].as_str().unwrap().to_owned();
    let (_, inbox, _) = countersign(project, &["inbox"]);
    assert!(inbox.contains(&format!("countersign answer {run}/w1 'your answer'")), "{inbox}");
    let said = fails(project, 2, &["answer", &run]);
    assert!(said.contains("provide an answer"), "{said}");
    let said = fails(project, 2, &["answer", "zzzzz9"]);
    assert!(said.contains("provide an answer"), "a mistyped run is no answer: {said}");
    does(project, &["answer", "very well"]);
    assert_eq!(does(project, &["show", &run])["said"], "very well");
    does(project, &["approve"]);
    assert_eq!(does(project, &["status", &run])["status"], "completed");
    // A denial that ends the run is what was asked for.
    does(project, &["run", "--detach"]);
    let second = does(project, &["run", "--detach"])["run"].as_str().unwrap().to_owned();
    let said = fails(project, 2, &["answer", "well"]);
    assert!(said.contains("several waits are open; name one of them"), "{said}");
    does(project, &["answer", &second, "well"]);
    does(project, &["deny", "--note", "no"]);
}
