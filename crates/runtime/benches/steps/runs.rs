//! Runs that step: a document that is edited, reply after reply.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_protocol::{Protocol, ProtocolBundle, load_protocol};
use countersign_run::{InputKind, RunStart, RunState};
use countersign_runtime::clock::SystemClock;
use countersign_runtime::driver::build_manual_reply;
use countersign_runtime::engine::{Engine, EngineConfig};
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_store::{Store, TenantId};
use serde_json::{Value, json};

use crate::total::Total;

const FILES: [(&str, &str); 5] = [
    (
        "index.yaml",
        "{ name: bench, version: 1.0.0, default_workflow: main, document: { contract: page }, policy: { budget: { loops: 100000000 } } }",
    ),
    (
        "contracts/page.yaml",
        "{ id: page, version: 1.0.0, schema: { type: object, required: [cells], properties: { cells: { type: array, items: { type: string } }, over: { type: boolean } } } }",
    ),
    (
        "contracts/edit.yaml",
        "{ id: edit, version: 1.0.0, schema: { type: object, additionalProperties: false, required: [patch], properties: { patch: { type: array, items: { type: object } } } } }",
    ),
    ("agents/editor.yaml", "{ id: editor, description: edits, base: fixer }"),
    (
        "workflows/main.yaml",
        "{ id: main, phases: [{ id: edit, agent: editor, contract: edit, writes: [/cells], apply: { patch: /patch } }, { id: done, terminal: true }], transitions: [{ from: edit, to: edit, gate: 'state.over !== true' }, { from: edit, to: done, priority: 1 }] }",
    ),
];

pub(crate) fn protocol() -> Arc<Protocol> {
    let files = FILES.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let mut bundle = ProtocolBundle::default();
    bundle.files.extend(files);
    Arc::new(load_protocol(bundle, &load_shipped_contracts()).unwrap().protocol)
}

pub(crate) fn engine(store: Arc<dyn Store>) -> Arc<Engine> {
    Arc::new(Engine::open(EngineConfig {
        store,
        clock: Arc::new(SystemClock),
        observer: Arc::new(NoopRunObserver),
        shipped_contracts: Arc::new(load_shipped_contracts()),
        workspace: None,
        tenant: TenantId::default(),
    }))
}

/// A document of so many cells of so many bytes.
pub(crate) fn start(protocol: &Protocol, cells: usize, bytes: usize) -> RunStart {
    let cells: Vec<Value> = (0..cells).map(|cell| json!(format!("{cell:0>bytes$}"))).collect();
    RunStart {
        protocol: protocol.digest.clone(),
        workflow: protocol.default_workflow.clone(),
        document: Some(json!({ "cells": cells, "over": false })),
        ..RunStart::default()
    }
}

/// The edit of a step, as text: one cell of them gets a new text.
pub(crate) fn patch(step: usize, cells: usize, bytes: usize) -> String {
    let step_number = step.to_string();
    let (cell, fill) = (step * 31 % cells, "0".repeat(bytes - step_number.len()));
    format!(r#"[{{"op":"replace","path":"/cells/{cell}","value":"{fill}{step_number}"}}]"#)
}

pub(crate) fn reply(action: &str, step: usize, bytes: usize) -> InputKind {
    build_manual_reply(action, &format!(r#"{{"patch":{}}}"#, patch(step, 10, bytes)), "bench")
}

/// The order that is out.
pub(crate) fn action(state: &RunState) -> String {
    state.pending.keys().next().unwrap().clone()
}

/// One run that steps.
pub(crate) struct Stepper {
    engine: Arc<Engine>,
    run: String,
    action: String,
    steps: usize,
}

impl Stepper {
    pub(crate) async fn begin(engine: &Arc<Engine>, protocol: &Arc<Protocol>, run: &str) -> Self {
        let outcome =
            engine.start_named_run(run, protocol, start(protocol, 10, 200), None).await.unwrap();
        let (engine, run) = (Arc::clone(engine), run.to_owned());
        Self { engine, run, action: action(&outcome.state), steps: 0 }
    }

    async fn step(&mut self) {
        self.steps += 1;
        let reply = reply(&self.action, self.steps, 200);
        let outcome = self.engine.submit_input(&self.run, reply, None).await.unwrap();
        assert!(outcome.violations().is_none());
        self.action = action(&outcome.state);
    }

    /// Lets every run step for a while, each as fast as it is answered.
    pub(crate) async fn spin(runs: &mut Vec<Self>, slice: Duration, total: &mut Total) {
        let start = Instant::now();
        let tasks: Vec<_> = runs
            .drain(..)
            .map(|mut run| {
                tokio::spawn(async move {
                    let mut waits = Vec::new();
                    while start.elapsed() < slice {
                        let begun = Instant::now();
                        run.step().await;
                        waits.push(begun.elapsed());
                    }
                    (run, waits)
                })
            })
            .collect();
        for task in tasks {
            let (run, waits) = task.await.unwrap();
            runs.push(run);
            total.steps += waits.len() as u64;
            total.waits.extend(waits);
        }
        total.time += start.elapsed();
    }
}
