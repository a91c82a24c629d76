//! What nobody permits is not performed, whatever kind of order it is; the run is halted, and goes on
//! from there when somebody does.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use countersign_models::ModelSettings;
use countersign_run::{ExecutionStatus, InputKind};
use countersign_runtime::driver::{CachedModelResolver, Driver, EffectExecutor, IdleReason};
use countersign_runtime::effect::EffectJournal;
use countersign_runtime::engine::Engine;
use countersign_runtime::trust::{
    ActionGuard, AllowList, ProtocolPermissions, TrustFile, TrustRecord,
};
use countersign_runtime::workspace::Workspace;

use crate::rig::{Kind, TestApp};

const WANTS: &str = r#"--- index.yaml
name: wants
version: 1.0.0
default_workflow: main
models: { default: "openai:x@http://127.0.0.1:9/v1" }
hooks: { guard: { program: guard } }
policy:
  programs:
    mark: { command: [./mark.sh] }
    guard: { command: [./guard.sh] }
  hosts: ["127.0.0.1:1"]
  sources: { notes: { kind: files, path: notes } }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object }
--- workflows/main.yaml
id: main
phases:
  - { id: look, do: { retrieve: { source: notes, query: "'gate'" } }, apply: { set: { at: /found, value: reply } } }
  - { id: mark, on_exit: guard, do: { run: { program: mark } }, apply: { set: { at: /mark, value: reply.stdout } } }
  - { id: call, do: { http: { url: "http://127.0.0.1:1/x" }, on_failed: { goto: write } } }
  - { id: write, agent: fixer, contract: note, apply: { set: { at: /note, value: reply } } }
  - { id: done, terminal: true }
transitions:
  - { from: look, to: mark }
  - { from: mark, to: call }
  - { from: call, to: write }
  - { from: write, to: done }
--- work/notes/a.md
A gate is closed until it is opened.
--- work/mark.sh
#!/bin/sh
echo ran >> ran.txt
--- work/guard.sh
#!/bin/sh
echo guarded >> ran.txt
echo '{"result":"ok"}'
"#;

fn app(kind: Kind) -> TestApp {
    let app = TestApp::new(kind, WANTS);
    for program in ["mark.sh", "guard.sh"] {
        let path = app.work().join(program);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    app
}

fn nothing_ships(_: &str) -> Vec<ProtocolPermissions> {
    Vec::new()
}

fn guard(app: &TestApp) -> ActionGuard {
    ActionGuard::new(app.work(), nothing_ships)
}

fn driver(app: &TestApp, engine: &Arc<Engine>, guard: ActionGuard) -> Driver {
    let workspace = Workspace::open(&app.work()).unwrap();
    let journal = EffectJournal::open(&app.folder.path().join("effects")).unwrap();
    let hands = EffectExecutor::new(workspace, guard, journal, &app.work());
    let models = Arc::new(CachedModelResolver::new(ModelSettings::default(), app.work()));
    Driver::new(Arc::clone(engine), models, hands, "w".to_owned())
}

async fn resume(engine: &Engine) {
    let (by, grants) = ("ann".to_owned(), std::collections::BTreeMap::new());
    engine.submit_input("r1", InputKind::Resumed { by, grants }, None).await.unwrap();
}

/// The sentence that a run is halted with.
async fn halted(app: &TestApp) -> String {
    let (by, reason) = app.state("r1").await.halted.unwrap();
    assert_eq!(by, "trust");
    reason.unwrap()
}

/// What an operator adds to the list.
type Permit = fn(&mut AllowList);

async fn every_kind_of_order_is_asked_about(kind: Kind) {
    let app = app(kind);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let mut allow = AllowList::default();
    let steps: [(&str, Permit); 4] = [
        ("to open source `notes` of kind `files`", |list| list.allow_source("files").unwrap()),
        ("to run program `mark` (./mark.sh)", |list| list.allow_program("./mark.sh").unwrap()),
        ("to run program `guard` (./guard.sh)", |list| list.allow_program("./guard.sh").unwrap()),
        ("to call http://127.0.0.1:1", |list| list.allow_host("127.0.0.1:1").unwrap()),
    ];
    for (wanted, permit) in steps {
        let driver = driver(&app, &engine, guard(&app).with_allow_list(allow.clone()));
        assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Halted, "{wanted}");
        let reason = halted(&app).await;
        assert!(reason.starts_with(&format!("protocol `wants` wants {wanted}, ")), "{reason}");
        assert_eq!(app.state("r1").await.pending.len(), 1, "the order is still out");
        permit(&mut allow);
        resume(&engine).await;
    }
    assert_eq!(app.file("ran.txt"), "ran\nguarded\n");
    let driver = driver(&app, &engine, guard(&app).with_allow_list(allow));
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Halted);
    let reason = halted(&app).await;
    assert!(reason.contains("wants to send prompts to http://127.0.0.1:9, "), "{reason}");
    assert_eq!(app.state("r1").await.model_calls, 1, "it was ordered, and nobody was asked");
}

async fn a_list_that_a_person_trusts_is_permitted_whole_and_at_once(kind: Kind) {
    let app = app(kind);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let file = TrustFile::from_path(app.folder.path().join("settings/trust.json"));
    let driver = driver(&app, &engine, guard(&app).with_trust_file(file.clone()));
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Halted);
    let permissions = ProtocolPermissions::from_protocol(&app.protocol);
    let record = TrustRecord {
        digest: permissions.trust_digest("wants", &app.work()),
        subject: "protocol wants".to_owned(),
        folder: app.work(),
        list: permissions.describe(),
        commands: Vec::new(),
        by: "ann".to_owned(),
        trusted_at: countersign_run::Timestamp(0),
    };
    assert_eq!(
        record.list,
        [
            "program guard: ./guard.sh",
            "program mark: ./mark.sh",
            "host 127.0.0.1:1",
            r#"source notes: {"kind":"files","path":"notes"}"#,
            "model server http://127.0.0.1:9",
        ]
    );
    file.add(record).unwrap();
    resume(&engine).await;
    drop(driver.drive("r1").await.unwrap());
    let state = app.state("r1").await;
    assert_eq!((state.phase.as_str(), &state.halted), ("write", &None));
    assert_eq!(app.file("ran.txt"), "ran\nguarded\n");
    assert_ne!(state.status(), ExecutionStatus::Failed);
    // For another tenant a command is another file, so the same list is not trusted there.
    let owner = guard(&app).with_trust_file(file);
    assert!(owner.is_trusted(&app.protocol).unwrap());
    let tenant = owner.for_tenant(app.folder.path().join("tenants/acme"));
    assert!(!tenant.is_trusted(&app.protocol).unwrap());
}

on_both!(
    every_kind_of_order_is_asked_about,
    a_list_that_a_person_trusts_is_permitted_whole_and_at_once,
);
