//! Runs a protocol in this process. The model is a function; its first reply is refused, and it is
//! asked again.
//!
//! ```sh
//! cargo run -p countersign --example run_protocol
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::sync::Arc;

use countersign::prelude::*;
use countersign::runtime::integrity::verify_stored_run;
use serde_json::json;

/// A protocol as it would be in a folder: one workflow, one contract.
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
    prompt: 'Write a slogan about {{ state.topic }}.'
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
schema:
  type: object
  additionalProperties: false
  required: [slogan]
  properties: { slogan: { type: string, maxLength: 40 } }
",
    ),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Call your own model here: the function gets the whole conversation and returns a text.
    let model = FunctionModel::new("example", |request| {
        let is_asked_again = request.messages.len() > 1;
        let slogan = if is_asked_again {
            "Two hands sign."
        } else {
            "Nothing that a model writes has force until a second hand signs it."
        };
        async move { Ok(json!({ "slogan": slogan }).to_string()) }
    });
    let folder = tempfile::tempdir()?;
    let store = Arc::new(InMemoryStore::new());
    let runtime = RuntimeBuilder::new(store, folder.path())?.with_model(model).build()?;

    let protocol = runtime.load_protocol(PROTOCOL.into_iter().collect())?;
    let run = runtime.start(&protocol, Some(json!({ "topic": "countersigning" }))).await?;
    let idle = runtime.drive(&run).await?;

    for event in runtime.list_events(&run).await? {
        match event {
            RunEvent::PhaseEntered { phase } => println!("phase {phase}"),
            RunEvent::ReplyRefused { attempt, violations, .. } => {
                println!("attempt {attempt} refused: {}", violations[0]);
            }
            RunEvent::ReplyAccepted { attempt, .. } => println!("attempt {attempt} accepted"),
            _ => {}
        }
    }
    println!("document: {}", runtime.get_state(&run).await?.document["slogan"]);
    // Checks the hash chain, and decides every input again.
    let verification = verify_stored_run(&runtime.engine, &run).await??;
    println!("verified: {} inputs", verification.versions);
    match idle {
        IdleReason::Ended(ExecutionStatus::Completed) => Ok(()),
        other => Err(format!("the run is not completed: {other:?}").into()),
    }
}
