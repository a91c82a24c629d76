//! Reads who may answer a wait, and the conditions of an approval.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::read_duration::read_duration;
use crate::{ApprovalEscalation, ApprovalRules, Assignee, DistinctParty, NotePolicy};

/// Reads one assignee or a list.
pub(super) fn read_assignees(member: &FileNode<'_>, key: &str) -> Vec<Assignee> {
    member.strings_at(key).into_iter().map(Assignee::from).collect()
}

/// Reads the conditions of an approval from the keys of a manual gate.
pub(super) fn read_approval_rules(
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> ApprovalRules {
    let names = member.strings_at("distinct_from");
    let distinct_from =
        DistinctParty::ALL.into_iter().filter(|one| names.iter().any(|name| name == one.as_str()));
    let note = member.text_at("note").unwrap_or_default();
    let need = member.get("need").and_then(|need| need.value.as_u64()).unwrap_or(1);
    let who = read_assignees(member, "who");
    let escalation = member.get("escalate").and_then(|escalate| {
        let after = read_duration(&escalate.get("after")?, faults)?;
        Some(ApprovalEscalation { after, to: read_assignees(&escalate, "to") })
    });
    let only_users = who.iter().all(|one| matches!(one, Assignee::User(_)));
    if !who.is_empty() && only_users && escalation.is_none() && need > who.len() as u64 {
        let message = format!("{need} approvals are needed, but only {} may approve", who.len());
        faults.push(member.diagnose_key("maximum", "need", message));
    }
    if let (Some(escalation), Some(deadline)) = (&escalation, member.get("deadline"))
        && let Some(deadline) = read_duration(&deadline, &LoadDiagnostics::default())
        && deadline.millis <= escalation.after.millis
    {
        let message = "the approval escalates only after its deadline has passed";
        faults.push(member.diagnose_key("maximum", "escalate", message));
    }
    ApprovalRules {
        who,
        distinct_from: distinct_from.collect(),
        need: u32::try_from(need).unwrap_or(u32::MAX),
        verified: member.get("verified").and_then(|it| it.value.as_bool()).unwrap_or(false),
        note: NotePolicy::ALL.into_iter().find(|one| one.as_str() == note).unwrap_or_default(),
        escalation,
    }
}
