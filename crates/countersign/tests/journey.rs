//! Follows one reply with a subscriber, as a debugger would, and compares the files that it passes
//! with the journey table of ARCHITECTURE.md.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use countersign::prelude::*;
use countersign::store::SqliteStore;
use serde_json::json;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

const PROTOCOL: [(&str, &str); 3] = [
    ("index.yaml", "{ name: slogans, version: 1.0.0, default_workflow: main }"),
    (
        "workflows/main.yaml",
        "
id: main
phases:
  - id: write
    agent: designer
    contract: slogan
    prompt: Write a slogan.
    writes: [/slogan]
    apply: { set: { at: /slogan, value: reply.slogan } }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: done, gate: state.slogan.length > 0 }
",
    ),
    (
        "contracts/slogan.yaml",
        "
id: slogan
version: 1.0.0
schema: { type: object, required: [slogan], properties: { slogan: { type: string } } }
rules: [{ id: short, then: reply.slogan.length < 40, at: /slogan, says: must be short }]
",
    ),
];

/// Notes the file of every stage from the model's reply to its commit.
#[derive(Clone, Default)]
struct JourneyRecorder {
    is_recording: Arc<AtomicBool>,
    files: Arc<Mutex<Vec<&'static str>>>,
}

impl Subscriber for JourneyRecorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == Level::TRACE
    }

    fn event(&self, event: &Event<'_>) {
        let mut files = self.files.lock().unwrap();
        let file = event.metadata().file().unwrap();
        if !self.is_recording.load(Ordering::Relaxed) || !file.starts_with("crates/") {
            return;
        }
        if !files.contains(&file) {
            files.push(file);
        }
        // The commit ends the journey.
        if file.ends_with("/writer.rs") {
            self.is_recording.store(false, Ordering::Relaxed);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The files of the journey table, in its order.
fn list_journey_files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let table = page.split_once("### From a reply to its commit").unwrap().1;
    let rows = table.lines().skip_while(|line| !line.starts_with("| 1 "));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let column = |row: &str| row.split(" | ").nth(2).unwrap().split('`').nth(1).unwrap().to_owned();
    rows.map(column).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_passes_the_files_of_the_journey_table_in_their_order() {
    let recorder = JourneyRecorder::default();
    tracing::subscriber::set_global_default(recorder.clone()).unwrap();
    let start = Arc::clone(&recorder.is_recording);
    let model = FunctionModel::new("example", move |_| {
        start.store(true, Ordering::Relaxed);
        async { Ok(json!({ "slogan": "Two hands sign." }).to_string()) }
    });
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("runs.db")).unwrap());
    let runtime = RuntimeBuilder::new(store, folder.path()).unwrap().with_model(model);
    let runtime = runtime.build().unwrap();
    let protocol = runtime.load_protocol(PROTOCOL.into_iter().collect()).unwrap();
    let run = runtime.start(&protocol, None).await.unwrap();
    let idle = runtime.drive(&run).await.unwrap();
    assert_eq!(idle, IdleReason::Ended(ExecutionStatus::Completed));

    let passed = recorder.files.lock().unwrap().clone();
    assert_eq!(passed, list_journey_files());
}
