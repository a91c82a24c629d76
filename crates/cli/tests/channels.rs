//! Channels from the command line: deliveries of a real run, received by programs of others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod test_project;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use test_project::TestProject;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

const INDEX: &str = "name: pay
version: 1.0.0
default_workflow: main
document: { initial: { amount: 10 } }
channels:
  desk: { on: [wait_opened, wait_closed, run_ended], subject: true }
  mail: { on: [wait_opened, run_ended] }
";

const MAIN: &str = "id: main
phases:
  - { id: check }
  - { id: done, terminal: true }
transitions:
  - { from: check, to: done, gate: { type: manual, description: 'Pay {{ state.amount }}?', who: ann, deadline: 1h, subject: [/amount] } }
";

/// The receivers of a foreign library and a foreign mail server.
struct Receivers {
    process: Child,
    lines: BufReader<ChildStdout>,
    http: u64,
    smtp: u64,
}

impl Receivers {
    fn start(python: &std::ffi::OsStr) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/channels/receiver.py");
        let mut process =
            Command::new(python).args([script, SECRET]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let ports = read_line(&mut lines);
        let (http, smtp) = (ports["http"].as_u64().unwrap(), ports["smtp"].as_u64().unwrap());
        Self { process, lines, http, smtp }
    }

    fn next(&mut self) -> Value {
        read_line(&mut self.lines)
    }
}

impl Drop for Receivers {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn read_line(lines: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("the receivers ended: {line}"))
}

/// A folder with a protocol that names two channels, and with settings that define them.
fn project(settings: &str) -> TestProject {
    let project = TestProject::new();
    project.write(".opencode/protocol/index.yaml", INDEX);
    project.write(".opencode/protocol/workflows/main.yaml", MAIN);
    project.write("secrets/new", &format!("{OTHER_SECRET}\n"));
    project.write("countersign.toml", settings);
    project
}

fn settings(http: u64, smtp: u64) -> String {
    format!(
        r#"public_url = "https://countersign.example/"
[channels.desk]
kind = "webhook"
url = "http://127.0.0.1:{http}/hooks/desk?key=hidden"
secret = {{ file = "secrets/new" }}
previous_secret = {{ env = "DESK_SECRET" }}
[channels.mail]
kind = "email"
server = "127.0.0.1:{smtp}"
encryption = "none"
from = "Countersign <bot@example.org>"
to = ["ann@example.org", "bob@example.org"]
"#
    )
}

/// Runs the program; returns its exit code, standard output and standard error.
fn call(project: &TestProject, arguments: &[&str]) -> (i32, String, String) {
    let output = project.command(arguments).env("DESK_SECRET", SECRET).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_foreign_verifier_and_a_foreign_mail_server_take_deliveries() {
    let Some(python) = std::env::var_os("COUNTERSIGN_TEST_RECEIVERS") else {
        testkit::report_not_run(
            "channels: foreign receivers",
            "no Python packages to receive with",
        );
        return;
    };
    let mut receivers = Receivers::start(&python);
    let project = project(&settings(receivers.http, receivers.smtp));
    let (code, _, errors) = call(&project, &["trust", "--yes"]);
    assert_eq!(code, 0, "{errors}");
    let (code, _, errors) = call(&project, &["run"]);
    assert_eq!(code, 0, "{errors}");
    let (mut hook, mut mail) = (receivers.next(), receivers.next());
    if hook.get("event").is_none() {
        std::mem::swap(&mut hook, &mut mail);
    }
    assert_eq!((&hook["forged"], &hook["path"]), (&json!(false), &json!("/hooks/desk?key=hidden")));
    let event = &hook["event"];
    assert_eq!(event["type"], "wait_opened");
    assert_eq!(event["id"], hook["id"]);
    let wait = &event["data"]["wait"];
    assert_eq!(wait["question"], "Pay 10?");
    assert_eq!(wait["who"], json!(["ann"]));
    assert_eq!(wait["parts"], json!([{ "pointer": "/amount", "value": 10 }]));
    let run = event["data"]["run"].as_str().unwrap();
    assert_eq!(event["data"]["link"], format!("https://countersign.example/runs/{run}"));

    assert_eq!(mail["to"], json!(["ann@example.org", "bob@example.org"]));
    assert_eq!(mail["subject"], format!("Run {run} needs an approval"));
    assert_eq!(mail["auto"], "auto-generated");
    let text = mail["text"].as_str().unwrap().replace("\r\n", "\n");
    assert!(text.contains("\n> Pay 10?\n"), "{text}");
    assert!(text.contains(&format!("\nhttps://countersign.example/runs/{run}\n")), "{text}");
    assert!(!text.contains("/amount"), "the mail channel asks for no subject: {text}");
    assert!(mail["message_id"].as_str().unwrap().ends_with("@example.org>"), "{mail}");

    let (code, _, errors) = call(&project, &["approve", run]);
    assert_eq!(code, 0, "{errors}");
    let rest = [receivers.next(), receivers.next(), receivers.next()];
    let mut kinds: Vec<&str> =
        rest.iter().filter_map(|one| one["event"]["type"].as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["run_ended", "wait_closed"]);
    let closed = rest.iter().find(|one| one["event"]["type"] == "wait_closed").unwrap();
    let outcome = &closed["event"]["data"]["wait"]["resolution"];
    assert_eq!((&outcome["outcome"], &outcome["by"]), (&json!("approved"), &json!("ann")));
    let ended = rest.iter().find(|one| one["subject"].is_string()).unwrap();
    assert_eq!(ended["subject"], format!("Run {run} completed"));

    let (_, history, _) = call(&project, &["history"]);
    assert_eq!(history.matches("the delivery was accepted").count(), 5, "{history}");
    let (code, _, errors) = call(&project, &["channel", "test", "desk"]);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("accepted: status 204"), "{errors}");
    assert_eq!(receivers.next()["event"]["data"]["wait"]["id"], "w1");
    let (code, _, errors) = call(&project, &["replay", "--verify"]);
    assert_eq!(code, 0, "{errors}");
}

#[test]
fn settings_that_came_with_a_folder_deliver_nothing_until_they_are_trusted() {
    let project = project(&settings(9, 9));
    let (code, list, errors) = call(&project, &["channel", "list"]);
    assert_eq!(code, 0, "{errors}");
    assert!(list.contains("desk") && list.contains("http://127.0.0.1:9"), "{list}");
    assert!(!list.contains("hidden") && !list.contains("whsec"), "{list}");
    assert!(errors.contains("nothing is delivered"), "{errors}");
    let (code, _, errors) = call(&project, &["channel", "test", "desk"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("review them with `countersign trust`"), "{errors}");
    let (_, _, errors) = call(&project, &["run"]);
    assert!(errors.contains("delivery failed, retrying later"), "{errors}");
    let (code, out, errors) = call(&project, &["trust", "--yes"]);
    assert_eq!(code, 0, "{errors}");
    let shown = format!("{out}{errors}");
    assert!(shown.contains("channel desk: webhook to http://127.0.0.1:9 with a secret"), "{shown}");
    // Port 9 has no receiver: the system fails, not the caller.
    let (code, _, errors) = call(&project, &["channel", "test", "desk"]);
    assert_eq!(code, 3, "{errors}");
    assert!(!errors.contains("hidden"), "{errors}");
    let (code, _, errors) = call(&project, &["channel", "test", "nobody"]);
    assert_eq!(code, 2);
    assert!(errors.contains("no channel `nobody` is defined; defined: desk, mail"), "{errors}");
    let (_, doctor, _) = call(&project, &["doctor"]);
    assert!(doctor.contains("channel mail: email to 127.0.0.1:9"), "{doctor}");
}

#[test]
fn a_channel_that_cannot_be_used_says_what_is_missing() {
    let project = project(&settings(9, 9));
    call(&project, &["trust", "--yes"]);
    project.write("secrets/new", "short");
    let (code, _, errors) = call(&project, &["channel", "test", "desk"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("expected `whsec_` followed by 24 to 64 bytes"), "{errors}");
    let output = project.command(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(doctor.contains("environment variable `DESK_SECRET` is not set"), "{doctor}");
    project.write("countersign.toml", "[channels.desk]\nkind = \"webhook\"\nurl = \"x\"\n");
    let (code, _, errors) = call(&project, &["channel", "list"]);
    assert_eq!(code, 2);
    assert!(errors.contains("[channels.desk]: a webhook needs a `secret`"), "{errors}");
}
