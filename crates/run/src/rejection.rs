//! Rejected inputs: the caller gets the reason, the run does not change, and nothing is recorded.

use countersign_contract::patch::Patch;
use countersign_contract::reply::Violation;
use thiserror::Error;

/// Why an input was rejected. The run is unchanged.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InputRejection {
    /// The run has not been started.
    #[error("the run has not started")]
    NotStarted,
    /// The run was started before.
    #[error("the run has already started")]
    AlreadyStarted,
    /// The run cannot be started with this input.
    #[error("the run cannot start: {reason}{}", format_violations_suffix(violations))]
    CannotStart {
        /// Why it cannot start, in a sentence.
        reason: String,
        /// What is wrong with the initial document or the workflow's input; empty for other
        /// reasons.
        violations: Vec<Violation>,
    },
    /// The run has ended and takes no more inputs.
    #[error("the run has ended: {end}")]
    Ended {
        /// Status and reason of the end.
        end: String,
    },
    /// No open wait has this id.
    #[error("unknown wait `{wait}`; open waits: {open}")]
    UnknownWait {
        /// The id that the caller gave.
        wait: String,
        /// The open waits, for the message.
        open: String,
    },
    /// The wait was closed before; only one answer is accepted.
    #[error("`{wait}` is already closed; only the first answer before the deadline is accepted")]
    AlreadyClosed {
        /// Id of the wait.
        wait: String,
    },
    /// The wait's deadline has passed.
    #[error("the deadline of `{wait}` has passed: {deadline}")]
    TooLate {
        /// Id of the wait.
        wait: String,
        /// The deadline in RFC 3339.
        deadline: String,
    },
    /// The wait takes another kind of input.
    #[error("`{wait}` ({kind}) does not take this kind of answer: {expected}")]
    WrongKind {
        /// Id of the wait.
        wait: String,
        /// Kind of the wait.
        kind: &'static str,
        /// The input that the wait takes.
        expected: &'static str,
    },
    /// The wait is assigned to somebody else.
    #[error("`{wait}` is assigned to {assignee}; `{by}` may not answer it")]
    NotAssignee {
        /// Id of the wait.
        wait: String,
        /// Who may answer it.
        assignee: String,
        /// Who tried to answer it.
        by: String,
    },
    /// The approval does not name the subject that the person saw.
    #[error(
        "approving `{wait}` requires the digest of the subject that you saw; look at the wait, and send its `subject.digest`"
    )]
    SubjectRequired {
        /// Id of the wait.
        wait: String,
    },
    /// The subject is not the one that the person saw.
    #[error(
        "the subject of `{wait}` changed since you saw it; {}{}",
        format_next_look(wait, current),
        format_changes_suffix(changes.as_ref())
    )]
    SubjectChanged {
        /// Id of the wait that the person decided on.
        wait: String,
        /// Id of the open wait for the current subject.
        current: String,
        /// Digest of the current subject.
        digest: String,
        /// What changed; absent if it is unknown or too large.
        changes: Option<Patch>,
    },
    /// The person takes part in the run in a way that excludes them from this decision.
    #[error("`{by}` may not decide `{wait}`: it needs somebody who has no other part in this run")]
    NotDistinct {
        /// Id of the wait.
        wait: String,
        /// Who tried to decide it.
        by: String,
    },
    /// The person has approved already, and another person must.
    #[error("`{by}` has approved `{wait}` already; {missing} more must approve")]
    AlreadyApproved {
        /// Id of the wait.
        wait: String,
        /// Who tried to approve again.
        by: String,
        /// How many approvals are missing.
        missing: usize,
    },
    /// The name is only claimed, and the approval needs an identity that was checked.
    #[error(
        "`{wait}` needs a verified identity, and the name `{by}` is only claimed; use a key on a server, or leave out `--as`"
    )]
    NotVerified {
        /// Id of the wait.
        wait: String,
        /// The claimed name.
        by: String,
    },
    /// The decision must state a reason.
    #[error("{verb} `{wait}` needs a note that states the reason")]
    NoteRequired {
        /// Id of the wait.
        wait: String,
        /// `approving` or `denying`.
        verb: &'static str,
    },
    /// The answer does not have the shape that the wait asks for.
    #[error("the answer to `{wait}` was refused: {}", format_violations(violations))]
    AnswerMismatch {
        /// Id of the wait.
        wait: String,
        /// Every violation that was found in the answer.
        violations: Vec<Violation>,
    },
    /// The result belongs to no pending action: it is a duplicate, or the action was dropped.
    #[error(
        "action `{action}` is not pending: it already has a result, or the run no longer needs one"
    )]
    UnknownAction {
        /// Id of the action.
        action: String,
    },
    /// The result is of a call that nobody has approved yet.
    #[error("action `{action}` waits for an approval; it must not be executed before that")]
    CallHeld {
        /// Id of the action.
        action: String,
    },
    /// The result does not match the kind of the action.
    #[error(
        "action `{action}` has kind {kind}, but this is the result of an action of kind {received}"
    )]
    WrongActionKind {
        /// Id of the action.
        action: String,
        /// Kind of the pending action.
        kind: &'static str,
        /// Kind of action that the result is for.
        received: &'static str,
    },
    /// The value nests so deeply that the log could not be read back.
    #[error("the {part} is nested {found} levels deep; the limit is {limit}")]
    TooDeep {
        /// The part of the input that is too deep.
        part: String,
        /// Nesting depth of the value.
        found: usize,
        /// Maximum nesting depth.
        limit: usize,
    },
    /// The value exceeds a size limit.
    #[error("the {part} has {found} bytes; the limit is {limit}")]
    TooLarge {
        /// The part of the input that is too large.
        part: String,
        /// Size of the value as JSON, in bytes.
        found: usize,
        /// Maximum size in bytes.
        limit: usize,
    },
    /// No deadline, time-out or retry is due.
    #[error("nothing is due at this time")]
    NothingDue,
    /// The current phase takes no submitted reply or patch.
    #[error("phase `{phase}` does not take a manual reply or patch now: {reason}")]
    PatchNotExpected {
        /// Id of the phase.
        phase: String,
        /// Why the phase takes none.
        reason: &'static str,
    },
    /// The run is neither halted nor blocked.
    #[error("there is nothing to resume: the run is {status}")]
    NothingToResume {
        /// Current status of the run.
        status: &'static str,
    },
    /// The run is halted already.
    #[error("the run is already halted")]
    AlreadyHalted,
    /// The given protocol is not the one that the run is pinned to.
    #[error("the run is pinned to protocol {pinned}, but this is protocol {actual}")]
    ProtocolMismatch {
        /// Digest of the protocol that the run is pinned to.
        pinned: String,
        /// Digest of the protocol that the caller gave.
        actual: String,
    },
}

impl InputRejection {
    /// A stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::AlreadyStarted => "already_started",
            Self::CannotStart { .. } => "cannot_start",
            Self::Ended { .. } => "run_ended",
            Self::UnknownWait { .. } => "unknown_wait",
            Self::AlreadyClosed { .. } => "already_closed",
            Self::TooLate { .. } => "too_late",
            Self::WrongKind { .. } => "wrong_kind",
            Self::NotAssignee { .. } => "not_assignee",
            Self::SubjectRequired { .. } => "subject_required",
            Self::SubjectChanged { .. } => "subject_changed",
            Self::NotDistinct { .. } => "not_distinct",
            Self::AlreadyApproved { .. } => "already_approved",
            Self::NotVerified { .. } => "not_verified",
            Self::NoteRequired { .. } => "note_required",
            Self::AnswerMismatch { .. } => "answer_mismatch",
            Self::UnknownAction { .. } => "unknown_action",
            Self::CallHeld { .. } => "call_held",
            Self::WrongActionKind { .. } => "wrong_action_kind",
            Self::TooDeep { .. } => "too_deep",
            Self::TooLarge { .. } => "too_large",
            Self::NothingDue => "nothing_due",
            Self::PatchNotExpected { .. } => "patch_not_expected",
            Self::NothingToResume { .. } => "nothing_to_resume",
            Self::AlreadyHalted => "already_halted",
            Self::ProtocolMismatch { .. } => "protocol_mismatch",
        }
    }

    /// The violations in the given value; empty if the rejection has another reason.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::AnswerMismatch { violations, .. } | Self::CannotStart { violations, .. } => {
                violations
            }
            _ => &[],
        }
    }
}

fn format_violations_suffix(violations: &[Violation]) -> String {
    if violations.is_empty() {
        String::new()
    } else {
        format!(": {}", format_violations(violations))
    }
}

/// Lists up to three changed pointers.
/// Where the current subject is: a wait keeps its id if only the named digest is not its own.
fn format_next_look(wait: &str, current: &str) -> String {
    if wait == current {
        "look at it again".to_owned()
    } else {
        format!("`{current}` asks for a decision on the new subject")
    }
}

fn format_changes_suffix(changes: Option<&Patch>) -> String {
    const MOST: usize = 3;
    let ops = changes.map_or(&[][..], |patch| &patch.ops);
    let mut pointers: Vec<String> = ops.iter().map(|op| format!("`{}`", op.path())).collect();
    pointers.dedup();
    let more = pointers.len().saturating_sub(MOST);
    pointers.truncate(MOST);
    match (pointers.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("; changed: {}", pointers.join(", ")),
        (false, more) => format!("; changed: {} and {more} more", pointers.join(", ")),
    }
}

fn format_violations(violations: &[Violation]) -> String {
    let messages =
        violations.iter().map(|violation| violation.message.replacen("the reply: ", "", 1));
    messages.collect::<Vec<_>>().join("; ")
}
