//! Coding agents drive a protocol folder with clients that are not ours, over stdio and over HTTP:
//! `tests/mcp/agent.mjs` with the client from npm, `tests/mcp/agent.py` with the one from `PyPI`.
//!
//! The clients come from `cargo xtask verify`, or from `cargo xtask foreign test -p countersign-cli --test mcp`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// Somebody else's client.
#[derive(Clone, Copy)]
enum Foreign {
    Npm,
    PyPi,
}

impl Foreign {
    /// The command that plays the agent; `None` where the client cannot be had.
    fn command(self) -> Option<Command> {
        let variable = match self {
            Self::Npm => "COUNTERSIGN_TEST_MCP_NPM",
            Self::PyPi => "COUNTERSIGN_TEST_MCP_PYPI",
        };
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp");
        let folder = std::env::var_os(variable).map(PathBuf::from)?;
        let mut command = match self {
            Self::Npm => Command::new("node"),
            Self::PyPi => Command::new(folder),
        };
        command.arg(scripts.join(match self {
            Self::Npm => "agent.mjs",
            Self::PyPi => "agent.py",
        }));
        command.env("COUNTERSIGN_USER", "agent").stdin(Stdio::null());
        for variable in ["COUNTERSIGN_MODEL", "COUNTERSIGN_STORE", "CLICOLOR_FORCE"] {
            command.env_remove(variable);
        }
        Some(command)
    }

    /// Lets the agent work; says by name that it did not where there is no client.
    fn drive(self, name: &str, spec: impl FnOnce() -> (Value, Option<Serving>)) {
        let Some(mut command) = self.command() else {
            let why = "the client is not there; `cargo xtask verify` installs it where it can";
            testkit::report_not_run(&format!("mcp::{name}"), why);
            return;
        };
        let (spec, serving) = spec();
        let played = command.arg(spec.to_string()).output().unwrap();
        drop(serving);
        let said = String::from_utf8_lossy(&played.stderr);
        assert!(played.status.success(), "{name}:\n{said}");
    }
}

/// A server that ends with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A folder with the protocol `demo`, in which Ann alone approves.
fn project() -> TempDir {
    let project = tempfile::tempdir().unwrap();
    done(project.path(), &["init", "demo"]);
    let workflow = project.path().join(".opencode/protocol/workflows/text.yaml");
    let text = fs::read_to_string(&workflow).unwrap();
    let named = text.replace("      type: manual\n", "      type: manual\n      who: ann\n");
    assert_ne!(text, named);
    fs::write(workflow, named).unwrap();
    project
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn over_stdio(folder: &Path) -> Value {
    json!({ "folder": folder, "program": PROGRAM })
}

fn over_http(folder: &Path) -> (Value, Serving) {
    let key = |tenant: &str, role: &str, user: &str| {
        let made = ["key", "create", "--tenant", tenant, "--role", role, "--user", user];
        done(folder, &made).trim().to_owned()
    };
    let keys = json!({
        "agent": key("default", "operator", "agent"),
        "reader": key("default", "reader", "looker"),
        "foreign": key("acme", "admin", "mallory"),
    });
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--listen", "127.0.0.1:0", "--keys", "--json"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let serving = Serving(child);
    while !line.ends_with("}\n") {
        assert!(lines.read_line(&mut line).unwrap() > 0, "it says where it listens");
    }
    let line: Value = serde_json::from_str(&line).unwrap();
    let url = format!("http://{}/mcp", line["listening"][0].as_str().unwrap());
    (json!({ "folder": folder, "program": PROGRAM, "url": url, "keys": keys }), serving)
}

#[test]
fn the_client_from_npm_over_stdio() {
    let project = project();
    Foreign::Npm.drive("the_client_from_npm_over_stdio", || (over_stdio(project.path()), None));
}

#[test]
fn the_client_from_npm_over_http() {
    let project = project();
    Foreign::Npm.drive("the_client_from_npm_over_http", || {
        let (spec, serving) = over_http(project.path());
        (spec, Some(serving))
    });
}

#[test]
fn the_client_from_pypi_over_stdio() {
    let project = project();
    Foreign::PyPi.drive("the_client_from_pypi_over_stdio", || (over_stdio(project.path()), None));
}

#[test]
fn the_client_from_pypi_over_http() {
    let project = project();
    Foreign::PyPi.drive("the_client_from_pypi_over_http", || {
        let (spec, serving) = over_http(project.path());
        (spec, Some(serving))
    });
}

/// Lines to the program's standard input, and everything that it then says, until it ends by itself.
fn exchange(folder: &Path, lines: &[&str]) -> (Vec<Value>, String) {
    let mut child = Command::new(PROGRAM)
        .args(["mcp", "--as", "agent"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut heard = Vec::new();
    for line in lines {
        writeln!(input, "{line}").unwrap();
        // Everything that has an id is answered; a line that cannot be read has none that could be found.
        if line.contains("\"id\"") {
            let answer = answers.next().expect("it answers").unwrap();
            heard.push(serde_json::from_str(&answer).expect("nothing but MCP on standard output"));
        }
    }
    drop(input);
    for line in answers {
        heard.push(serde_json::from_str(&line.unwrap()).unwrap());
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    (heard, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_session_survives_nonsense_and_ends_with_its_input() {
    let project = project();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let (heard, said) = exchange(
        project.path(),
        &[
            hello,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "this is not JSON",
            r#"{"jsonrpc":"2.0","id":2,"method":"no/such/method"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"next_step","arguments":{"run":7}}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_protocols"}}"#,
        ],
    );
    let answer = |id: u64| heard.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(answer(1)["result"]["serverInfo"]["name"], "countersign");
    assert!(answer(2)["error"]["code"].as_i64().unwrap() < 0);
    assert_eq!(answer(3)["result"]["isError"], true);
    assert_eq!(answer(4)["result"]["structuredContent"]["items"][0]["name"], "demo");
    assert_eq!(said, "");
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let project = project();
    let output = Command::new(PROGRAM)
        .args(["mcp", "--in", "nowhere"])
        .current_dir(project.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot read the workspace folder `nowhere`"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn an_agent_that_goes_at_once_leaves_nothing_behind() {
    let project = project();
    let (heard, said) = exchange(project.path(), &[]);
    assert_eq!((heard.len(), said.as_str()), (0, ""));
}
