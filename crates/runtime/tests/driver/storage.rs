//! Storage grows with what changed, not with the document: ten thousand steps on a hundred kilobytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_runtime::driver::build_manual_reply;
use countersign_runtime::integrity::verify_stored_run;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::rig::{Kind, TestApp, protocol};

const EDITS: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
document: { contract: anything }
policy: { budget: { loops: 1000000 } }
--- contracts/anything.yaml
id: anything
version: 1.0.0
schema: { type: object }
--- contracts/edit.yaml
id: edit
version: 1.0.0
schema: { type: object, required: [patch], properties: { patch: { type: array } } }
--- agents/editor.yaml
id: editor
description: edits
base: fixer
--- workflows/main.yaml
id: main
phases:
  - { id: edit, agent: editor, contract: edit, apply: { patch: /patch } }
  - { id: done, terminal: true }
transitions:
  - { from: edit, to: edit, gate: "state.over !== true" }
  - { from: edit, to: done, priority: 1 }
"#;

#[tokio::test]
async fn runs_of_the_same_files_share_one_protocol() {
    let app = TestApp::new(Kind::Sqlite, EDITS);
    let engine = app.engine();
    let (again, _) = protocol(EDITS);
    assert!(!Arc::ptr_eq(&again, &app.protocol));
    let first = engine.start_named_run("r1", &app.protocol, app.begin(), None).await.unwrap();
    let second = engine.start_named_run("r2", &again, app.begin(), None).await.unwrap();
    assert!(Arc::ptr_eq(&first.protocol, &second.protocol));
}

/// So many steps take a while without optimisation; a tenth shows the same.
const STEPS: usize = 1_000;

#[tokio::test]
async fn a_thousand_steps_on_a_large_document_are_stored_within_twice_their_changes() {
    let app = TestApp::new(Kind::Sqlite, EDITS);
    let engine = app.engine();
    let cells: Vec<Value> = (0..100).map(|cell| json!(format!("{cell:0>1000}"))).collect();
    let document = json!({ "cells": cells, "over": false });
    assert!(document.to_string().len() > 100_000);
    let start = countersign_run::RunStart { document: Some(document), ..app.begin() };
    engine.start_named_run("r1", &app.protocol, start, None).await.unwrap();
    let mut patches = 0;
    for step in 0..STEPS {
        app.clock.advance(1_000);
        let action =
            engine.get_run("r1").await.unwrap().state.pending.keys().next().cloned().unwrap();
        let value = format!("{:0>1000}", step * 7);
        let pointer = format!("/cells/{}", step * 31 % 100);
        let patch = json!([{ "op": "replace", "path": pointer, "value": value }]);
        patches += patch.to_string().len();
        let reply = build_manual_reply(&action, &json!({ "patch": patch }).to_string(), "anna");
        let outcome = engine.submit_input("r1", reply, None).await.unwrap();
        assert!(outcome.violations().is_none(), "{:?}", outcome.violations());
    }
    let SnapshotsAndFile { snapshots, file } = measured(&app);
    assert!(snapshots > 100_000, "there are snapshots");
    assert!(
        file <= 2 * (patches + snapshots),
        "{file} bytes are stored for {patches} of patches and {snapshots} of snapshots"
    );
    let begun = Instant::now();
    let loaded = app.engine().load_version("r1", None).await.unwrap();
    let took = begun.elapsed();
    assert_eq!(loaded.state.version, 1 + STEPS as u64);
    assert!(
        loaded.bytes_since_snapshot <= loaded.snapshot_bytes,
        "what is folded is bounded by the snapshot"
    );
    assert!(took < Duration::from_secs(5), "loading took {took:?}");
    verify_stored_run(&engine, "r1").await.unwrap().unwrap();
}

struct SnapshotsAndFile {
    snapshots: usize,
    file: usize,
}

/// The bytes of the snapshots, and of the whole file once its journal is in it.
fn measured(app: &TestApp) -> SnapshotsAndFile {
    let path = app.folder.path().join("runs.db");
    let db = Connection::open(&path).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let snapshots: i64 =
        db.query_row("SELECT sum(length(body)) FROM snapshots", [], |row| row.get(0)).unwrap();
    let file = std::fs::metadata(&path).unwrap().len();
    SnapshotsAndFile { snapshots: snapshots as usize, file: file as usize }
}
