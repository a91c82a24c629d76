//! Reads `policy.approvals`: which tool calls and effects need an approval.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::read_approval::read_approval_rules;
use super::read_duration::read_duration;
use super::read_expression::{read_expression, read_template};
use crate::{CALL_NAMES, CallApproval, CallApprovalCondition, CallPattern};

/// Reads the entries in file order. Entries that are invalid are reported and left out.
pub(super) fn read_call_approvals(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> Vec<CallApproval> {
    let Some(index) = index else { return Vec::new() };
    let section = index.root().get("policy").and_then(|policy| policy.get("approvals"));
    let entries = section.iter().flat_map(FileNode::items);
    entries
        .filter(|entry| index.is_valid(entry))
        .filter_map(|entry| read_call_approval(&entry, faults))
        .collect()
}

fn read_call_approval(entry: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<CallApproval> {
    let mut calls = Vec::new();
    for text in entry.strings_at("calls") {
        match CallPattern::parse(&text) {
            Ok(pattern) => calls.push(pattern),
            Err(reason) => {
                let message = format!("the name `{text}` of a call {reason}");
                let hint = "write the name of a call, or its beginning and a `*`".to_owned();
                let fault = entry.diagnose_key("pattern", "calls", message);
                faults.push(fault.with_hint(Some(hint)));
            }
        }
    }
    let when = match entry.get("when") {
        None => CallApprovalCondition::Always,
        Some(when) => match when.text()?.trim() {
            "always" => CallApprovalCondition::Always,
            "never" => CallApprovalCondition::Never,
            _ => CallApprovalCondition::If(read_expression(&when, &CALL_NAMES, faults)?),
        },
    };
    let question = match entry.get("description") {
        Some(text) => Some(read_template(&text, &CALL_NAMES, faults)?),
        None => None,
    };
    Some(CallApproval {
        calls,
        when,
        rules: read_approval_rules(entry, faults),
        deadline: entry.get("deadline").and_then(|deadline| read_duration(&deadline, faults)),
        question,
        origin: entry.origin(),
    })
}
