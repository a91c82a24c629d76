//! Who may decide a wait, how many must approve, and what the protocol asks of a decision.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::DurationMillis;

/// Somebody who may answer a wait: a user, the members of a group, or everybody with a role.
///
/// Written as text: `anna`, `group:finance`, `role:admin`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Assignee {
    /// A user, by name.
    User(String),
    /// The members of a group.
    Group(String),
    /// Everybody with a role.
    Role(String),
}

impl From<String> for Assignee {
    fn from(text: String) -> Self {
        match text.split_once(':') {
            Some(("group", name)) => Self::Group(name.to_owned()),
            Some(("role", name)) => Self::Role(name.to_owned()),
            Some(("user", name)) => Self::User(name.to_owned()),
            _ => Self::User(text),
        }
    }
}

impl From<Assignee> for String {
    fn from(assignee: Assignee) -> Self {
        assignee.to_string()
    }
}

impl fmt::Display for Assignee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A user whose name looks like a group stays a user.
            Self::User(name) if name.contains(':') => write!(f, "user:{name}"),
            Self::User(name) => f.write_str(name),
            Self::Group(name) => write!(f, "group:{name}"),
            Self::Role(name) => write!(f, "role:{name}"),
        }
    }
}

/// Lists assignees for a sentence: `anna, group:finance`; `anyone` if the list is empty.
#[must_use]
pub fn format_assignees(who: &[Assignee]) -> String {
    if who.is_empty() {
        return "anyone".to_owned();
    }
    who.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The conditions of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRules {
    /// Who may decide; anyone if empty.
    pub who: Vec<Assignee>,
    /// Parties of the run that may not decide: four eyes.
    pub distinct_from: Vec<DistinctParty>,
    /// How many different people must approve.
    pub need: u32,
    /// Whether the identity must come from a key or the operating system, not from a claim.
    pub verified: bool,
    /// When a decision must state a reason.
    pub note: NotePolicy,
    /// Who may decide as well after some time; nobody else if absent.
    pub escalation: Option<ApprovalEscalation>,
}

impl Default for ApprovalRules {
    fn default() -> Self {
        Self {
            who: Vec::new(),
            distinct_from: Vec::new(),
            need: 1,
            verified: false,
            note: NotePolicy::Optional,
            escalation: None,
        }
    }
}

/// A party of a run from whom an approver must be distinct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DistinctParty {
    /// Whoever started the run.
    Starter,
    /// Everybody who wrote a reply, a patch or an answer in the run.
    Author,
    /// Everybody who gave an earlier approval in the run.
    Approver,
}

impl DistinctParty {
    /// Every party, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Starter, Self::Author, Self::Approver];

    /// The name in protocol files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starter => "starter",
            Self::Author => "author",
            Self::Approver => "approver",
        }
    }
}

/// When a decision must state a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotePolicy {
    /// A reason may be given.
    #[default]
    Optional,
    /// A denial needs a reason.
    OnDenial,
    /// Every decision needs a reason.
    Always,
}

impl NotePolicy {
    /// Every policy, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Optional, Self::OnDenial, Self::Always];

    /// The name in protocol files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Optional => "optional",
            Self::OnDenial => "on_denial",
            Self::Always => "always",
        }
    }
}

/// More people who may decide if nobody has decided after some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalEscalation {
    /// Time after which they may decide.
    pub after: DurationMillis,
    /// Who may decide then, beside those who may already.
    pub to: Vec<Assignee>,
}
