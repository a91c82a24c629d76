//! Sources behind the binary: a run asks a database and a folder of documents.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const INDEX: &str = "
name: asking
version: 1.0.0
default_workflow: ask
document: { contract: found, initial: { question: When is a file late? } }
policy:
  sources:
    db:
      kind: sqlite
      script: data/make.sql
      queries:
        completion:
          sql: SELECT count(*) AS tasks, sum(status = 'done') AS done FROM tasks WHERE project = :project
          params: { project: text }
    doc: { kind: documents, path: data/documents, limit: 2 }
    neo4j: { kind: neo4j, url_env: COUNTERSIGN_NO_SUCH_GRAPH, queries: { all: { cypher: MATCH (n) RETURN n } } }
";

const CONTRACT: &str = "
id: found
version: 1.0.0
schema: { type: object }
";

const WORKFLOW: &str = "
id: ask
phases:
  - { id: count, do: { retrieve: { source: db, query: \"state.counted\" } }, apply: { set: { at: /db, value: reply } } }
  - { id: read, do: { retrieve: { source: doc, query: \"state.question\" } }, apply: { set: { at: /doc, value: reply } } }
  - { id: walk, do: { retrieve: { source: neo4j, query: \"state.walked\" }, on_failed: { goto: end } }, apply: { set: { at: /graph, value: reply } } }
  - { id: end, terminal: true }
transitions:
  - { from: count, to: read }
  - { from: read, to: walk }
  - { from: walk, to: end }
";

fn countersign(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env("COUNTERSIGN_USER", "anna")
        .env(testkit::CONFIG_HOME, testkit::config_home(folder))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading its input is no fault of the test.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_run_asks_its_sources() {
    let folder = tempfile::tempdir().unwrap();
    let protocol = folder.path().join(".opencode/protocol");
    let initial = "initial: { counted: { query: completion, params: { project: ATLAS } }, \
                 walked: { query: all }, ";
    put(&protocol.join("index.yaml"), INDEX.replace("initial: { ", initial));
    put(&protocol.join("contracts/found.yaml"), CONTRACT);
    put(&protocol.join("workflows/ask.yaml"), WORKFLOW);
    let data = testkit::workspace_root().join("crates/shipped-protocols/templates/answer/data");
    put(&folder.path().join("data/make.sql"), fs::read(data.join("make.sql")).unwrap());
    let book = fs::read(data.join("documents/run-book.pdf")).unwrap();
    put(&folder.path().join("data/documents/run-book.pdf"), book);
    put(&folder.path().join("data/documents/bomb.pdf"), "%PDF-1.4\nnot at all");
    testkit::trust_protocol(env!("CARGO_BIN_EXE_countersign"), folder.path());
    let output = countersign(folder.path(), &["run"], b"");
    assert!(output.status.success(), "{output:?}");
    let output = countersign(folder.path(), &["show", "--json"], b"");
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let state = if shown["document"].is_object() { &shown["document"] } else { &shown };
    assert_eq!(state["db"]["data"], json!([{ "tasks": 20, "done": 9 }]), "{shown}");
    assert_eq!(state["db"]["items"][0]["ref"], "query:completion?project=ATLAS#row=1");
    assert_eq!(state["doc"]["items"][0]["ref"], "run-book.pdf#page=2");
    assert_eq!(
        state["doc"]["skipped"],
        json!([{ "ref": "bomb.pdf", "reason": "is a damaged PDF: failed parsing cross reference table" }])
    );
    assert!(state.get("graph").is_none(), "what is not configured is a gap and no empty answer");
    let output = countersign(folder.path(), &["history"], b"");
    let history = String::from_utf8_lossy(&output.stdout).into_owned();
    let gap = "source `neo4j` needs the variable `COUNTERSIGN_NO_SUCH_GRAPH`, which is not set";
    assert!(history.contains(gap), "{history}");
}
