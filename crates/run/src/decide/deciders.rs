//! Who may decide a wait: assignees, delegates, four eyes, and verified identities.

use std::collections::BTreeSet;

use countersign_protocol::{Assignee, DistinctParty, NotePolicy};

use super::run_decision::RunDecision;
use crate::event::RunEvent;
use crate::input::{IdentitySource, InputSender};
use crate::state::Continuation;
use crate::wait::{RunWait, WaitApproval, WaitKind};
use crate::{InputRejection, RunState};

/// Checks that a person may answer a wait: that it is assigned to them, and that the rules of an
/// approval do not exclude them.
///
/// # Errors
/// The rejection that an input of this person would get.
pub fn check_assignee(
    wait: &RunWait,
    by: &str,
    sender: Option<&InputSender>,
) -> Result<(), InputRejection> {
    let parties = sender
        .map_or_else(|| vec![Assignee::User(by.to_owned())], |sender| sender.to_assignees(by));
    let delegations = wait.approval.as_ref().map_or(&[][..], |approval| &approval.delegations);
    let assigned = wait.who.is_empty()
        || wait.who.iter().any(|one| parties.contains(one))
        || delegations.iter().any(|delegation| delegation.to == by);
    if !assigned {
        let quoted: Vec<String> = wait.who.iter().map(|one| format!("`{one}`")).collect();
        return Err(InputRejection::NotAssignee {
            wait: wait.id.clone(),
            assignee: quoted.join(", "),
            by: by.to_owned(),
        });
    }
    let Some(approval) = &wait.approval else { return Ok(()) };
    let is_claim = sender.is_none_or(|sender| sender.identity == IdentitySource::Claim);
    if approval.verified && is_claim {
        return Err(InputRejection::NotVerified { wait: wait.id.clone(), by: by.to_owned() });
    }
    let names = list_names(approval, by, sender);
    let (id, who) = (wait.id.clone(), by.to_owned());
    if names.iter().any(|name| approval.excluded.iter().any(|one| one == name)) {
        return Err(InputRejection::NotDistinct { wait: id, by: who });
    }
    if approval.votes.iter().any(|vote| names.contains(&vote.by.as_str())) {
        let missing = (approval.need as usize).saturating_sub(approval.votes.len());
        return Err(InputRejection::AlreadyApproved { wait: id, by: who, missing });
    }
    Ok(())
}

/// The names that a person acts under: the recorded one, and where identities are verified also
/// that of the authenticated user. Elsewhere every name is a claim, and two claims of one person
/// cannot be told from two people.
fn list_names<'n>(
    approval: &WaitApproval,
    by: &'n str,
    sender: Option<&'n InputSender>,
) -> Vec<&'n str> {
    let principal = sender.and_then(|sender| sender.principal.as_deref());
    [by].into_iter().chain(principal.filter(|_| approval.verified)).collect()
}

/// Names of the people in the parties that an approval excludes.
pub(super) fn list_excluded(state: &RunState, parties: &[DistinctParty]) -> Vec<String> {
    let members = |party: &DistinctParty| match party {
        DistinctParty::Starter => &state.starters,
        DistinctParty::Author => &state.authors,
        DistinctParty::Approver => &state.approvers,
    };
    let names: BTreeSet<&String> = parties.iter().flat_map(members).collect();
    names.into_iter().cloned().collect()
}

/// Rejects a person who has joined an excluded party since the approval was requested.
pub(super) fn check_distinct(
    state: &RunState,
    wait: &RunWait,
    by: &str,
    sender: Option<&InputSender>,
) -> Result<(), InputRejection> {
    let Some(approval) = &wait.approval else { return Ok(()) };
    let excluded = list_excluded(state, &approval.distinct_from);
    let names = list_names(approval, by, sender);
    if excluded.iter().any(|name| names.contains(&name.as_str())) {
        return Err(InputRejection::NotDistinct { wait: wait.id.clone(), by: by.to_owned() });
    }
    Ok(())
}

/// Rejects a decision without the reason that the protocol asks for.
pub(super) fn check_note(
    wait: &RunWait,
    approve: bool,
    note: Option<&String>,
) -> Result<(), InputRejection> {
    let policy = wait.approval.as_ref().map_or(NotePolicy::Optional, |approval| approval.note);
    let required = match policy {
        NotePolicy::Optional => false,
        NotePolicy::OnDenial => !approve,
        NotePolicy::Always => true,
    };
    if required && note.is_none_or(|note| note.trim().is_empty()) {
        let verb = if approve { "approving" } else { "denying" };
        return Err(InputRejection::NoteRequired { wait: wait.id.clone(), verb });
    }
    Ok(())
}

impl RunDecision<'_> {
    /// Handles a delegation: another person may decide from now on.
    pub(super) fn handle_delegation(
        &mut self,
        wait: &str,
        to: &str,
        by: &str,
        note: Option<&String>,
    ) -> Result<Option<Continuation>, InputRejection> {
        let wait = self.find_answerable_wait(wait, by)?;
        if wait.kind != WaitKind::Approval || wait.approval.is_none() {
            let (wait, kind) = (wait.id, wait.kind.as_str());
            let expected = "only approvals can be delegated";
            return Err(InputRejection::WrongKind { wait, kind, expected });
        }
        let (by, to, note) = (by.to_owned(), to.to_owned(), note.cloned());
        self.emit(RunEvent::WaitDelegated { wait: wait.id, by, to, note });
        Ok(None)
    }
}
