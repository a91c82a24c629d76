//! Runs as files: the same bytes after every journey, nothing kept that does not prove itself, and
//! nothing lost or doubled by a crash half-way.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::contract::ContractRegistry;
use countersign_contract::reply::FinishReason;
use countersign_protocol::{Protocol, ProtocolBundle, load_protocol};
use countersign_run::{ExchangeDigests, InputKind, ModelReply, ReplyUsage, RunLogEntry, RunStart};
use countersign_runtime::clock::SystemClock;
use countersign_runtime::engine::{Engine, EngineConfig};
use countersign_runtime::integrity::verify_stored_run;
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_runtime::transfer::{
    ImportOutcome, TransferError, VerifiedRunFile, export_run, import_run,
};
use countersign_store::{
    Blob, DueRunsRequest, FaultPlan, FaultyStore, InMemoryStore, InjectedFault, Store, TenantId,
    WaitFilter,
};
use serde_json::json;

const INDEX: &str = "name: two\nversion: 1.0.0\ndefault_workflow: two\n";
const WORKFLOW: &str = "
id: two
phases:
  - { id: write, agent: fixer, contract: word, apply: { set: { at: /word, value: reply.word } } }
  - { id: decide }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: decide }
  - { from: decide, to: done, gate: { type: manual, description: 'Good?', deadline: 1d } }
";
const CONTRACT: &str = "
id: word
version: 1.0.0
schema: { type: object, required: [word], properties: { word: { type: string } } }
";

fn protocol() -> Arc<Protocol> {
    let files = [
        ("index.yaml", INDEX),
        ("workflows/two.yaml", WORKFLOW),
        ("contracts/word.yaml", CONTRACT),
    ];
    let files: BTreeMap<String, String> =
        files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    Arc::new(
        load_protocol(ProtocolBundle { files }, &ContractRegistry::default()).unwrap().protocol,
    )
}

fn engine(store: Arc<dyn Store>) -> Engine {
    Engine::open(EngineConfig {
        store,
        clock: Arc::new(SystemClock),
        observer: Arc::new(NoopRunObserver),
        shipped_contracts: Arc::new(ContractRegistry::default()),
        workspace: None,
        tenant: TenantId::default(),
    })
}

fn fresh() -> (Arc<InMemoryStore>, Engine) {
    let store = Arc::new(InMemoryStore::default());
    let engine = engine(Arc::clone(&store) as Arc<dyn Store>);
    (store, engine)
}

async fn keep(engine: &Engine, bytes: &[u8]) -> String {
    let digest = countersign_contract::json::sha256_hex(&[bytes]);
    let blob = Blob { digest: digest.clone(), bytes: bytes.to_vec() };
    engine.store().put_blob(engine.tenant(), blob).await.unwrap();
    digest
}

async fn reply(engine: &Engine, text: &str, exchange: Option<ExchangeDigests>) {
    let pending = engine.get_run("r").await.unwrap().state.pending.clone();
    let action = pending.keys().next().unwrap().clone();
    let (text, by) = (text.to_owned(), "model".to_owned());
    let (finish, usage) = (FinishReason::Stop, ReplyUsage::default());
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
    engine
        .submit_input("r", InputKind::ModelReplied(Box::new(reply)), Some("k".to_owned()))
        .await
        .unwrap();
}

/// A run that was refused once, has bytes of both kinds, and waits for an approval.
async fn waiting() -> (Arc<InMemoryStore>, Engine) {
    let (store, engine) = fresh();
    let protocol = protocol();
    let start = RunStart {
        protocol: protocol.digest.clone(),
        workflow: "two".to_owned(),
        document: Some(json!({"n": 1})),
        by: Some("ann".to_owned()),
        ..RunStart::default()
    };
    engine.start_named_run("r", &protocol, start, None).await.unwrap();
    reply_plain(&engine, "no").await;
    let request = keep(&engine, "{\"prompt\": \"слово\"}".as_bytes()).await;
    let response = keep(&engine, &[0xFF, 0x00, 0x80]).await;
    reply(&engine, "{\"word\": \"yes\"}", Some(ExchangeDigests { request, response })).await;
    assert_eq!(engine.get_run("r").await.unwrap().state.waits.len(), 1);
    (store, engine)
}

async fn reply_plain(engine: &Engine, text: &str) {
    let pending = engine.get_run("r").await.unwrap().state.pending.clone();
    let action = pending.keys().next().unwrap().clone();
    let what = countersign_runtime::driver::build_manual_reply(&action, text, "ann");
    engine.submit_input("r", what, None).await.unwrap();
}

async fn approve(engine: &Engine) {
    let what = engine.get_run("r").await.unwrap().state.waits["w1"].decide(true, "ann", None);
    engine.submit_input("r", what, None).await.unwrap();
}

fn read(text: &str) -> Result<VerifiedRunFile, TransferError> {
    VerifiedRunFile::parse_and_verify(text, &ContractRegistry::default())
}

#[track_caller]
fn refused(text: &str, because: &str) {
    let error = read(text).unwrap_err().to_string();
    assert!(error.contains(because), "{error}");
}

#[tokio::test]
async fn a_run_that_travels_is_the_same_run() {
    let (_, here) = waiting().await;
    let file = export_run(&here, "r").await.unwrap();
    assert_eq!(file, export_run(&here, "r").await.unwrap());
    let (_, there) = fresh();
    let packed = read(&file).unwrap();
    assert_eq!(import_run(&there, &packed).await.unwrap(), ImportOutcome::Created);
    assert_eq!(export_run(&there, "r").await.unwrap(), file);
    assert!(verify_stored_run(&there, "r").await.unwrap().is_ok());
    assert_eq!(there.get_run("r").await.unwrap().state, here.get_run("r").await.unwrap().state);
    // It knows its keys, and it goes on.
    assert_eq!(there.store().find_key_version(&there.run_id("r"), "k").await.unwrap(), Some(3));
    approve(&there).await;
    assert!(there.get_run("r").await.unwrap().state.end.is_some());
    assert!(verify_stored_run(&there, "r").await.unwrap().is_ok());
}

#[tokio::test]
async fn the_same_history_twice_is_kept_once_and_another_one_is_refused() {
    let (_, here) = waiting().await;
    let early = read(&export_run(&here, "r").await.unwrap()).unwrap();
    let (_, there) = fresh();
    import_run(&there, &early).await.unwrap();
    assert_eq!(import_run(&there, &early).await.unwrap(), ImportOutcome::Unchanged);
    approve(&here).await;
    let late = read(&export_run(&here, "r").await.unwrap()).unwrap();
    assert_eq!(
        import_run(&there, &late).await.unwrap(),
        ImportOutcome::Extended { previous_version: 3 }
    );
    assert_eq!(
        import_run(&there, &early).await.unwrap(),
        ImportOutcome::StoreAhead { store_version: 4 }
    );
    assert!(verify_stored_run(&there, "r").await.unwrap().is_ok());

    let (_, elsewhere) = fresh();
    import_run(&elsewhere, &early).await.unwrap();
    let what = InputKind::Cancelled { by: "bob".to_owned(), reason: None };
    elsewhere.submit_input("r", what, None).await.unwrap();
    let other = import_run(&elsewhere, &late).await.unwrap_err().to_string();
    let parted = early.verification.versions + 1;
    let expected = format!(
        "run `r` already exists with a different history; the first difference is at version {parted}"
    );
    assert_eq!(other, expected);
}

/// Whatever write an import dies at, a worker finds nothing to do in what it left, and importing again
/// completes it.
#[tokio::test]
async fn an_import_that_dies_leaves_a_beginning() {
    let (_, here) = waiting().await;
    let file = export_run(&here, "r").await.unwrap();
    let packed = read(&file).unwrap();
    for write in 1..=4 {
        for fault in [InjectedFault::BeforeWrite, InjectedFault::AfterWrite] {
            let store: Arc<dyn Store> = Arc::new(InMemoryStore::default());
            let plan = FaultPlan::Crash { write, fault };
            let dying = engine(Arc::new(FaultyStore::new(Arc::clone(&store), plan)));
            import_run(&dying, &packed).await.unwrap_err();
            let whole = write == 4 && fault == InjectedFault::AfterWrite;
            if !whole {
                let taking = DueRunsRequest::new("w", i64::MAX - 1, i64::MAX, 9);
                let taken = store.acquire_due_runs(&taking).await.unwrap();
                assert!(taken.is_empty(), "{write} {fault:?}");
                let all = WaitFilter::all(TenantId::default(), 9);
                assert!(store.list_waits(&all).await.unwrap().is_empty(), "{write} {fault:?}");
            }
            let again = engine(Arc::clone(&store));
            import_run(&again, &packed).await.unwrap();
            assert_eq!(export_run(&again, "r").await.unwrap(), file);
            assert!(verify_stored_run(&again, "r").await.unwrap().is_ok(), "{write} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_file_that_was_touched_is_refused_by_name() {
    let (_, here) = waiting().await;
    let file = export_run(&here, "r").await.unwrap();
    refused(
        &file.replace("\\\"word\\\\\\\": \\\\\\\"yes", "\\\"word\\\\\\\": \\\\\\\"nah"),
        "version 3 does not continue",
    );
    refused(&file.replace("слово", "слева"), "expected the digest");
    refused(&file.replace("countersign-run", "zip"), "expected a file of format");
    refused(&file.replace("\"v\":1,\"run\"", "\"v\":2,\"run\""), "format version 2");
    refused(&file.replace("Good?", "Fine?"), "line 2: expected the digest");
    refused("", "line 1: not a line");
    refused("[]", "expected a file of format");
    let lines: Vec<&str> = file.lines().collect();
    let without = |gone: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| *line);
        kept.collect::<Vec<_>>().join("\n")
    };
    refused(&without(1), "line 2: expected the protocol, found version 1");
    refused(&without(4), "line 5: expected version 3, found the bytes");
    refused(&without(lines.len() - 1), "which a version refers to, found the end of the file");
    refused(&format!("{file}{}\n", lines[2]), "expected the end of the file, found version 1");
    for line in 0..lines.len() {
        assert!(read(&without(line)).is_err(), "line {line} can be left out");
    }
}

/// A forger who mends the hashes still has to answer for the decisions.
#[tokio::test]
async fn a_chain_that_was_forged_does_not_decide_the_same() {
    let (_, here) = waiting().await;
    let file = export_run(&here, "r").await.unwrap();
    let mut hash = countersign_run::GENESIS_HASH.to_owned();
    let mut forged = Vec::new();
    for line in file.lines() {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        if value["line"] == "entry" {
            let body = value["body"]
                .as_str()
                .unwrap()
                .replace("\"phase\":\"decide\"", "\"phase\":\"done\"");
            hash = countersign_run::hash_entry(&hash, &body);
            (value["body"], value["hash"]) = (body.into(), hash.clone().into());
        }
        forged.push(value);
    }
    forged[0]["head"] = hash.into();
    let forged: Vec<String> = forged.iter().map(ToString::to_string).collect();
    refused(&forged.join("\n"), "repeating the decision gives");
}

#[tokio::test]
async fn bytes_that_are_lost_are_told_before_anything_is_written() {
    let (_, here) = waiting().await;
    let packed = read(&export_run(&here, "r").await.unwrap()).unwrap();
    let (_, there) = fresh();
    // The same log without its bytes: a store that lost them.
    let bare = serde_json::to_string(&countersign_runtime::engine::PinnedProtocol::from_protocol(
        &packed.protocol,
    ))
    .unwrap();
    there.store().put_protocol(there.tenant(), &packed.protocol.digest, &bare).await.unwrap();
    let log = here.read_log("r").await.unwrap();
    let head = here.store().load_head(&here.run_id("r")).await.unwrap().unwrap();
    for RunLogEntry { version, first_seq, last_seq, time, hash, body } in log {
        let update = countersign_store::RunHeadUpdate {
            status: "waiting".to_owned(),
            phase: "decide".to_owned(),
            updated_at: 0,
            summary: String::new(),
            ..countersign_store::RunHeadUpdate::default()
        };
        let entry = countersign_store::LogEntryRow {
            version,
            first_seq,
            last_seq,
            time: time.0,
            hash,
            body,
        };
        let commit =
            countersign_store::RunCommit::new(there.run_id("r"), version - 1, entry, update);
        if version == 1 {
            let new = countersign_store::NewRun {
                protocol: head.protocol.clone(),
                workflow: "two".to_owned(),
                ..countersign_store::NewRun::default()
            };
            there.store().create_run(new, commit).await.unwrap();
        } else {
            there.store().append_commit(commit).await.unwrap();
        }
    }
    let error = export_run(&there, "r").await.unwrap_err().to_string();
    assert!(error.starts_with("run `r` cannot be exported completely: the bytes "), "{error}");
    // Nor does what lists and inboxes read agree with this log.
    let flaw = verify_stored_run(&there, "r").await.unwrap().unwrap_err().to_string();
    assert!(flaw.contains("the store lists the run with summary"), "{flaw}");
}
