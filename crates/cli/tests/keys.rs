//! What goes from the environment through the binary to a provider, and what of it stays here: the
//! key is shown to the provider and kept nowhere, and the schema is told or held back as it is set.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A key that may show nowhere, with signs that JSON escapes.
const KEY: &str = "sk-cli/5c2e\\9f\"7a-secret";

/// The agent has no tools: a reply that may ask for tools instead is told no schema.
const PROTOCOL: [(&str, &str); 4] = [
    ("index.yaml", "name: t\nversion: 1.0.0\ndefault_workflow: main\n"),
    (
        "workflows/main.yaml",
        "id: main\nphases: [{ id: judge, agent: judge, contract: verdict }, { id: done, terminal: true }]\ntransitions: [{ from: judge, to: done }]\n",
    ),
    (
        "agents/judge.yaml",
        "id: judge\ndescription: Judges\nprompt: Judge.\nmodel: override\nmodel_config: { name: human }\n",
    ),
    (
        "contracts/verdict.yaml",
        "id: verdict\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [good], properties: { good: { type: boolean } } }\non_violation: { reask: 1, then: fail }\n",
    ),
];

/// Far longer than a request on its way from a program that has ended.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it came.
struct Seen {
    head: String,
    body: Value,
}

/// A provider on this machine that answers every question with the head of the request.
fn provider() -> (String, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, seen) = channel();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let request = read(&socket);
            let piece =
                json!({"choices": [{"delta": {"content": request.head}, "finish_reason": "stop"}]});
            let body = format!("data: {piece}\n\ndata: [DONE]\n\n");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
            let length = body.len();
            write!(socket, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
            if tell.send(request).is_err() {
                return;
            }
        }
    });
    (address, seen)
}

fn read(socket: &TcpStream) -> Seen {
    let mut reader = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Seen { head, body: serde_json::from_slice(&body).unwrap() }
}

/// Runs a small protocol in a folder, in an environment that holds nothing else.
fn run(folder: &Path, address: &str, more: &[(&str, &str)]) -> Output {
    for (name, text) in PROTOCOL {
        let file = folder.join(".opencode/protocol").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["run", "--detach", "--model", "openai:some-model"]).current_dir(folder);
    command.env_clear().env("OPENAI_BASE_URL", address).env("OPENAI_API_KEY", KEY);
    command.envs(more.iter().copied()).output().unwrap()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_key_reaches_the_provider_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (address, seen) = provider();
    let output = run(folder.path(), &address, &[]);
    let request = seen.recv_timeout(PATIENCE).unwrap();
    assert!(request.head.contains(&format!("authorization: Bearer {KEY}\r\n")), "it was shown");

    let escaped = json!(KEY).to_string();
    let escaped_twice = json!(escaped.trim_matches('"')).to_string();
    let spellings = [KEY, escaped.trim_matches('"'), escaped_twice.trim_matches('"')];
    let kept = files(folder.path());
    let mut heard = false;
    for (name, bytes) in
        kept.iter().map(|file| (file.display().to_string(), fs::read(file).unwrap())).chain([
            ("standard output".to_owned(), output.stdout),
            ("standard error".to_owned(), output.stderr),
        ])
    {
        heard |= holds(&bytes, "authorization: Bearer …");
        for spelling in spellings {
            assert!(!holds(&bytes, spelling), "{name} holds the key");
        }
    }
    assert!(heard, "the echo was kept, with the key blotted out");
}

#[test]
fn the_schema_is_told_unless_it_is_held_back() {
    for (set, sent) in [(None, true), (Some("send"), true), (Some("omit"), false)] {
        let folder = tempfile::tempdir().unwrap();
        let (address, seen) = provider();
        let more: Vec<(&str, &str)> =
            set.map(|word| ("COUNTERSIGN_SCHEMA", word)).into_iter().collect();
        run(folder.path(), &address, &more);
        let body = seen.recv_timeout(PATIENCE).unwrap().body;
        assert_eq!(body["response_format"]["type"] == "json_schema", sent, "{set:?}: {body}");
        assert_eq!(body.get("response_format").is_some(), sent, "{set:?}: nothing beside it");
    }
}

#[test]
fn a_word_that_says_neither_is_refused_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (address, seen) = provider();
    let output = run(folder.path(), &address, &[("COUNTERSIGN_SCHEMA", "off")]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    let expected = "error: `COUNTERSIGN_SCHEMA`: expected `send` or `omit`, found `off`\n";
    assert!(message.ends_with(expected), "{message}");
    assert!(seen.try_recv().is_err());
}
