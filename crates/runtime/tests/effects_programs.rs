//! Programs: they end in time, with everything they started. Hooks: their answers, good and bad.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::{
    self as protocol, FileOrigin, HookDefinition, ProgramDefinition, ProtocolPolicy,
};
use countersign_run::EffectCall;
use countersign_runtime::effect::{
    EffectContext, EffectErrorKind, EffectJournal, RetrieverRegistry, perform_effect,
};
use countersign_runtime::hook::{self, HookResult};
use countersign_runtime::program::{
    ProgramError, ProgramInvocation, ProgramOutput, launch_program,
};
use countersign_runtime::workspace::Workspace;
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_mins(1);

async fn sh(folder: &Path, script: &str, limit: Duration) -> Result<ProgramOutput, ProgramError> {
    let command = ["/bin/sh", "-c", script].map(str::to_owned);
    launch_program(ProgramInvocation {
        command: &command,
        args: &[],
        working_folder: folder,
        inherited_env: &["PATH".to_owned()],
        env: &[],
        stdin: b"",
        timeout: limit,
    })
    .await
}

/// A pipe that a program and its children hold open. Its reader sees the end when the last is gone.
fn lifeline(folder: &Path) -> tokio::task::JoinHandle<BufReader<fs::File>> {
    let path = folder.join("alive");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    tokio::task::spawn_blocking(move || {
        let mut reader = BufReader::new(fs::File::open(path).unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        reader
    })
}

/// Opens the pipe, starts a child of a child that keeps it, says so, and does not end.
const FAMILY: &str = "exec 3>alive; (sleep 1000 & sleep 1000) & echo started >&3; sleep 1000";

#[tokio::test]
async fn a_time_limit_ends_the_whole_family() {
    let folder = tempfile::tempdir().unwrap();
    let started = lifeline(folder.path());
    let limit = Duration::from_secs(1);
    let error = sh(folder.path(), FAMILY, limit).await.unwrap_err();
    assert!(matches!(error, ProgramError::TimedOut { .. }), "{error}");
    assert_eq!(error.to_string(), "it was stopped after its time limit of 1s");
    let mut reader = started.await.unwrap();
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0, "the end: nobody holds the pipe");
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_the_family_along() {
    let folder = tempfile::tempdir().unwrap();
    let started = lifeline(folder.path());
    let path = folder.path().to_owned();
    let task = tokio::spawn(async move { sh(&path, FAMILY, MINUTE).await });
    let mut reader = started.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[tokio::test]
async fn what_a_program_leaves_running_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let started = lifeline(folder.path());
    // The child keeps standard output open as well: waiting for its end would take a thousand seconds.
    let script = "exec 3>alive; sleep 1000 & echo started >&3; echo said; exit 0";
    let finished = sh(folder.path(), script, MINUTE).await.unwrap();
    assert!(finished.status.success());
    assert_eq!(finished.stdout.to_text(), "said\n");
    let mut reader = started.await.unwrap();
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[tokio::test]
async fn a_child_that_leaves_the_group_does_not_keep_us() {
    let folder = tempfile::tempdir().unwrap();
    // It holds standard output until somebody writes to the pipe `release`, which is below.
    let script = "mkfifo ready release; \
        setsid sh -c 'echo up > ready; read line < release' & \
        read line < ready; echo said; exit 0";
    let finished = sh(folder.path(), script, MINUTE).await.unwrap();
    assert_eq!(finished.stdout.to_text(), "said\n");
    fs::write(folder.path().join("release"), "now\n").unwrap();
}

#[tokio::test]
async fn a_program_is_found_by_path_or_from_its_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    let path = folder.path().join("bin/own");
    fs::write(&path, "#!/bin/sh\necho own\n").unwrap();
    let start = async |name: &str| {
        launch_program(ProgramInvocation {
            command: &[name.to_owned()],
            args: &[],
            working_folder: folder.path(),
            inherited_env: &[],
            env: &[],
            stdin: b"",
            timeout: MINUTE,
        })
        .await
    };
    assert!(matches!(start("bin/own").await, Err(ProgramError::NotFound { .. })), "may not be run");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(start("bin/own").await.unwrap().stdout.to_text(), "own\n");
    assert!(start("true").await.unwrap().status.success());
    assert!(matches!(start("own").await, Err(ProgramError::NotFound { .. })));
}

fn policy(script: &str) -> ProtocolPolicy {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let timeout = protocol::DurationMillis { millis: 60_000 };
    let mut policy = ProtocolPolicy::default();
    let program = ProgramDefinition { command, timeout, environment: vec!["PATH".to_owned()] };
    policy.programs.insert("it".to_owned(), program);
    policy
}

#[tokio::test]
async fn an_effect_that_took_too_long_may_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let journal = EffectJournal::open(&folder.path().join(".countersign/effects")).unwrap();
    let mut policy = policy("echo half >&2; sleep 1000");
    policy.programs.get_mut("it").unwrap().timeout = protocol::DurationMillis { millis: 1_000 };
    let order = EffectCall::Run { program: "it".to_owned(), args: vec![], input: None };
    let sources = RetrieverRegistry::default();
    let world = EffectContext {
        policy: &policy,
        workspace: &workspace,
        sources: &sources,
        journal: &journal,
    };
    let error = perform_effect(&order, "r/1/0", world).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::TimedOut, true));
    assert_eq!(error.to_string(), "program `it` took longer than 1s and was stopped");
    assert_eq!(error.detail, Some(json!({"stderr": "half\n"})));
    assert_eq!(journal.load_result("r/1/0", &order).unwrap(), None);
}

fn origin() -> FileOrigin {
    FileOrigin::root(&Arc::new(
        ParsedSourceFile::parse(SourceFile::new("index.yaml", "hooks: {}")).unwrap(),
    ))
}

async fn ask(script: &str, timeout: Option<protocol::DurationMillis>) -> HookResult {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let hook = HookDefinition::Program { program: "it".to_owned(), timeout, origin: origin() };
    hook::run_hook(&hook, &json!({"phase": "work"}), "r/1/0", &policy(script), &workspace).await
}

fn abort(reason: &str) -> HookResult {
    HookResult::Abort { reason: reason.to_owned() }
}

#[tokio::test]
async fn the_four_answers_of_a_hook() {
    let ask = async |answer: &str| ask(&format!("echo '{answer}'"), None).await;
    assert_eq!(ask(r#"{"result": "ok"}"#).await, HookResult::Ok);
    assert_eq!(ask(r#"{"result": "abort", "reason": "not now"}"#).await, abort("not now"));
    let ops = json!([{"op": "remove", "path": "/a"}]);
    let patch = json!({"result": "patch", "ops": ops}).to_string();
    assert_eq!(ask(&patch).await, HookResult::Patch { ops });
    let redirect = HookResult::Redirect { to: "review".to_owned() };
    assert_eq!(ask(r#"{"result": "redirect", "to": "review"}"#).await, redirect);
}

#[tokio::test]
async fn a_hook_knows_what_it_is_asked() {
    let script = r#"context=$(cat); test "$context" = '{"phase":"work"}' && test "$COUNTERSIGN_ACTION_ID" = r/1/0 && echo '{"result":"ok"}'"#;
    assert_eq!(ask(script, None).await, HookResult::Ok);
}

#[tokio::test]
async fn everything_else_is_an_abort_with_the_reason() {
    let aborts = async |script: &str, reason: &str| {
        let expected = abort(&format!("hook program `it`: {reason}"));
        assert_eq!(ask(script, None).await, expected, "{script}");
    };
    let four = "`ok`, `abort`, `patch` or `redirect`";
    aborts("exit 3", "it ended with exit status: 3").await;
    aborts("echo", "its answer is not valid JSON at byte 1").await;
    aborts("echo ok", "its answer is not valid JSON at byte 0").await;
    aborts("echo '{\"result\": \"ok\"} x'", "its answer is not valid JSON at byte 17").await;
    aborts("echo '[]'", "its answer is not an object").await;
    aborts("echo '{}'", &format!("its answer has no `result`; expected {four}")).await;
    aborts("echo '{\"result\": 1}'", &format!("its `result` is not a string; expected {four}"))
        .await;
    aborts("echo '{\"result\": \"yes\"}'", &format!("its `result` is not one of {four}")).await;
    aborts("echo '{\"result\": \"abort\"}'", "it returned `abort` without a `reason`").await;
    aborts(
        "echo '{\"result\": \"patch\", \"ops\": {}}'",
        "it returned `patch`, but its `ops` are not a list",
    )
    .await;
    aborts(
        "echo '{\"result\": \"redirect\"}'",
        "it returned `redirect`, but its `to` does not name a phase",
    )
    .await;
    aborts(
        "echo '{\"result\": \"ok\", \"to\": \"x\"}'",
        "its answer has a field `to`, which `ok` does not accept",
    )
    .await;
    aborts(
        "echo '{\"result\": \"ok\", \"result\": \"abort\"}'",
        "its answer has a duplicate key or a number that is too large",
    )
    .await;
    aborts("printf '\\377'", "its answer is not UTF-8").await;
    aborts("head -c 2000000 /dev/zero", "its answer is longer than 1 MiB").await;
    let late = ask("sleep 1000", Some(protocol::DurationMillis { millis: 200 })).await;
    assert_eq!(late, abort("hook program `it`: it took longer than 200ms and was stopped"));
}

#[tokio::test]
async fn a_hook_needs_no_program_and_no_undeclared_one() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let ops = json!([{"op": "add", "path": "/a", "value": 1}]);
    let patch = HookDefinition::Patch { ops: ops.clone(), origin: origin() };
    let policy = ProtocolPolicy::default();
    let result = hook::run_hook(&patch, &Value::Null, "r/1/0", &policy, &workspace).await;
    assert_eq!(result, HookResult::Patch { ops });
    let program =
        HookDefinition::Program { program: "x".to_owned(), timeout: None, origin: origin() };
    let result = hook::run_hook(&program, &Value::Null, "r/1/0", &policy, &workspace).await;
    assert_eq!(result, abort("hook program `x`: the policy declares no program of that name"));
}
