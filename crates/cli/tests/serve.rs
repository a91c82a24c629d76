//! `countersign serve` and `countersign key` with the real program: a process, a socket, a signal.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn countersign(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for variable in ["CLICOLOR_FORCE", "COUNTERSIGN_MODEL", "COUNTERSIGN_STORE"] {
        command.env_remove(variable);
    }
    command.env("COUNTERSIGN_USER", "ann");
    command
}

fn done(folder: &Path, arguments: &[&str]) -> Output {
    countersign(folder, arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A server that runs until it is told to end, or dropped.
struct Serving {
    child: Child,
    address: String,
    /// The line that lets its owner in, where there is a token.
    token: String,
}

impl Serving {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let mut child = countersign(folder, &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
        while !line.ends_with("}\n") {
            assert!(lines.read_line(&mut line).unwrap() > 0, "it says where it listens");
        }
        let line: Value = serde_json::from_str(&line).unwrap();
        let address = line["listening"][0].as_str().unwrap().to_owned();
        let token = line["token_file"].as_str().map_or_else(String::new, |path| {
            let token = std::fs::read_to_string(folder.join(path)).unwrap();
            format!("authorization: Bearer {}\r\n", token.trim_end())
        });
        Self { child, address, token }
    }

    /// A request as text, and the whole answer as text.
    fn ask(&self, request: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let (host, token) = (&self.address, &self.token);
        let (line, rest) = request.split_once('\n').unwrap_or((request, "\n"));
        let head =
            format!("{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{token}{rest}\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Tells it to end as a supervisor does; how it ended, and what it said.
    fn end(mut self) -> (bool, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        let mut talk = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
        (status.success(), talk)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Where a test stumbled, nothing of it may stay; where it did not, it has ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(done(folder.path(), &["init", "demo"]).status.success());
    folder
}

#[test]
fn it_serves_drives_and_ends_in_good_order() {
    let project = project();
    let serving = Serving::start(project.path(), &[]);
    assert!(serving.ask("GET /v1/health").starts_with("HTTP/1.1 200 OK"));
    let started = serving.ask(
        "POST /v1/runs\ncontent-type: application/json\r\nprefer: wait=20\r\ncontent-length: 2\r\n\r\n{}",
    );
    assert!(started.starts_with("HTTP/1.1 201 Created"), "{started}");
    assert!(started.contains("\"status\":\"waiting\""), "{started}");
    // Another process answers, and the server sees it.
    let inbox: Value =
        serde_json::from_slice(&done(project.path(), &["inbox", "--json"]).stdout).unwrap();
    let address = inbox[0]["address"].as_str().unwrap();
    assert!(done(project.path(), &["approve", address]).status.success());
    let run = inbox[0]["run"].as_str().unwrap();
    let status = serving.ask(&format!("GET /v1/runs/{run}"));
    assert!(status.contains("\"status\":\"completed\""), "{status}");

    let taken = done(project.path(), &["serve", "--listen", &serving.address]);
    assert_eq!(taken.status.code(), Some(2));
    assert!(said(&taken).contains("is in use by another program"), "{}", said(&taken));
    assert!(said(&taken).contains("countersign serve --listen"), "{}", said(&taken));

    let (good, talk) = serving.end();
    assert!(good && talk.contains("work in progress finishes first"), "{talk}");
    let proved = done(project.path(), &["replay", "--all", "--verify"]);
    assert!(proved.status.success(), "{}", said(&proved));
}

/// An empty folder, one command, and an interview that asks.
#[test]
fn a_protocol_is_tried_with_one_command() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let serving = Serving::start(folder.path(), &["--try"]);
        let body = r#"{"input":"I need a contract for the supply of 200 chairs."}"#;
        let started = serving.ask(&format!(
            "POST /v1/runs\ncontent-type: application/json\r\nprefer: wait=20\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ));
        assert!(started.contains("What does one chair cost?"), "{started}");
        assert!(serving.end().0, "and once more, in the folder that is there now");
    }
    assert!(folder.path().join("countersign-intake/.opencode/protocol/index.yaml").is_file());
    let unknown = done(folder.path(), &["serve", "--try", "intke"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said(&unknown).contains("did you mean `intake`?"), "{}", said(&unknown));
}

#[test]
fn keys_are_made_listed_and_taken_back() {
    let project = project();
    let folder = project.path();
    assert!(said(&done(folder, &["key", "list"])).contains("there are no keys"));
    let nobody = done(folder, &["serve", "--keys", "--listen", "127.0.0.1:0"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(said(&nobody).contains("countersign key create"), "{}", said(&nobody));
    for (arguments, expected) in [
        (["key", "create", "--tenant", "default", "--role", "boss"], "unknown role `boss`"),
        (["key", "create", "--tenant", "../x", "--role", "reader"], "invalid tenant name"),
    ] {
        let refused = done(folder, &arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(said(&refused).contains(expected), "{}", said(&refused));
    }
    let made = done(
        folder,
        &["key", "create", "--tenant", "default", "--role", "reader", "--expires", "90d", "--json"],
    );
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    assert!(key.starts_with("csk_"));
    let listed = String::from_utf8(done(folder, &["key", "list"]).stdout).unwrap();
    assert!(listed.contains(id) && !listed.contains(key), "{listed}");

    let serving = Serving::start(folder, &["--keys"]);
    let me = format!("GET /v1/me\nauthorization: Bearer {key}\r\n");
    assert!(serving.ask("GET /v1/me").starts_with("HTTP/1.1 401"));
    assert!(serving.ask(&me).contains("\"role\":\"reader\""));
    assert!(done(folder, &["key", "revoke", id]).status.success());
    assert!(serving.ask(&me).starts_with("HTTP/1.1 401"), "at once, with a server that runs");
    assert!(serving.end().0);
    assert_eq!(done(folder, &["key", "revoke", "nobody"]).status.code(), Some(2));
}

#[test]
fn without_its_token_nobody_is_let_in_unless_the_owner_says_so() {
    let project = project();
    let mut serving = Serving::start(project.path(), &[]);
    assert!(serving.ask("GET /v1/me").contains("\"role\":\"admin\""));
    let token = std::mem::take(&mut serving.token);
    let refused = serving.ask("GET /v1/me");
    assert!(refused.starts_with("HTTP/1.1 401") && refused.contains("no_token"), "{refused}");
    assert!(serving.end().0);
    let again = Serving::start(project.path(), &[]);
    assert_eq!(again.token, token, "the page that is open stays open");
    assert!(again.end().0);
    let open = Serving::start(project.path(), &["--no-token"]);
    assert_eq!(open.token, "");
    assert!(open.ask("GET /v1/me").starts_with("HTTP/1.1 200"));
    assert!(open.end().0);
}

#[test]
fn it_says_where_it_is_and_how_to_stop() {
    let project = project();
    let mut child = countersign(project.path(), &["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut talk = String::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        talk.push_str(&line);
        talk.push('\n');
        if line.starts_with("Press Ctrl-C") {
            break;
        }
    }
    assert!(talk.starts_with("Countersign listens at http://127.0.0.1:"), "{talk}");
    for part in ["/v1/docs", ".countersign/token)", "countersign.db", ".opencode/protocol"] {
        assert!(talk.contains(part), "{part} in {talk}");
    }
    let token = std::fs::read_to_string(project.path().join(".countersign/token")).unwrap();
    assert!(!talk.contains(token.trim_end()), "no token goes where no person reads");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let rest: Vec<String> = lines.map(|line| line.unwrap()).collect();
    assert!(child.wait().unwrap().success());
    assert!(rest.last().unwrap().starts_with("Stopped."), "{rest:?}");
}
