//! The authenticated caller of a request.

use std::sync::Arc;

use countersign_run::{AttributedInput, InputKind, InputSender, RunWait};
use countersign_runtime::Runtime;
use countersign_view::wire::WaitRefusal;

use super::AccessRole;

/// An authenticated caller: the tenant, the role and the user name.
#[derive(Clone)]
pub struct Caller {
    /// The runtime of the caller's tenant.
    pub runtime: Arc<Runtime>,
    /// The role that limits what the caller may do.
    pub role: AccessRole,
    /// The user name that is recorded with every input.
    pub user: String,
    /// How the server knows that name, and the groups and roles behind it.
    pub sender: InputSender,
    /// The id of the caller's key; `None` on loopback without a key.
    pub key_id: Option<String>,
}

impl Caller {
    /// Attributes an input to this caller.
    #[must_use]
    pub fn attribute(&self, what: InputKind) -> AttributedInput {
        what.from_sender(self.sender.clone())
    }

    /// Everything that a wait can be assigned to so that this caller may answer it.
    #[must_use]
    pub fn assignee_names(&self) -> Vec<String> {
        self.sender.to_assignees(&self.user).iter().map(ToString::to_string).collect()
    }

    /// Why this caller may not answer a wait: the role, or the rules of the wait. `None` if the
    /// caller may.
    #[must_use]
    pub fn find_refusal(&self, wait: &RunWait) -> Option<WaitRefusal> {
        if self.role < AccessRole::Operator {
            let (needed, role) = (AccessRole::Operator, self.role);
            let message = format!("this decision needs the role `{needed}`; your role is `{role}`");
            return Some(WaitRefusal { code: "role".to_owned(), message });
        }
        WaitRefusal::find(wait, &self.user, &self.sender)
    }

    /// The name of the caller's tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.runtime.engine.tenant().as_str()
    }
}
