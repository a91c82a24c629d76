//! What a step costs without the disk, and how fast a log is folded and proved.
//!
//! The bars: a fold and a full proof of at least 50,000 events a second.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use countersign_contract::contract::{self, ContractRegistry};
use countersign_contract::reply::FinishReason;
use countersign_contract::source::SourceFile;
use countersign_protocol::{Protocol, ProtocolBundle, load_protocol};
use countersign_run::{
    GENESIS_HASH, InputKind, ModelReply, ReplyUsage, RunInput, RunLogEntry, RunStart, RunState,
    Timestamp, decide, fold_entry, hash_entry, seal_entry, verify,
};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const INDEX: &str = "name: bench\nversion: 1.0.0\ndefault_workflow: main\n\
    document: { contract: tasks, initial: { tasks: [] }, engine: { phase: /phase, status: /status, version: /version, updated_at: /updated_at } }\n\
    policy: { budget: { loops: 1000000 } }\n";

const TASKS: &str = "id: tasks\nversion: 1.0.0\nschema:
  type: object
  required: [tasks]
  properties:
    note: { type: string }
    tasks: { type: array, items: { type: object, required: [id, title, status], properties: { id: { type: integer }, title: { type: string, minLength: 1 }, status: { enum: [pending, done] } } } }
";

const NOTE: &str = "id: note\nversion: 1.0.0\nschema: { type: object, required: [note, patch], properties: { note: { type: string }, patch: { type: array } } }\n";

const AGENT: &str = "id: worker\ndescription: works\nbase: fixer\n";

const MAIN: &str = "id: main
phases:
  - { id: work, agent: worker, contract: note, writes: [/tasks, /note], apply: [ { set: { at: /note, value: reply.note } }, { patch: /patch } ] }
  - { id: done, terminal: true }
transitions:
  - { from: work, to: done, gate: \"state.tasks.every(t => t.status === 'done')\" }
  - { from: work, to: work, priority: 1 }
";

static PROTOCOL: LazyLock<Protocol> = LazyLock::new(|| {
    let files = [
        ("index.yaml", INDEX),
        ("contracts/tasks.yaml", TASKS),
        ("contracts/note.yaml", NOTE),
        ("agents/worker.yaml", AGENT),
        ("workflows/main.yaml", MAIN),
    ];
    let files: BTreeMap<String, String> =
        files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    match load_protocol(ProtocolBundle { files }, &shipped()) {
        Ok(loaded) => loaded.protocol,
        Err(faults) => panic!("{faults:?}"),
    }
});

#[expect(clippy::disallowed_methods, reason = "a bench reads fixtures")]
fn shipped() -> ContractRegistry {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shipped-contracts/contracts");
    let read =
        |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
    let mut registry = ContractRegistry::default();
    for id in ["protocol_index", "workflow", "agent"] {
        let text = read(&format!("{id}.yaml")).expect("a contract");
        let contract =
            contract::load_contract(SourceFile::new(id, text), &read).expect("a sound contract");
        registry.add(contract).expect("one contract an id");
    }
    registry
}

/// A document of about so many bytes.
fn document(bytes: usize) -> Value {
    let task =
        |id: usize| json!({ "id": id, "title": format!("Task {id:05}"), "status": "pending" });
    let one = task(0).to_string().len() + 1;
    json!({ "tasks": (0..bytes / one).map(task).collect::<Vec<_>>() })
}

fn input(time: i64, what: InputKind) -> RunInput {
    RunInput {
        time: Timestamp(1_768_996_800_000 + time * 1_000),
        idempotency_key: None,
        sender: None,
        files: BTreeMap::new(),
        file_digests: BTreeMap::new(),
        payload: what,
    }
}

fn start(bytes: usize) -> RunInput {
    let start = RunStart {
        protocol: PROTOCOL.digest.clone(),
        workflow: "main".to_owned(),
        document: Some(document(bytes)),
        ..RunStart::default()
    };
    input(0, InputKind::Start(Box::new(start)))
}

fn reply(state: &RunState, time: i64) -> RunInput {
    let action = state.pending.keys().next().expect("a model is asked").clone();
    let status = if time % 2 == 0 { "pending" } else { "done" };
    let patch = json!([{ "op": "replace", "path": "/tasks/1/status", "value": status }]);
    let text = json!({ "note": format!("round {time}"), "patch": patch }).to_string();
    let (finish, by, exchange) = (FinishReason::default(), "script".to_owned(), None);
    let usage = ReplyUsage { input_tokens: 900, output_tokens: 40, cost: 1 };
    let (sent, build, repairs) = (None, None, Vec::new());
    let reply = ModelReply {
        action,
        text,
        finish,
        by,
        usage,
        response_format: sent,
        exchange,
        packet_build: build,
        repairs,
    };
    input(time, InputKind::ModelReplied(Box::new(reply)))
}

fn started(bytes: usize) -> RunState {
    decide(&PROTOCOL, &RunState::new("r"), &start(bytes)).expect("it begins").state
}

/// A log of at least so many events.
fn log(bytes: usize, events: u64) -> Vec<RunLogEntry> {
    let (mut state, mut log) = (RunState::new("r"), Vec::new());
    let mut next = start(bytes);
    let mut time = 0;
    while state.seq < events {
        let step = decide(&PROTOCOL, &state, &next).expect("it goes on");
        let hash = log.last().map_or(GENESIS_HASH, |last: &RunLogEntry| &last.hash);
        log.push(seal_entry(&state, &step.state, &step.events, hash));
        state = step.state;
        time += 1;
        next = reply(&state, time);
    }
    log
}

fn events(log: &[RunLogEntry]) -> u64 {
    log.last().map_or(0, |last| last.last_seq)
}

/// A reply is parsed, let in, patched in, the gate is asked, the model is asked again.
#[divan::bench(args = [2_000, 100_000])]
fn decide_a_reply(bencher: Bencher<'_, '_>, bytes: usize) {
    let state = started(bytes);
    let next = reply(&state, 1);
    bencher.bench_local(|| decide(&PROTOCOL, black_box(&state), black_box(&next)));
}

/// The same, and its events as they are kept.
#[divan::bench(args = [2_000, 100_000])]
fn decide_and_seal_a_reply(bencher: Bencher<'_, '_>, bytes: usize) {
    let state = started(bytes);
    let next = reply(&state, 1);
    bencher.bench_local(|| {
        let step = decide(&PROTOCOL, black_box(&state), black_box(&next)).expect("it goes on");
        seal_entry(&state, &step.state, &step.events, GENESIS_HASH)
    });
}

#[divan::bench(args = [2_000, 100_000], sample_count = 10)]
fn fold_a_log(bencher: Bencher<'_, '_>, bytes: usize) {
    let log = log(bytes, 10_000);
    bencher.counter(ItemsCount::new(events(&log))).bench_local(|| {
        let mut state = RunState::new("r");
        for entry in &log {
            fold_entry(&mut state, &entry.body).expect("it folds");
        }
        state
    });
}

/// Fold and hashes: what recovery needs.
#[divan::bench(args = [2_000], sample_count = 10)]
fn fold_and_link_a_log(bencher: Bencher<'_, '_>, bytes: usize) {
    let log = log(bytes, 10_000);
    bencher.counter(ItemsCount::new(events(&log))).bench_local(|| {
        let (mut state, mut hash) = (RunState::new("r"), GENESIS_HASH.to_owned());
        for entry in &log {
            fold_entry(&mut state, &entry.body).expect("it folds");
            hash = hash_entry(&hash, &entry.body);
        }
        (state, hash)
    });
}

/// Every decision is made again and compared.
#[divan::bench(args = [2_000, 100_000], sample_count = 3)]
fn verify_a_log(bencher: Bencher<'_, '_>, bytes: usize) {
    let log = log(bytes, 10_000);
    bencher
        .counter(ItemsCount::new(events(&log)))
        .bench_local(|| verify(&PROTOCOL, "r", black_box(&log)).expect("it proves itself"));
}
