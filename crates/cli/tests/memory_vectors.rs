//! Vectors beside words, with the real program and a real server on this machine.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

const WHOSE: [&str; 6] = ["--user", "ann", "--agent", "helper", "--now", "2026-01-21T12:00:00Z"];

const TALK: &str = r#"{"event": "The lorry is stuck in Lyon.", "id": "e1", "ts": "2026-01-20T18:00:00Z"}
{"event": "Lunch is at noon.", "id": "e2", "speaker": "Bo", "ts": "2026-01-20T18:01:00Z"}
{"event": "Our van needs new tyres.", "id": "e3", "ts": "2026-01-20T18:02:00Z"}
"#;

/// Words that this embedder knows to lie near each other.
const KINDS: [&[&str]; 3] = [&["lorry", "van", "haulage"], &["lunch", "meal"], &["lyon", "city"]];

/// A server that speaks as OpenAI does; it ends with the test.
struct Embedder {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
    calls: Arc<AtomicUsize>,
    away: Arc<AtomicBool>,
}

impl Embedder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let (seen, calls, away) = (Arc::default(), Arc::default(), Arc::default());
        let one = Self { address, seen, calls, away };
        let (seen, calls, away) =
            (Arc::clone(&one.seen), Arc::clone(&one.calls), Arc::clone(&one.away));
        thread::spawn(move || {
            for socket in listener.incoming() {
                answer(socket.unwrap(), &seen, &calls, away.load(Ordering::SeqCst));
            }
        });
        one
    }

    fn named(&self) -> String {
        format!("openai:kinds@{}", self.address)
    }

    /// Every text that it was shown, in order.
    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(socket: TcpStream, seen: &Mutex<Vec<String>>, calls: &AtomicUsize, away: bool) {
    let mut reader = BufReader::new(socket);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request: Value = serde_json::from_slice(&body).unwrap();
    let texts: Vec<&str> =
        request["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    calls.fetch_add(1, Ordering::SeqCst);
    seen.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let text = text.to_lowercase();
            let has = |words: &&[&str]| {
                if words.iter().any(|word| text.contains(word)) { 1.0 } else { 0.05 }
            };
            json!({"index": index, "embedding": KINDS.iter().map(has).collect::<Vec<f64>>()})
        })
        .collect();
    let (status, body) = if away {
        ("503 Away", json!({"error": {"message": "loading the model"}}))
    } else {
        ("200 OK", json!({"data": data}))
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = reader.into_inner();
    socket.write_all(format!("{head}{body}").as_bytes()).unwrap();
}

/// Exit code, standard output and standard error of `countersign memory …` as Ann, at a moment that stands still.
fn memory(folder: &Path, embedder: Option<&str>, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("memory").args(arguments).args(WHOSE).current_dir(folder).stdin(Stdio::null());
    for variable in ["CLICOLOR_FORCE", "COUNTERSIGN_USER", "COUNTERSIGN_AGENT", "OPENAI_API_KEY"] {
        command.env_remove(variable);
    }
    command.env_remove("COUNTERSIGN_EMBEDDER");
    command.envs(embedder.map(|name| ("COUNTERSIGN_EMBEDDER", name)));
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn talked() -> TempDir {
    let folder = quiet();
    fs::write(folder.path().join("talk.jsonl"), TALK).unwrap();
    assert_eq!(memory(folder.path(), None, &["remember", "talk.jsonl"]).0, 0);
    folder
}

/// A folder in which nothing was said, with a policy that asks an embedder.
fn quiet() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let policy = "base: default\nid: near\nsimilarity: { weight: 500000 }\n";
    fs::write(folder.path().join("near.yaml"), policy).unwrap();
    folder
}

fn found(out: &str) -> Vec<(String, bool)> {
    let hits: Value = serde_json::from_str(out).unwrap();
    let one = |hit: &Value| {
        let similar = hit["parts"]["similar"].is_number();
        (hit["id"].as_str().unwrap().to_owned(), similar)
    };
    hits.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn what_is_near_in_meaning_is_found_and_nothing_is_asked_twice() {
    let (folder, embedder) = (talked(), Embedder::start());
    let (folder, name) = (folder.path(), embedder.named());
    let (_, out, _) = memory(folder, None, &["search", "haulage", "--json"]);
    assert_eq!(found(&out), []);

    let (code, _, err) = memory(folder, Some(&name), &["embed"]);
    assert_eq!((code, err.as_str()), (0, "3 new vectors by kinds\n"));
    let (_, _, err) = memory(folder, Some(&name), &["embed"]);
    assert_eq!(err, "every event already has a vector from kinds\n");
    assert_eq!(embedder.seen().len(), 3, "each event once");
    assert_eq!(embedder.seen()[1], "Bo: Lunch is at noon.", "with who speaks, where that is known");

    let (_, out, _) = memory(folder, Some(&name), &["search", "haulage", "--json"]);
    assert_eq!(found(&out), [("e3".to_owned(), true), ("e1".to_owned(), true)]);
    assert_eq!(embedder.seen()[3..], ["haulage"]);
    let (_, table, _) = memory(folder, Some(&name), &["search", "lorry"]);
    assert!(table.contains(" + similar "), "{table}");
}

#[test]
fn a_packet_keeps_its_vector_and_replays_without_anybody() {
    let (folder, embedder) = (talked(), Embedder::start());
    let (folder, name) = (folder.path(), embedder.named());
    let asking = ["compose", "--message", "Any haulage news?", "--policy", "near.yaml", "--json"];
    let (code, out, err) = memory(folder, Some(&name), &asking);
    assert_eq!(code, 0, "{err}");
    let packet: Value = serde_json::from_str(&out).unwrap();
    let text = packet["text"].as_str().unwrap();
    assert!(
        text.contains("van needs") && text.contains("lorry") && !text.contains("Lunch"),
        "{text}"
    );
    // The events that had no vector were shown by the way: one call for all.
    assert_eq!((embedder.calls.load(Ordering::SeqCst), embedder.seen().len()), (1, 4));

    embedder.away.store(true, Ordering::SeqCst);
    let build = packet["build"].as_str().unwrap();
    let (code, _, err) = memory(folder, Some(&name), &["replay", build]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(embedder.calls.load(Ordering::SeqCst), 1, "nobody was asked again");
    let (_, explanation, _) = memory(folder, None, &["explain", build]);
    assert!(explanation.contains("similar "), "{explanation}");

    let (code, out, err) = memory(folder, Some(&name), &asking);
    assert_eq!(code, 0, "an embedder that is away holds nothing up");
    assert!(err.contains("warning: ranking by words only: `openai:kinds@"), "{err}");
    assert!(
        err.contains("the provider cannot answer now (status 503): loading the model"),
        "{err}"
    );
    assert!(!out.contains("van needs"), "{out}");
}

/// What was said, and a question about it that shares no word with it.
const SAID: [(&str, &str); 8] = [
    ("The lorry is stuck near Lyon with a flat tyre.", "Which vehicle broke down?"),
    ("We eat at noon in the canteen.", "When is lunch?"),
    ("My sister had a baby last week.", "Who became an aunt?"),
    ("The invoice from the plumber is still unpaid.", "What money do we owe a tradesman?"),
    ("It rained all weekend, so everybody stayed indoors.", "How was the weather?"),
    ("I have been learning the cello since spring.", "Does anybody play a musical instrument?"),
    ("Our puppy chewed up my favourite shoes.", "What did the dog destroy?"),
    ("The doctor says my blood pressure is too high.", "Are there any health problems?"),
];

#[test]
fn a_model_finds_what_no_word_says() {
    let Ok(embedder) = std::env::var("COUNTERSIGN_TEST_EMBEDDER") else {
        let why =
            "COUNTERSIGN_TEST_EMBEDDER is not set; `cargo xtask verify` starts one where it can";
        testkit::report_not_run("memory_vectors::a_model", why);
        return;
    };
    let folder = quiet();
    let folder = folder.path();
    let lines = (0..).zip(SAID).map(|(number, (said, _))| {
        let at = format!("2026-01-21T08:0{number}:00Z");
        json!({"event": said, "id": format!("m{number}"), "ts": at}).to_string()
    });
    fs::write(folder.join("said.jsonl"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(memory(folder, None, &["remember", "said.jsonl"]).0, 0);
    let (code, _, err) = memory(folder, Some(&embedder), &["embed"]);
    assert_eq!((code, err.as_str()), (0, "8 new vectors by all-MiniLM-L6-v2\n"));

    let first = |embedder: Option<&str>, question: &str| {
        let (code, out, err) = memory(folder, embedder, &["search", question, "--json"]);
        assert_eq!((code, err.as_str()), (0, ""), "{question}");
        found(&out).into_iter().next().map(|(id, _)| id)
    };
    let mut by_words = 0;
    for (number, (_, question)) in SAID.into_iter().enumerate() {
        let id = Some(format!("m{number}"));
        by_words += usize::from(first(None, question) == id);
        assert_eq!(first(Some(&embedder), question), id, "{question}");
    }
    assert!(by_words < SAID.len() / 2, "{by_words} need no vector: the questions prove nothing");

    // A packet of it is composed again by whoever has no model.
    let asking = ["compose", "--message", SAID[0].1, "--policy", "near.yaml", "--json"];
    let (code, out, err) = memory(folder, Some(&embedder), &asking);
    assert_eq!(code, 0, "{err}");
    let packet: Value = serde_json::from_str(&out).unwrap();
    assert!(packet["text"].as_str().unwrap().contains("flat tyre"), "{packet}");
    let (code, _, err) = memory(folder, None, &["replay", packet["build"].as_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn whoever_is_forgotten_leaves_no_vector() {
    let (folder, embedder) = (talked(), Embedder::start());
    let (folder, name) = (folder.path(), embedder.named());
    memory(folder, Some(&name), &["embed"]);
    let (code, out, err) = memory(folder, None, &["forget", "--yes", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let erased: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(erased["rows"]["vectors"], 3, "{erased}");
    let (_, out, _) = memory(folder, Some(&name), &["search", "haulage", "--json"]);
    assert_eq!(found(&out), []);
}

#[test]
fn an_embedder_that_cannot_be_meant_is_told() {
    let folder = talked();
    let folder = folder.path();
    for (arguments, expected) in [
        (
            &["embed"][..],
            "`--embedder` is missing; you can also set `COUNTERSIGN_EMBEDDER`, or `embedder` in countersign.toml",
        ),
        (
            &["embed", "--embedder", "anthropic:x"],
            "`embedder` (--embedder): `anthropic:x` is not an embedder; expected `openai:NAME`, `openai:NAME@ADDRESS` or `ollama:NAME`",
        ),
        (
            &["compose", "--message", "x", "--embedder", "ollama:nomic"],
            "`--embedder`: policy `default` gives vectors no weight; one with `similarity: { weight: 500000 }` does",
        ),
    ] {
        let (code, _, err) = memory(folder, None, arguments);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(expected), "{err}");
    }
    let gone = "openai:x@http://127.0.0.1:9/v1";
    let (code, _, err) = memory(folder, None, &["embed", "--embedder", gone]);
    assert!(code != 0 && err.contains("no connection"), "{code} {err}");
}

const PROTOCOL: [(&str, &str); 4] = [
    (
        "index.yaml",
        "name: haul\nversion: 1.0.0\ndefault_workflow: main\nmemory: { policy: memory/near.yaml }\n",
    ),
    (
        "workflows/main.yaml",
        "id: main\nphases:\n  - { id: write, agent: writer, contract: note, prompt: Any haulage news? }\n  - { id: done, terminal: true }\ntransitions: [{ from: write, to: done }]\n",
    ),
    (
        "agents/writer.yaml",
        "id: writer\ndescription: Writes\nprompt: Write.\nmodel: override\nmodel_config: { name: human }\n",
    ),
    (
        "contracts/note.yaml",
        "id: note\nversion: 1.0.0\nschema: { type: object, required: [note], properties: { note: { type: string } } }\n",
    ),
];

/// Standard output and standard error of a command as Ann.
fn countersign(folder: &Path, embedder: &str, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.current_dir(folder).args(arguments).args(["--as", "ann"]).stdin(Stdio::null());
    command.env("COUNTERSIGN_EMBEDDER", embedder).env_remove("COUNTERSIGN_MEMORY");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_run_is_reminded_of_what_is_near() {
    let (folder, embedder) = (talked(), Embedder::start());
    let (folder, name) = (folder.path(), embedder.named());
    let protocol = folder.join(".opencode/protocol");
    for (path, text) in PROTOCOL {
        let path = protocol.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir_all(protocol.join("memory")).unwrap();
    fs::copy(folder.join("near.yaml"), protocol.join("memory/near.yaml")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.current_dir(folder).args(["memory", "remember", "talk.jsonl"]);
    command.args(["--user", "ann", "--agent", "haul"]);
    assert!(command.status().unwrap().success());

    countersign(folder, &name, &["run", "main", "--detach"]);
    let (prompt, err) = countersign(folder, &name, &["next", "--json"]);
    assert!(prompt.contains("van needs"), "{prompt}{err}");
    assert_eq!(embedder.calls.load(Ordering::SeqCst), 1);
    countersign(folder, &name, &["next", "--json"]);
    assert_eq!(embedder.calls.load(Ordering::SeqCst), 1, "the same prompt, the same build");

    embedder.away.store(true, Ordering::SeqCst);
    countersign(folder, &name, &["run", "main", "--detach"]);
    let (prompt, err) = countersign(folder, &name, &["next", "--json"]);
    assert!(!prompt.contains("van needs"), "{prompt}");
    assert!(err.contains("memory search uses words only, without vectors"), "{err}");
}
