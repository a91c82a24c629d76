//! Tools of MCP servers: listed once, checked, called under ids that stay, and never trusted to end,
//! to be short, or to stay the same.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use countersign_models::ModelSettings;
use countersign_run::{ExecutionStatus, InputKind, RunEvent};
use countersign_runtime::driver::{CachedModelResolver, Driver, EffectExecutor, IdleReason};
use countersign_runtime::effect::EffectJournal;
use countersign_runtime::engine::Engine;
use countersign_runtime::trust::{ActionGuard, AllowList, ProtocolPermissions};
use countersign_runtime::workspace::Workspace;
use serde_json::{Value, json};
use testkit::report_not_run;

use crate::rig::{Kind, TestApp};

/// A protocol whose agent calls `calc.add` once with a wrong argument and then with a right one.
const USES: &str = r#"--- index.yaml
name: uses
version: 1.0.0
default_workflow: main
models: { default: "script:script.yaml" }
policy:
  mcp:
    calc: SERVER
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string } } }
--- agents/worker.yaml
id: worker
description: works
base: fixer
tools: replace
tools_list: [calc.*]
--- workflows/main.yaml
id: main
phases:
  - { id: use, agent: worker, contract: note, writes: [/note], apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: use, to: done }]
--- work/script.yaml
SCRIPT
"#;

const WRONG_THEN_RIGHT: &str = r#"
- reply: { tool_calls: [ { tool: calc.add, arguments: { n: "one" } } ] }
- reply: { tool_calls: [ { tool: calc.add, arguments: { n: 1 } }, { tool: calc.image, arguments: {} } ] }
- reply: { note: all done }
"#;

const TWO_ROUNDS: &str = r"
- reply: { tool_calls: [ { tool: calc.add, arguments: { n: 1 } } ] }
- reply: { tool_calls: [ { tool: calc.add, arguments: { n: 2 } } ] }
- reply: { note: all done }
";

/// The Python interpreter itself: a wrapper would need environment variables.
static PYTHON: LazyLock<Option<String>> = LazyLock::new(|| {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = String::from_utf8(found.ok()?.stdout).ok()?;
    Some(path.trim().to_owned()).filter(|path| !path.is_empty())
});

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/mcp_server.py")
}

fn app_with(kind: Kind, server: &Value, script: &str) -> TestApp {
    let text = USES.replace("SERVER", &server.to_string()).replace("SCRIPT", script);
    TestApp::new(kind, &text)
}

/// An app whose server is this script in a mode; `None` without Python.
fn stdio_app(
    test: &str,
    kind: Kind,
    mode: &str,
    timeout: &str,
    script_text: &str,
) -> Option<TestApp> {
    let Some(python) = &*PYTHON else {
        report_not_run(test, "python3 is not installed");
        return None;
    };
    let command = json!([python, script(), mode]);
    Some(app_with(kind, &json!({ "command": command, "timeout": timeout }), script_text))
}

/// Drives a run until it rests; retries become due at once.
async fn drive_until_idle(app: &TestApp, engine: &Arc<Engine>, run: &str) -> IdleReason {
    let driver = app.driver(engine, "w");
    loop {
        match driver.drive(run).await.unwrap() {
            IdleReason::WaitingUntil(_) => app.clock.advance(60_000),
            other => return other,
        }
    }
}

/// Results of the calls of a run.
fn outputs(events: &[RunEvent]) -> Vec<(bool, String)> {
    let output = |event: &RunEvent| match event {
        RunEvent::InputReceived { input } => match &input.payload {
            InputKind::ToolFinished { ok, output, .. } => Some((*ok, output.clone())),
            _ => None,
        },
        _ => None,
    };
    events.iter().filter_map(output).collect()
}

/// Waits until a process has ended. Its end is an event outside, which nothing announces.
async fn wait_for_end(pid: &str) {
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    let has_ended = || {
        let text = std::fs::read_to_string(&stat).unwrap_or_default();
        text.is_empty() || text.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'))
    };
    let ended = async {
        while !has_ended() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the process was killed");
}

async fn tools_are_listed_checked_and_called(kind: Kind) {
    let test = "tools_are_listed_checked_and_called";
    let Some(app) = stdio_app(test, kind, "noise", "60s", WRONG_THEN_RIGHT) else { return };
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let idle = drive_until_idle(&app, &engine, "r1").await;
    assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed));
    let events = app.events("r1").await;
    let refused = events.iter().find_map(|event| match event {
        RunEvent::ReplyRefused { violations, .. } => violations.first(),
        _ => None,
    });
    assert_eq!(refused.unwrap().pointer, "/tool_calls/0/arguments/n");
    let image = "done\n[image, image/png, 5 bytes; not shown]".to_owned();
    assert_eq!(outputs(&events), [(true, "sum 2".to_owned()), (true, image)]);
    let requested: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::ToolRequested { action, .. } => Some(action.clone()),
            _ => None,
        })
        .collect();
    let called = app.file("calls.txt");
    let called: Vec<Value> =
        called.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(called.len(), 2, "the wrong arguments were not sent: {called:?}");
    assert_eq!((&called[0][0], &called[0][1]), (&json!("add"), &json!({ "n": 1 })));
    for (call, action) in called.iter().zip(requested) {
        assert_eq!(call[2]["dev.countersign/idempotency-key"], format!("r1/{action}"));
    }
    assert_eq!(app.file("pid.txt").lines().count(), 1, "one connection is enough for a run");
    wait_for_end(app.file("pid.txt").trim()).await;
}

/// A server that cannot be used keeps the run waiting for a person, and is not left running.
async fn check_bad_start(test: &str, mode: &str, timeout: &str, expected: &str, starts: usize) {
    let Some(app) = stdio_app(test, Kind::Memory, mode, timeout, TWO_ROUNDS) else { return };
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let idle = drive_until_idle(&app, &engine, "r1").await;
    let state = app.state("r1").await;
    let wait = state.waits.values().next().unwrap_or_else(|| panic!("{idle:?}: {state:#?}"));
    let prefix = "The tools of MCP server `calc` cannot be listed: ";
    assert!(wait.question.starts_with(prefix), "{}", wait.question);
    assert!(wait.question.contains(expected), "{}", wait.question);
    let pids = app.file("pid.txt");
    assert_eq!(pids.lines().count(), starts, "{pids}");
    for pid in pids.lines() {
        wait_for_end(pid).await;
    }
    assert_eq!(app.file("calls.txt"), "");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let expected = "no answer within 1s";
    check_bad_start("a_server_that_does_not_answer", "hang_start", "1s", expected, 3).await;
}

#[tokio::test]
async fn a_server_that_answers_others_is_given_up() {
    check_bad_start("a_server_that_answers_others", "wrong_ids", "2s", "MCP server `calc` ", 3)
        .await;
}

#[tokio::test]
async fn a_server_that_dies_at_once_says_why() {
    let expected = "it wrote: no licence found";
    check_bad_start("a_server_that_dies_at_once", "die_start", "60s", expected, 3).await;
}

#[tokio::test]
async fn a_server_that_floods_is_ended() {
    let expected = "it sent more than 16777216 bytes during one request";
    check_bad_start("a_server_that_floods", "flood_start", "60s", expected, 3).await;
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    let expected = "it sent a message of more than 4194304 bytes";
    check_bad_start("a_line_without_end", "long_line", "60s", expected, 3).await;
}

#[tokio::test]
async fn a_list_that_is_too_long_is_refused() {
    let expected = "it sent a message of more than 4194304 bytes";
    check_bad_start("a_list_that_is_too_long", "huge_list", "60s", expected, 3).await;
}

#[tokio::test]
async fn a_list_without_end_is_refused() {
    check_bad_start("a_list_without_end", "endless_list", "60s", "more than 64 pages", 1).await;
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let app = app_with(Kind::Memory, &json!({ "command": ["no-such-mcp-server"] }), TWO_ROUNDS);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    drive_until_idle(&app, &engine, "r1").await;
    let state = app.state("r1").await;
    let question = &state.waits.values().next().unwrap().question;
    assert!(
        question.contains("`no-such-mcp-server` does not exist or is not executable"),
        "{question}"
    );
}

/// A call that fails is told to the agent, which goes on.
async fn check_bad_call(test: &str, mode: &str, timeout: &str, expected: &str) {
    let Some(app) = stdio_app(test, Kind::Memory, mode, timeout, TWO_ROUNDS) else { return };
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let idle = drive_until_idle(&app, &engine, "r1").await;
    assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed));
    let outputs = outputs(&app.events("r1").await);
    assert_eq!(outputs.len(), 2);
    for (ok, output) in outputs {
        assert!(!ok && output.contains(expected), "{output}");
    }
    let children = app.file("children.txt");
    for pid in app.file("pid.txt").lines().chain(children.lines()) {
        wait_for_end(pid).await;
    }
}

#[tokio::test]
async fn a_call_that_hangs_ends_with_its_server_and_its_children() {
    let expected = "MCP server `calc` did not finish the call of `add`: no answer within 2s";
    check_bad_call("a_call_that_hangs", "hang_call", "2s", expected).await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_told() {
    let expected =
        "did not finish the call of `add`: the connection ended; it wrote: out of memory";
    check_bad_call("a_server_that_dies_in_a_call", "die_call", "60s", expected).await;
}

#[tokio::test]
async fn a_server_that_floods_in_a_call_is_ended() {
    let expected = "it sent more than 16777216 bytes during one request";
    check_bad_call("a_server_that_floods_in_a_call", "flood_call", "60s", expected).await;
}

#[tokio::test]
async fn an_error_of_the_server_is_told() {
    let expected = "did not finish the call of `add`: error -32000: the disk is full";
    check_bad_call("an_error_of_the_server", "error_call", "60s", expected).await;
}

#[tokio::test]
async fn what_a_server_asks_for_is_declined() {
    let test = "what_a_server_asks_for_is_declined";
    let Some(app) = stdio_app(test, Kind::Memory, "asks", "60s", TWO_ROUNDS) else { return };
    let engine = app.engine();
    app.start(&engine, "r1").await;
    drive_until_idle(&app, &engine, "r1").await;
    let outputs = outputs(&app.events("r1").await);
    assert_eq!(outputs[0], (true, "[true, false]".to_owned()), "no sampling; no roots");
}

#[tokio::test]
async fn a_tool_that_changes_during_a_run_is_not_called_again() {
    let test = "a_tool_that_changes_during_a_run";
    let Some(app) = stdio_app(test, Kind::Memory, "changes", "60s", TWO_ROUNDS) else { return };
    let engine = app.engine();
    app.start(&engine, "r1").await;
    drive_until_idle(&app, &engine, "r1").await;
    let outputs = outputs(&app.events("r1").await);
    assert_eq!(outputs[0], (true, "sum 2".to_owned()));
    let (ok, output) = &outputs[1];
    let expected = "`calc.add` was not called: the tool has another description or input schema";
    assert!(!ok && output.starts_with(expected), "{output}");
    assert_eq!(app.file("calls.txt").lines().count(), 1);
}

async fn tools_that_change_between_runs_are_named(kind: Kind) {
    let test = "tools_that_change_between_runs_are_named";
    let Some(app) = stdio_app(test, kind, "plain", "60s", TWO_ROUNDS) else { return };
    let engine = app.engine();
    let mut seen = Vec::new();
    for (run, file) in [("r1", None), ("r2", Some("changed")), ("r3", Some("gone")), ("r4", None)] {
        if let Some(file) = file {
            std::fs::write(app.work().join(file), "").unwrap();
        }
        app.clock.advance(1_000);
        app.start(&engine, run).await;
        drive_until_idle(&app, &engine, run).await;
        let changes = app.events(run).await.into_iter().find_map(|event| match event {
            RunEvent::McpToolsPinned { changes, .. } => {
                Some(changes.map(|changes| format!("{}: {}", changes.run, changes.describe())))
            }
            _ => None,
        });
        seen.push(changes.unwrap());
    }
    let changed = Some("r1: changed: `add`".to_owned());
    assert_eq!(seen, [None, changed, Some("r2: removed: `add`".to_owned()), None]);
}

on_both!(tools_are_listed_checked_and_called, tools_that_change_between_runs_are_named);

#[tokio::test]
async fn a_server_is_not_started_before_it_is_trusted() {
    let test = "a_server_is_not_started_before_it_is_trusted";
    let Some(app) = stdio_app(test, Kind::Memory, "plain", "60s", TWO_ROUNDS) else { return };
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let nothing_ships = |_: &str| -> Vec<ProtocolPermissions> { Vec::new() };
    let driver = |guard: ActionGuard| {
        let workspace = Workspace::open(&app.work()).unwrap();
        let journal = EffectJournal::open(&app.folder.path().join("effects")).unwrap();
        let hands = EffectExecutor::new(workspace, guard, journal, &app.work());
        let models = Arc::new(CachedModelResolver::new(ModelSettings::default(), app.work()));
        Driver::new(Arc::clone(&engine), models, hands, "w".to_owned())
    };
    let guard = ActionGuard::new(app.work(), nothing_ships);
    assert_eq!(driver(guard.clone()).drive("r1").await.unwrap(), IdleReason::Halted);
    let (_, reason) = app.state("r1").await.halted.unwrap();
    let reason = reason.unwrap();
    assert!(reason.starts_with("protocol `uses` wants to run MCP server `calc` ("), "{reason}");
    assert_eq!(app.file("pid.txt"), "");
    let listed = ProtocolPermissions::from_protocol(&app.protocol).describe();
    assert!(listed[0].starts_with("MCP server calc: "), "{listed:?}");

    let mut allow = AllowList::default();
    allow.allow_program(PYTHON.as_ref().unwrap()).unwrap();
    let (by, grants) = ("ann".to_owned(), std::collections::BTreeMap::new());
    engine.submit_input("r1", InputKind::Resumed { by, grants }, None).await.unwrap();
    let idle = driver(guard.with_allow_list(allow)).drive("r1").await.unwrap();
    assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed));
}

/// A server for HTTP that ends with the test.
struct HttpServer {
    child: Child,
    url: String,
    folder: tempfile::TempDir,
}

impl HttpServer {
    fn start(test: &str, mode: &str) -> Option<Self> {
        let Some(python) = &*PYTHON else {
            report_not_run(test, "python3 is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(python);
        command.arg(script()).args([mode, "http"]).current_dir(folder.path());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Some(Self { child, url: format!("http://127.0.0.1:{}/mcp", port.trim()), folder })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[tokio::test]
async fn a_server_is_called_over_http() {
    for mode in ["plain", "events"] {
        let Some(server) = HttpServer::start("a_server_is_called_over_http", mode) else { return };
        // Every machine that runs the tests has this variable.
        let declared = json!({ "url": server.url, "headers": { "Authorization": "PATH" } });
        let app = app_with(Kind::Memory, &declared, WRONG_THEN_RIGHT);
        let engine = app.engine();
        app.start(&engine, "r1").await;
        let idle = drive_until_idle(&app, &engine, "r1").await;
        assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed), "{mode}");
        let outputs = outputs(&app.events("r1").await);
        assert_eq!(outputs[0], (true, "sum 2".to_owned()), "{mode}");
        let headers = std::fs::read_to_string(server.folder.path().join("headers.txt")).unwrap();
        let value = std::env::var("PATH").unwrap();
        assert!(headers.lines().all(|line| line == value), "{mode}: {headers}");
        let log = engine.read_log("r1").await.unwrap();
        assert!(
            log.iter().all(|entry| !entry.body.contains(&value)),
            "the value is not in the log"
        );
    }
}

#[tokio::test]
async fn a_hostile_server_over_http_is_given_up() {
    let test = "a_hostile_server_over_http_is_given_up";
    let cases = [
        ("denied", "it answered with status 401"),
        ("redirect", "it answered with status 307"),
        ("endless_body", "it sent more than 16777216 bytes during one request"),
        ("wrong_ids", "MCP server `calc` "),
    ];
    for (mode, expected) in cases {
        let Some(server) = HttpServer::start(test, mode) else { return };
        let declared = json!({ "url": server.url, "timeout": "2s" });
        let app = app_with(Kind::Memory, &declared, TWO_ROUNDS);
        let engine = app.engine();
        app.start(&engine, "r1").await;
        drive_until_idle(&app, &engine, "r1").await;
        let state = app.state("r1").await;
        let question = &state.waits.values().next().unwrap().question;
        assert!(question.contains(expected), "{mode}: {question}");
    }
}

/// The folder with third-party servers from npm, and the path of Node.
fn foreign(test: &str) -> Option<(PathBuf, String)> {
    let Some(folder) = std::env::var_os("COUNTERSIGN_TEST_MCP_SERVERS") else {
        report_not_run(test, "no MCP server from npm; `cargo xtask foreign test` installs it");
        return None;
    };
    let node = Command::new("node").args(["-p", "process.execPath"]).output().unwrap();
    let node = String::from_utf8(node.stdout).unwrap().trim().to_owned();
    let main = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    Some((PathBuf::from(folder).join(main), node))
}

const EVERYTHING: &str = r#"
- reply: { tool_calls: [ { tool: calc.get-sum, arguments: { a: "2", b: 3 } } ] }
- reply: { tool_calls: [ { tool: calc.get-sum, arguments: { a: 2, b: 3 } }, { tool: calc.get-tiny-image, arguments: {} }, { tool: calc.echo, arguments: { message: "Grüße 谁" } } ] }
- reply: { note: all done }
"#;

async fn check_everything(server: &Value) {
    let app = app_with(Kind::Sqlite, server, EVERYTHING);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let idle = drive_until_idle(&app, &engine, "r1").await;
    let state = app.state("r1").await;
    assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed), "{:?}", state.waits);
    assert!(state.mcp_tools["calc"].tools.len() >= 10, "draft-07 schemas are enforced");
    let events = app.events("r1").await;
    let refused = events.iter().find_map(|event| match event {
        RunEvent::ReplyRefused { violations, .. } => violations.first(),
        _ => None,
    });
    assert_eq!(refused.unwrap().pointer, "/tool_calls/0/arguments/a");
    let outputs = outputs(&events);
    assert!(outputs.iter().all(|(ok, _)| *ok), "{outputs:?}");
    assert!(outputs[0].1.contains('5'), "{outputs:?}");
    assert!(outputs[1].1.contains("[image, image/png, "), "{outputs:?}");
    assert!(outputs[2].1.contains("Grüße 谁"), "{outputs:?}");
}

#[tokio::test]
async fn a_third_party_server_is_used_over_its_standard_streams() {
    let test = "a_third_party_server_is_used_over_its_standard_streams";
    let Some((main, node)) = foreign(test) else { return };
    check_everything(&json!({ "command": [node, main, "stdio"] })).await;
}

#[tokio::test]
async fn a_third_party_server_is_used_over_http() {
    let Some((main, node)) = foreign("a_third_party_server_is_used_over_http") else { return };
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = Command::new(node);
    command.arg(main).arg("streamableHttp").env("PORT", port.to_string());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line.contains("listening on port"));
    let folder = tempfile::tempdir().unwrap();
    let server = HttpServer { child, url: format!("http://127.0.0.1:{port}/mcp"), folder };
    assert!(is_ready, "the server did not start");
    check_everything(&json!({ "url": server.url })).await;
}

/// A call of a third-party tool waits for a person, who signs its exact arguments.
#[tokio::test]
async fn a_third_party_tool_is_called_under_approval() {
    let Some((main, node)) = foreign("a_third_party_tool_is_called_under_approval") else { return };
    let server = json!({ "command": [node, main, "stdio"] });
    let script = r"
- reply: { tool_calls: [ { tool: calc.get-sum, arguments: { a: 2, b: 3 } }, { tool: calc.echo, arguments: { message: hello } } ] }
- reply: { note: all done }
";
    let approvals = "SERVER\n  approvals: [ { calls: 'calc.get-*', when: call.arguments.a > 1, who: [anna] } ]\n";
    let text = USES.replace("SERVER\n", approvals).replace("SERVER", &server.to_string());
    let app = TestApp::new(Kind::Sqlite, &text.replace("SCRIPT", script));
    let engine = app.engine();
    app.start(&engine, "r1").await;
    assert_eq!(drive_until_idle(&app, &engine, "r1").await, IdleReason::WaitingForInput);
    let made = outputs(&app.events("r1").await);
    assert_eq!(made.len(), 1, "only the call that needs no approval was made: {made:?}");

    let wait = app.state("r1").await.waits["w1"].clone();
    let call = &wait.subject.as_ref().unwrap().parts[0].value;
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (&json!("calc.get-sum"), &json!({"a": 2, "b": 3}))
    );
    let mallory = engine.submit_input("r1", wait.decide(true, "mallory", None), None).await;
    assert!(mallory.unwrap_err().to_string().contains("assigned to"));
    engine.submit_input("r1", wait.decide(true, "anna", None), None).await.unwrap();
    let idle = drive_until_idle(&app, &engine, "r1").await;
    assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed));
    let made = outputs(&app.events("r1").await);
    assert!(made.iter().any(|(ok, output)| *ok && output.contains('5')), "{made:?}");
}
