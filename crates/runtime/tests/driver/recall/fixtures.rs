//! A model that gives what it was told to, and notes what it was shown; a memory; a protocol of lamps.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use countersign_contract::reply::FinishReason;
use countersign_memory::compose::compose_packet;
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::record::MemoryEvent;
use countersign_memory::store::{
    EphemeralMemory, Memory, MemoryExportRow, PacketBuild, SqliteMemory,
};
use countersign_memory::tokens::find_counter;
use countersign_memory::{Candidates, MemorySubject};
use countersign_models::{
    ChatModel, ModelError, ModelExchange, ModelFuture, ModelRequest, ModelResponse,
    OutputConstraint,
};
use countersign_run::{InputKind, ModelReply, RunEvent, RunStart};
use countersign_runtime::driver::{Driver, ModelResolver};
use countersign_runtime::engine::Engine;
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};

use crate::rig::{Kind, TestApp};

/// Lamps: whoever starts `main` is asked for a colour, `again` asks nobody.
pub(super) const LAMPS: &str = r#"
--- index.yaml
name: lamps
version: 1.0.0
default_workflow: main
models: { default: parrot }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string, minLength: 2 } } }
--- agents/writer.yaml
id: writer
description: writes
base: designer
--- workflows/main.yaml
id: main
description: A lamp is described.
phases:
  - { id: ask, ask: { question: "Which colour should the lamp have?", apply: { set: /colour } } }
  - { id: write, agent: writer, contract: note, prompt: "Describe the colour of the lamp.", writes: [/note], apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: ask, to: write }, { from: write, to: done }]
--- workflows/again.yaml
id: again
phases:
  - { id: write, agent: writer, contract: note, purpose: tool, prompt: "Describe the colour of the lamp.", writes: [/note], apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: write, to: done }]
"#;

/// A reply that is accepted.
pub(super) const GOOD: &str = r#"{"note":"A lamp stands there."}"#;

/// Every model there is.
#[derive(Default)]
pub(super) struct Parrot {
    replies: Mutex<VecDeque<String>>,
    shown: Mutex<Vec<String>>,
}

impl Parrot {
    pub(super) fn saying(replies: &[&str]) -> Arc<Self> {
        let replies = replies.iter().map(|reply| (*reply).to_owned()).collect();
        Arc::new(Self { replies: Mutex::new(replies), shown: Mutex::default() })
    }

    /// The system texts it was shown.
    pub(super) fn shown(&self) -> Vec<String> {
        self.shown.lock().unwrap().clone()
    }

    pub(super) fn last(&self) -> String {
        self.shown().pop().unwrap()
    }
}

struct Perch(Arc<Parrot>);

/// The parrot as the models of a driver.
pub(super) struct Cage(pub(super) Arc<Parrot>);

impl ModelResolver for Cage {
    fn resolve_model(&self, _: &str) -> Result<Option<Arc<dyn ChatModel>>, String> {
        Ok(Some(Arc::new(Perch(Arc::clone(&self.0)))))
    }
}

impl ChatModel for Perch {
    fn name(&self) -> &'static str {
        "parrot"
    }

    fn complete<'a>(
        &'a self,
        ask: &'a ModelRequest,
        _: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            self.0.shown.lock().unwrap().push(ask.system.clone());
            let text = self.0.replies.lock().unwrap().pop_front();
            Ok(ModelResponse {
                text: text.unwrap_or_else(|| GOOD.to_owned()),
                finish: FinishReason::Stop,
                finish_reason: "stop".to_owned(),
                usage: None,
                model: "parrot".to_owned(),
                exchange: ModelExchange::default(),
                constraint: OutputConstraint::Unconstrained,
                drop_nulls: false,
            })
        })
    }
}

/// An empty memory beside the runs of an app.
pub(super) fn memory(kind: Kind, app: &TestApp) -> Arc<dyn Memory> {
    match kind {
        Kind::Memory => Arc::new(EphemeralMemory::default()),
        Kind::Sqlite => Arc::new(SqliteMemory::open(app.folder.path().join("memory.db")).unwrap()),
    }
}

/// An engine with a memory, and a worker for it.
pub(super) fn reminded(app: &TestApp, memory: &Arc<dyn Memory>, parrot: &Arc<Parrot>) -> Reminded {
    watched(app, memory, parrot, Arc::new(NoopRunObserver))
}

pub(super) fn watched(
    app: &TestApp,
    memory: &Arc<dyn Memory>,
    parrot: &Arc<Parrot>,
    watch: Arc<dyn RunObserver>,
) -> Reminded {
    let engine = app.engine_with(Arc::clone(memory), watch);
    let driver = app.driver_with(&engine, Arc::new(Cage(Arc::clone(parrot))), "w");
    Reminded { engine, driver }
}

pub(super) struct Reminded {
    pub(super) engine: Arc<Engine>,
    pub(super) driver: Driver,
}

/// Starts a run of a workflow for somebody.
pub(super) async fn start(app: &TestApp, engine: &Engine, run: &str, workflow: &str, by: &str) {
    let start = RunStart { workflow: workflow.to_owned(), by: Some(by.to_owned()), ..app.begin() };
    engine.start_named_run(run, &app.protocol, start, None).await.unwrap();
}

/// Whose memory.
pub(super) fn of(user: &str) -> MemorySubject {
    MemorySubject { tenant: tenant(), user: user.to_owned(), agent: "lamps".to_owned() }
}

/// Everything that is remembered of somebody.
pub(super) async fn events(memory: &dyn Memory, user: &str) -> Vec<MemoryEvent> {
    let lines = memory.export(&of(user)).await.unwrap();
    let event = |row: MemoryExportRow| match row {
        MemoryExportRow::Event(event) => Some(*event),
        _ => None,
    };
    lines.into_iter().filter_map(|line| event(line.row)).collect()
}

pub(super) fn tenant() -> String {
    countersign_store::TenantId::default().as_str().to_owned()
}

/// The replies in the log of a run.
pub(super) async fn replies(app: &TestApp, run: &str) -> Vec<ModelReply> {
    let reply = |event: RunEvent| match event {
        RunEvent::InputReceived { input } => match input.payload {
            InputKind::ModelReplied(reply) => Some(*reply),
            _ => None,
        },
        _ => None,
    };
    app.events(run).await.into_iter().filter_map(reply).collect()
}

/// The build that a reply names, which composes to the same packet again.
pub(super) async fn build(memory: &dyn Memory, user: &str, id: &str) -> (PacketBuild, Candidates) {
    let (build, found) = memory.load_build(&of(user), id).await.unwrap().unwrap();
    let policy: MemoryPolicy = serde_json::from_value(build.policy.clone()).unwrap();
    let counter = find_counter(&build.tokenizer).unwrap();
    let packet = compose_packet(&build.request, &policy, &found, &*counter).unwrap();
    let digest = countersign_contract::json::digest_json(&serde_json::to_value(&packet).unwrap());
    assert_eq!(digest, build.digest, "{id}");
    (build, found)
}
