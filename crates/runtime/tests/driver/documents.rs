//! Documents that lie where they were asked for answer by themselves.

use std::fs;

use countersign_core::run::{Incoming, Status};
use countersign_runtime::driver::Rest;
use serde_json::json;

use crate::rig::{House, Kind};

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
    let house = House::new(kind, NEEDS);
    let engine = house.engine();
    house.start(&engine, "r1").await;
    let driver = house.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), Rest::Waiting);
    assert_eq!(house.state("r1").await.waits.len(), 4);

    let inputs = house.work().join("inputs/r1");
    fs::create_dir_all(&inputs).unwrap();
    fs::write(inputs.join("plan.pdf"), "%PDF").unwrap();
    // Of a type that is not taken, for somebody, and of another run.
    fs::write(house.work().join("odd.txt"), "x").unwrap();
    fs::write(house.work().join("hers.md"), "x").unwrap();
    fs::create_dir_all(house.work().join("inputs/r2")).unwrap();
    fs::write(house.work().join("inputs/r2/brief.md"), "x").unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), Rest::Waiting);
    assert_eq!(house.document("r1", "/got").await, json!(["plan inputs/r1/plan.pdf 4"]));
    assert_eq!(house.state("r1").await.waits.len(), 3, "what does not fit is left to people");

    // A halted run moves nowhere.
    let halted = Incoming::Halted { by: "anna".to_owned(), reason: None };
    engine.give("r1", halted, None).await.unwrap();
    fs::write(inputs.join("brief.md"), "# Brief").unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), Rest::Halted);
    assert_eq!(house.state("r1").await.waits.len(), 3);
    let resumed = Incoming::Resumed { by: "anna".to_owned(), grants: [].into() };
    engine.give("r1", resumed, None).await.unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), Rest::Waiting);
    assert_eq!(house.state("r1").await.waits.len(), 2);

    for (wait, path) in [("w3", "odd.md"), ("w4", "hers.md")] {
        let (value, by) = (json!({ "path": path }), "anna".to_owned());
        let what = Incoming::Answered { wait: wait.to_owned(), value, by };
        engine.give("r1", what, None).await.unwrap();
    }
    assert_eq!(driver.drive("r1").await.unwrap(), Rest::Ended(Status::Completed));
    let got = house.document("r1", "/got").await;
    assert_eq!(got, json!(["plan inputs/r1/plan.pdf 4", "brief inputs/r1/brief.md 7"]));
    house.events("r1").await;
}

on_both!(a_file_at_its_suggested_path_answers);
