//! Answers what a run waits for: a question and an approval, both decided by code.
//!
//! ```sh
//! cargo run -p countersign --example answer_wait
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::fs;
use std::sync::Arc;

use countersign::prelude::*;
use countersign::run::WaitKind;
use serde_json::json;

const INDEX: &str = "{ name: release, version: 1.0.0, default_workflow: main }";

const WORKFLOW: &str = "
id: main
phases:
  - id: ask
    ask:
      question: Which version is released?
      answer: { type: string, pattern: '^[0-9]+\\.[0-9]+$' }
      apply: { set: /release }
  - id: decide
  - id: announce
    do: { write: { path: RELEASE.md, content: '`Version ${state.release} is out.\\n`' } }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: decide }
  - { from: decide, to: announce, gate: { type: manual, description: Is it announced? } }
  - { from: announce, to: done }
";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (protocol_folder, work) = (folder.path().join("protocol"), folder.path().join("work"));
    fs::create_dir_all(protocol_folder.join("workflows"))?;
    fs::create_dir_all(&work)?;
    fs::write(protocol_folder.join("index.yaml"), INDEX)?;
    fs::write(protocol_folder.join("workflows/main.yaml"), WORKFLOW)?;

    // The runs are in a file: another process could open it and continue them.
    let store = Arc::new(SqliteStore::open(folder.path().join("runs.db"))?);
    let runtime = RuntimeBuilder::new(store, &work)?.build()?;
    let protocol = runtime.load_protocol_folder(&protocol_folder)?;
    let run = runtime.start(&protocol, None).await?;

    while runtime.drive(&run).await? == IdleReason::WaitingForInput {
        let state = runtime.get_state(&run).await?;
        let wait = state.waits.values().next().ok_or("the run waits for nothing")?;
        println!("{}: {}", wait.kind.as_str(), wait.question);
        match wait.kind {
            WaitKind::Question => {
                // An answer of another shape is rejected, and the run does not change.
                let wrong = runtime.answer_wait(&run, &wait.id, json!("soon"), "ann").await;
                println!("  rejected: {}", wrong.err().ok_or("a wrong answer was accepted")?);
                runtime.answer_wait(&run, &wait.id, json!("1.4"), "ann").await?;
                println!("  answered: 1.4");
            }
            WaitKind::Approval => {
                runtime.approve_wait(&run, wait, "bob", Some("tests passed")).await?;
                println!("  approved");
            }
            other => return Err(format!("nobody handles a wait of kind {other:?}").into()),
        }
    }
    let status = runtime.get_state(&run).await?.status();
    println!("{}: {}", status.as_str(), fs::read_to_string(work.join("RELEASE.md"))?.trim());
    if status == ExecutionStatus::Completed { Ok(()) } else { Err("the run failed".into()) }
}
