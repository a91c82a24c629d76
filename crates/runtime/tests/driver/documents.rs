//! Documents that lie where they were asked for answer by themselves.

use std::fs;

use countersign_run::{ExecutionStatus, InputKind, ToolCall};
use countersign_runtime::driver::{IdleReason, describe_unused_document};
use countersign_runtime::tool::perform_tool_call;
use countersign_runtime::workspace::Workspace;
use serde_json::json;

use crate::rig::{Kind, TestApp};

const NEEDS: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
document: { initial: { needs: [ { id: brief, kind: .md }, { id: plan, kind: .pdf } ] } }
--- workflows/main.yaml
id: main
phases:
  - id: ask
    ask:
      - each: state.needs
        as: need
        id: "need-{{ need.id }}"
        question: "Bring {{ need.id }}."
        document: { suggested_path: "inputs/{{ run.id }}/{{ need.id }}{{ need.kind }}", accepts: "[need.kind]" }
        apply: { append: { at: /got, value: "need.id + ' ' + reply.path + ' ' + reply.bytes" } }
      - { id: odd, question: Bring it., document: { suggested_path: odd.txt, accepts: [.md] }, apply: { set: { at: /odd, value: reply.path } } }
      - { id: hers, question: "Bring it, Anna.", who: anna, document: { suggested_path: hers.md }, apply: { set: { at: /hers, value: reply.path } } }
  - { id: done, terminal: true }
transitions: [ { from: ask, to: done } ]
"#;

async fn a_file_at_its_suggested_path_answers(kind: Kind) {
    let app = TestApp::new(kind, NEEDS);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    assert_eq!(app.state("r1").await.waits.len(), 4);

    let inputs = app.work().join("inputs/r1");
    fs::create_dir_all(&inputs).unwrap();
    fs::write(inputs.join("plan.pdf"), "%PDF").unwrap();
    // Of a type that is not taken, for somebody, and of another run.
    fs::write(app.work().join("odd.txt"), "x").unwrap();
    fs::write(app.work().join("hers.md"), "x").unwrap();
    fs::create_dir_all(app.work().join("inputs/r2")).unwrap();
    fs::write(app.work().join("inputs/r2/brief.md"), "x").unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    assert_eq!(app.document("r1", "/got").await, json!(["plan inputs/r1/plan.pdf 4"]));
    assert_eq!(app.state("r1").await.waits.len(), 3, "what does not fit is left to people");

    // A halted run moves nowhere.
    let halted = InputKind::Halted { by: "anna".to_owned(), reason: None };
    engine.submit_input("r1", halted, None).await.unwrap();
    fs::write(inputs.join("brief.md"), "# Brief").unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Halted);
    assert_eq!(app.state("r1").await.waits.len(), 3);
    let resumed = InputKind::Resumed { by: "anna".to_owned(), grants: [].into() };
    engine.submit_input("r1", resumed, None).await.unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    assert_eq!(app.state("r1").await.waits.len(), 2);

    for (wait, path) in [("w3", "odd.md"), ("w4", "hers.md")] {
        let (value, by) = (json!({ "path": path }), "anna".to_owned());
        let what = InputKind::Answered { wait: wait.to_owned(), value, by };
        engine.submit_input("r1", what, None).await.unwrap();
    }
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    let got = app.document("r1", "/got").await;
    assert_eq!(got, json!(["plan inputs/r1/plan.pdf 4", "brief inputs/r1/brief.md 7"]));
    app.events("r1").await;
}

async fn whoever_looks_out_sees_a_document_arrive(kind: Kind) {
    let app = TestApp::new(kind, NEEDS);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    driver.drive("r1").await.unwrap();
    let before = driver.take_change_snapshot("r1").await.unwrap();
    driver.drive("r1").await.unwrap();
    assert_eq!(driver.take_change_snapshot("r1").await.unwrap(), before, "nothing came");
    // A file for somebody, and one that nobody looks for, are nothing to wake up for.
    fs::write(app.work().join("hers.md"), "x").unwrap();
    fs::write(app.work().join("other.md"), "x").unwrap();
    assert_eq!(driver.take_change_snapshot("r1").await.unwrap(), before);

    let mut looking = std::pin::pin!(driver.wait_for_change("r1", &before));
    let inputs = app.work().join("inputs/r1");
    fs::create_dir_all(&inputs).unwrap();
    let (plan, clock) = (inputs.join("plan.pdf"), &app.clock);
    // It grows between any two looks, so it is left alone.
    for size in 1..5 {
        fs::write(&plan, &"%PDF"[..size]).unwrap();
        assert!(still_looks(looking.as_mut(), clock.sleep_count(), || clock.sleep_count()).await);
        clock.advance(500);
    }
    // Now it is as it was at the look before.
    let seen = tokio::select! {
        biased;
        seen = &mut looking => seen,
        () = async { loop { clock.advance(500); tokio::task::yield_now().await } } => unreachable!(),
    };
    seen.unwrap();
    driver.drive("r1").await.unwrap();
    assert_eq!(app.document("r1", "/got").await, json!(["plan inputs/r1/plan.pdf 4"]));

    let before = driver.take_change_snapshot("r1").await.unwrap();
    let what = InputKind::Halted { by: "anna".to_owned(), reason: None };
    engine.submit_input("r1", what, None).await.unwrap();
    assert_ne!(driver.take_change_snapshot("r1").await.unwrap(), before, "somebody moved it");
}

/// Polls until the clock is asked to wait once more; whether it still waits then.
async fn still_looks<T>(
    mut looking: std::pin::Pin<&mut impl Future<Output = T>>,
    before: u64,
    sleep_count: impl Fn() -> u64,
) -> bool {
    loop {
        tokio::select! {
            biased;
            _ = &mut looking => return false,
            () = tokio::task::yield_now() => {}
        }
        if sleep_count() > before {
            return true;
        }
    }
}

async fn two_runs_never_share_a_document(kind: Kind) {
    let protocol = NEEDS.replace("inputs/{{ run.id }}/", "workspace/inputs/");
    let app = TestApp::new(kind, &protocol);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    app.start(&engine, "r2").await;
    let driver = app.driver(&engine, "w");
    driver.drive("r1").await.unwrap();
    driver.drive("r2").await.unwrap();
    let state = app.state("r2").await;
    let workspace = Workspace::open(&app.work()).unwrap();
    let unused = |wait: &str| describe_unused_document(&workspace, "r2", &state.waits[wait]);
    assert_eq!(unused("w2"), None);

    fs::create_dir_all(app.work().join("inputs/r1")).unwrap();
    fs::write(app.work().join("inputs/r1/plan.pdf"), "%PDF").unwrap();
    fs::write(app.work().join("inputs/plan.pdf"), "%PDF of no run").unwrap();
    driver.drive("r1").await.unwrap();
    driver.drive("r2").await.unwrap();
    assert_eq!(app.document("r1", "/got").await, json!(["plan inputs/r1/plan.pdf 4"]));
    assert_eq!(app.state("r2").await.waits.len(), 4, "neither the other's nor that of no run");
    let moved = "the file `inputs/plan.pdf` belongs to no run; move it to `inputs/r2/plan.pdf`";
    assert_eq!(unused("w2").as_deref(), Some(moved));

    // A file that is not what its name says is left to people, and they are told.
    fs::create_dir_all(app.work().join("inputs/r2")).unwrap();
    fs::write(app.work().join("inputs/r2/plan.pdf"), "# A text").unwrap();
    driver.drive("r2").await.unwrap();
    assert_eq!(app.state("r2").await.waits.len(), 4);
    let other = "the file `inputs/r2/plan.pdf` is other content; expected a PDF document, because the name ends with `.pdf`";
    assert_eq!(unused("w2").as_deref(), Some(other));
    fs::write(app.work().join("inputs/r2/plan.pdf"), "%PDF").unwrap();
    driver.drive("r2").await.unwrap();
    assert_eq!(app.document("r2", "/got").await, json!(["plan inputs/r2/plan.pdf 4"]));

    // Agents and effects of a run reach its own inputs by the names of the specification.
    let seen = workspace.with_run(&state);
    let read = |path: &str| perform_tool_call(&seen, &ToolCall::read_file(path));
    fs::write(app.work().join("inputs/r1/notes.md"), "notes of one").unwrap();
    fs::write(app.work().join("inputs/r2/notes.md"), "notes of two").unwrap();
    for path in ["inputs/notes.md", "workspace/inputs/notes.md", "inputs/r2/notes.md"] {
        assert_eq!(read(path).output, "notes of two", "{path}");
    }
    assert!(!read("inputs/r1/notes.md").ok);
    let search = ToolCall::Search { query: "notes".to_owned(), path: String::new() };
    let found = perform_tool_call(&seen, &search).output;
    let expected = "inputs/r2/notes.md:1: notes of two\n… `inputs/r2/plan.pdf` was not searched: it is named like a PDF, but is text";
    assert_eq!(found, expected, "no document of another run is found");
}

async fn a_file_exactly_where_the_specification_writes_it_is_found(kind: Kind) {
    let protocol = NEEDS.replace("inputs/{{ run.id }}/", "workspace/inputs/{{ run.id }}-");
    let app = TestApp::new(kind, &protocol);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    driver.drive("r1").await.unwrap();
    let opened = app.state("r1").await.waits["w2"].opened_at.0 as u64;
    let before = driver.take_change_snapshot("r1").await.unwrap();

    // A file of an earlier time does not answer a question of now.
    let folder = app.work().join("workspace/inputs");
    fs::create_dir_all(&folder).unwrap();
    let put = |time: u64| {
        fs::write(folder.join("r1-plan.pdf"), "%PDF").unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(time);
        let file = fs::File::options().write(true).open(folder.join("r1-plan.pdf")).unwrap();
        file.set_modified(time).unwrap();
    };
    put(opened - 1);
    driver.drive("r1").await.unwrap();
    assert_eq!(app.state("r1").await.waits.len(), 4);
    let workspace = Workspace::open(&app.work()).unwrap();
    let state = app.state("r1").await;
    let moved = "the file `workspace/inputs/r1-plan.pdf` belongs to no run; move it to `inputs/r1/r1-plan.pdf`";
    let unused = describe_unused_document(&workspace, "r1", &state.waits["w2"]);
    assert_eq!(unused.as_deref(), Some(moved));
    assert_eq!(driver.take_change_snapshot("r1").await.unwrap(), before);

    put(opened);
    assert_ne!(driver.take_change_snapshot("r1").await.unwrap(), before, "somebody is woken up");
    driver.drive("r1").await.unwrap();
    assert_eq!(app.document("r1", "/got").await, json!(["plan inputs/r1/r1-plan.pdf 4"]));
    assert!(app.work().join("inputs/r1/r1-plan.pdf").is_file(), "the run has a copy of its own");

    // Tools find what lies exactly there, unless the run has a file of its own at that name.
    let seen = workspace.with_run(&app.state("r1").await);
    let read = |path: &str| perform_tool_call(&seen, &ToolCall::read_file(path)).output;
    fs::write(folder.join("notes.md"), "of all").unwrap();
    assert_eq!(read("workspace/inputs/notes.md"), "of all");
    fs::write(app.work().join("inputs/r1/notes.md"), "its own").unwrap();
    assert_eq!(read("workspace/inputs/notes.md"), "its own");
    fs::create_dir_all(app.work().join("artifacts/note")).unwrap();
    fs::write(app.work().join("artifacts/note/v1-a.md"), "made").unwrap();
    assert_eq!(read("workspace/artifacts/note/v1-a.md"), "made");
    fs::create_dir_all(app.work().join("workspace/artifacts/note")).unwrap();
    fs::write(app.work().join("workspace/artifacts/note/b.md"), "put there").unwrap();
    assert_eq!(read("workspace/artifacts/note/b.md"), "put there");
}

on_both!(
    a_file_exactly_where_the_specification_writes_it_is_found,
    two_runs_never_share_a_document,
    a_file_at_its_suggested_path_answers,
    whoever_looks_out_sees_a_document_arrive
);
