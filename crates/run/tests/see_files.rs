//! Files that gates ask for while an input is decided: all are named, those included whose paths the input
//! itself brings, and what lies behind a closed gate is not looked at.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "../../protocol/tests/protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of loading")]
mod folder;

use std::cell::RefCell;
use std::collections::BTreeMap;

use countersign_run::{
    FileProbe, InputKind, RunInput, RunStart, RunState, Timestamp, decide, record_file_facts,
};
use serde_json::json;

const PROTOCOL: &str = "--- index.yaml
name: t
version: 1.0.0
default_workflow: main
workflows: { main: { input: { apply: { set: /name } } } }
--- workflows/main.yaml
id: main
phases: [ { id: first }, { id: second }, { id: third }, { id: done, terminal: true } ]
transitions:
  - { from: first, to: second, gate: { type: file_exists, path: plain.md } }
  - { from: second, to: third, gate: { type: file_exists, path: 'out/{{ state.name }}.md' }, apply: { set: { at: /name, value: \"state.name + state.name\" } } }
  - { from: third, to: done, gate: { type: file_exists, path: 'out/{{ state.name }}.md' } }
  - { from: third, to: first, priority: 1, gate: { type: file_exists, path: never.md } }
";

fn start(input_text: &str) -> (countersign_protocol::Protocol, RunInput) {
    let protocol = folder::sound(PROTOCOL);
    let start = RunStart {
        protocol: protocol.digest.clone(),
        workflow: "main".to_owned(),
        input: Some(json!(input_text)),
        ..RunStart::default()
    };
    let what = InputKind::Start(Box::new(start));
    (
        protocol,
        RunInput {
            time: Timestamp(0),
            idempotency_key: None,
            sender: None,
            files: BTreeMap::new(),
            file_digests: BTreeMap::new(),
            payload: what,
        },
    )
}

/// A workspace in which a function says what exists, and no file has a digest.
struct Exists<F>(F);

impl<F: Fn(&str) -> bool> FileProbe for Exists<F> {
    fn exists(&self, path: &str) -> bool {
        self.0(path)
    }

    fn digest(&self, path: &str) -> Option<String> {
        panic!("no approval shows `{path}`")
    }
}

#[test]
fn every_file_on_the_way_is_seen() {
    let (protocol, mut input) = start("a");
    let state = RunState::new("r");
    let looked = RefCell::new(Vec::new());
    record_file_facts(
        &protocol,
        &state,
        &mut input,
        &Exists(|path: &str| {
            looked.borrow_mut().push(path.to_owned());
            path != "never.md"
        }),
    );
    assert_eq!(looked.into_inner(), ["plain.md", "out/a.md", "never.md", "out/aa.md"]);
    let step = decide(&protocol, &state, &input).unwrap();
    assert_eq!(step.state.phase, "done");
}

#[test]
fn what_is_not_there_ends_the_looking() {
    let (protocol, mut input) = start("a");
    record_file_facts(
        &protocol,
        &RunState::new("r"),
        &mut input,
        &Exists(|path: &str| path != "out/a.md"),
    );
    let seen = BTreeMap::from([("plain.md".to_owned(), true), ("out/a.md".to_owned(), false)]);
    assert_eq!(input.files, seen);
    let (protocol, mut input) = start("");
    record_file_facts(
        &protocol,
        &RunState::new("r"),
        &mut input,
        &Exists(|_: &str| panic!("a rejected input asks nothing")),
    );
    assert!(input.files.is_empty());
}
