//! Workflows that run by themselves. One that is only included is looked at inside those that include it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::protocol::{Protocol, Work, Workflow};

/// Every workflow but those that are parts of others: included, not invoked, not the default.
pub(super) fn workflows(protocol: &Protocol) -> Vec<&Workflow> {
    let all = || protocol.workflows.values();
    let included: BTreeSet<&str> = all().flat_map(includes).collect();
    let invoked: BTreeSet<&str> = all()
        .flat_map(|workflow| &workflow.phases)
        .filter_map(|phase| match &phase.work {
            Work::Invoke(invoke) => Some(invoke.workflow.as_str()),
            _ => None,
        })
        .collect();
    let is_part = |id: &str| {
        included.contains(id) && !invoked.contains(id) && id != protocol.default_workflow
    };
    all().filter(|workflow| !is_part(&workflow.id)).collect()
}

fn includes(workflow: &Workflow) -> Vec<&str> {
    match &workflow.origin.tree.value["include"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
