//! Finds workflows that run by themselves. A workflow that is only included is analysed inside
//! those that include it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{PhaseWork, Protocol, WorkflowDefinition};

/// Finds every workflow except those that are only parts of others: included, not invoked, and not
/// the default.
pub(super) fn find_standalone_workflows(protocol: &Protocol) -> Vec<&WorkflowDefinition> {
    let all = || protocol.workflows.values();
    let included: BTreeSet<&str> = all().flat_map(included_workflow_ids).collect();
    let invoked: BTreeSet<&str> = all()
        .flat_map(|workflow| &workflow.phases)
        .filter_map(|phase| match &phase.work {
            PhaseWork::Invoke(invoke) => Some(invoke.workflow.as_str()),
            _ => None,
        })
        .collect();
    let is_part = |id: &str| {
        included.contains(id) && !invoked.contains(id) && id != protocol.default_workflow
    };
    all().filter(|workflow| !is_part(&workflow.id)).collect()
}

fn included_workflow_ids(workflow: &WorkflowDefinition) -> Vec<&str> {
    match &workflow.origin.tree.value["include"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
