//! Folders become protocols: the seed's own example, includes, agents, and every part of a phase.
//!
//! What is wrong with a folder is asked in `protocol_load_faults.rs`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of faults")]
mod folder;

use countersign_core::protocol::Check;
use folder::sound;

/// The example of the first seed, file by file.
const SEED: &str = include_str!("protocol_load/seed.txt");

#[test]
fn the_example_of_the_seed_loads() {
    let protocol = sound(SEED);
    assert_eq!((protocol.name.as_str(), protocol.version.as_str()), ("ralph", "1.0.0"));
    let workflow = protocol.workflow(&protocol.default_workflow).unwrap();
    let phases: Vec<&str> = workflow.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(phases, ["decompose", "work_loop", "done"]);
    let ways: Vec<String> = workflow
        .ways_out("work_loop")
        .iter()
        .map(|(_, way)| match &way.gate.as_ref().unwrap().check {
            Check::Expression(check) => format!("{} {} {}", way.priority, way.to, check.source()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        ways,
        [
            "1 work_loop state.tasks.some(t => t.status !== 'done')",
            "2 done state.tasks.every(t => t.status === 'done')",
        ]
    );
    assert!(workflow.ends_in(workflow.phase("done").unwrap()));
    let places: Vec<&str> = protocol.document.engine.iter().map(|own| own.at.as_str()).collect();
    assert_eq!(places, ["/workflow", "/phase", "/status", "/updated_at"]);
    assert_eq!(protocol.agents["translator"].model.as_deref(), Some("gpt-4"));
}
