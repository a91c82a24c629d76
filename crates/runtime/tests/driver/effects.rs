//! Effects, tools and hooks of a run: done in order, under ids that stay, confined, and noted until kept.

use std::os::unix::fs::PermissionsExt as _;

use countersign_run::{ExecutionStatus, RunEvent};
use countersign_runtime::driver::IdleReason;
use countersign_store::{FaultPlan, FaultyStore, InjectedFault};
use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::rig::{Kind, TestApp};

const DEEDS: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
models: { default: "script:script.yaml" }
hooks:
  stamp: { patch: [{ op: add, path: /stamped, value: true }] }
  guard: { program: guard }
policy:
  programs:
    mark: { command: [./mark.sh] }
    guard: { command: [./guard.sh] }
  hosts: ["127.0.0.1:PORT"]
  sources: { notes: { kind: files, path: notes } }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string } } }
--- agents/worker.yaml
id: worker
description: works
base: fixer
tools: replace
tools_list: [read, write, list, search]
--- workflows/main.yaml
id: main
phases:
  - { id: look, do: { retrieve: { source: notes, query: "'gate'" } }, apply: { set: { at: /found, value: reply } } }
  - { id: use, on_enter: stamp, agent: worker, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: put, do: { write: { path: "out/{{ run.id }}.md", content: state.note } }, apply: { set: { at: /file, value: reply } } }
  - { id: mark, on_exit: guard, do: { run: { program: mark, args: [one], input: state.note } }, apply: { set: { at: /mark, value: reply.stdout } } }
  - { id: call, do: { http: { url: "http://127.0.0.1:PORT/x", body: state.note, retry: { interval: 10s } }, retry: { interval: 10s, max_attempts: 2 } }, apply: { set: { at: /called, value: reply.status } } }
  - { id: done, terminal: true }
transitions:
  - { from: look, to: use }
  - { from: use, to: put }
  - { from: put, to: mark }
  - { from: mark, to: call }
  - { from: call, to: done }
--- work/notes/a.md
A gate is closed until it is opened.
--- work/secret.md
top
--- work/hidden/key.txt
hidden
--- work/mark.sh
#!/bin/sh
echo "$COUNTERSIGN_ACTION_ID" >> ids.txt
echo "$1 $(cat)"
--- work/guard.sh
#!/bin/sh
cat > hook.json
echo '{"result":"ok"}'
--- work/script.yaml
- reply:
    tool_calls:
      - { tool: write, path: made.txt, content: "1" }
      - { tool: read, path: made.txt }
      - { tool: write, path: made.txt, content: "2" }
      - { tool: read, path: made.txt }
      - { tool: read, path: ../runs.db }
      - { tool: read, path: hidden/key.txt }
      - { tool: list, path: "" }
      - { tool: search, query: gate }
- reply:
    tool_calls:
      - { tool: write, path: ../out.txt, content: x }
      - { tool: write, path: made.txt, content: "3" }
      - { tool: read, path: made.txt }
- reply: { note: all seen }
"#;

/// A host that refuses the first call for the moment and takes the second; gives the keys it saw.
async fn host() -> (u16, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let mut keys = Vec::new();
        for answer in ["503 Busy", "200 OK"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 16 * 1024];
            let length = stream.read(&mut request).await.unwrap();
            let text = String::from_utf8_lossy(&request[..length]).to_lowercase();
            let key = text.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
            keys.push(key.unwrap().to_owned());
            let response =
                format!("HTTP/1.1 {answer}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
            stream.write_all(response.as_bytes()).await.unwrap();
        }
        keys
    });
    (port, task)
}

fn app(kind: Kind, port: u16) -> TestApp {
    let app = TestApp::new(kind, &DEEDS.replace("PORT", &port.to_string()));
    for program in ["mark.sh", "guard.sh"] {
        let path = app.work().join(program);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    app
}

async fn a_run_does_all_that_its_protocol_says(kind: Kind) {
    let (port, seen) = host().await;
    let app = app(kind, port);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert!(
        matches!(driver.drive("r1").await.unwrap(), IdleReason::WaitingUntil(_)),
        "the host was busy"
    );
    app.clock.advance(10_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));

    let document = app.state("r1").await.document;
    assert_eq!(document["found"][0]["path"], "a.md");
    assert_eq!(document["stamped"], json!(true));
    assert_eq!(
        (&document["note"], app.file("out/r1.md").as_str()),
        (&json!("all seen"), "all seen")
    );
    assert_eq!(document["file"]["bytes"], json!(8));
    assert_eq!(document["mark"], json!("one \"all seen\"\n"));
    assert_eq!(document["called"], json!(200));
    let hook: serde_json::Value = serde_json::from_str(&app.file("hook.json")).unwrap();
    assert_eq!((&hook["hook_point"], &hook["to"]), (&json!("exit"), &json!("call")));

    let events = app.events("r1").await;
    let mut runs = Vec::new();
    let mut calls = Vec::new();
    for event in &events {
        if let RunEvent::EffectRequested { action, effect, .. } = event {
            match effect {
                countersign_run::EffectCall::Run { .. } => runs.push(format!("r1/{action}")),
                countersign_run::EffectCall::Http { .. } => {
                    calls.push(format!("r1/{action}"));
                }
                _ => {}
            }
        }
    }
    assert_eq!(app.file("ids.txt").lines().collect::<Vec<_>>(), runs);
    assert_eq!(seen.await.unwrap(), calls, "a try of its own has an id of its own");
    assert_eq!(app.notes(), 0, "nothing is noted that the log has");
}

async fn tools_are_used_in_order_and_stay_inside(kind: Kind) {
    let app = app(kind, 1);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    drop(app.driver(&engine, "w").drive("r1").await.unwrap());
    let mut outputs = Vec::new();
    for event in app.events("r1").await {
        if let RunEvent::InputReceived { input } = event
            && let countersign_run::InputKind::ToolFinished { ok, output, .. } = input.payload
        {
            outputs.push((ok, output));
        }
    }
    assert_eq!(outputs.len(), 11);
    for (index, expected) in [(1, "1"), (3, "2"), (10, "3")] {
        assert_eq!(outputs[index], (true, expected.to_owned()), "they were used in their order");
    }
    for index in [4, 5, 8] {
        assert!(!outputs[index].0, "{:?}", outputs[index]);
    }
    assert!(!outputs[6].1.contains("hidden"), "{}", outputs[6].1);
    assert!(outputs[7].1.contains("notes/a.md:1"), "{}", outputs[7].1);
    assert!(!app.folder.path().join("out.txt").exists());
    let whole = format!("{outputs:?}");
    assert!(!whole.contains("SQLite format"), "what lies outside was not read");
}

async fn a_program_whose_end_was_noted_is_not_run_again(kind: Kind) {
    let app = app(kind, 1);
    app.start(&app.engine(), "r1").await;
    // Each worker keeps one result and dies with the next in its hands, until that is the program's.
    let mut workers = 0;
    let run = loop {
        workers += 1;
        let gone = FaultPlan::Crash { write: 3, fault: InjectedFault::BeforeWrite };
        let faulty = FaultyStore::new(Arc::clone(&app.store), gone);
        let engine = app.engine_over(Arc::new(faulty));
        let driver = app.driver(&engine, &format!("w{workers}"));
        let work = driver.drive("r1");
        tokio::pin!(work);
        let tick = std::time::Duration::from_millis(1);
        while tokio::time::timeout(tick, &mut work).await.is_err() {
            app.clock.advance(1_000);
        }
        app.clock.advance(60_000);
        let ids = app.file("ids.txt");
        if !ids.is_empty() {
            break ids;
        }
    };
    assert_eq!(app.notes(), 1, "it was done, and the run does not know yet");
    drop(app.driver(&app.engine(), "next").drive("r1").await);
    assert_eq!(app.file("ids.txt"), run, "it was not done again");
    assert_eq!(app.document("r1", "/mark").await, json!("one \"all seen\"\n"));
}

on_both!(
    a_run_does_all_that_its_protocol_says,
    tools_are_used_in_order_and_stay_inside,
    a_program_whose_end_was_noted_is_not_run_again,
);
