//! Whose memory: no row is kept and no question is asked without all of it.

use serde::{Deserialize, Serialize};

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 256;

/// Whose memory, and where in it: every part is there, so that a question without scope cannot be
/// written down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryScope {
    tenant: String,
    user: String,
    agent: String,
    session: String,
    run: String,
}

/// Whose memory, across sessions and runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySubject {
    /// The tenant.
    pub tenant: String,
    /// The user.
    pub user: String,
    /// The agent.
    pub agent: String,
}

/// An id that no scope may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` of a scope must be 1 to {MAX_ID_BYTES} bytes without control characters, found {found}"
)]
pub struct MemoryScopeError {
    /// Which of the five.
    pub part: &'static str,
    /// What was wrong with it.
    pub found: &'static str,
}

impl MemoryScope {
    /// A scope of these five ids.
    pub fn new(
        tenant: impl Into<String>,
        user: impl Into<String>,
        agent: impl Into<String>,
        session: impl Into<String>,
        run: impl Into<String>,
    ) -> Result<Self, MemoryScopeError> {
        let scope = Self {
            tenant: tenant.into(),
            user: user.into(),
            agent: agent.into(),
            session: session.into(),
            run: run.into(),
        };
        scope.check()?;
        Ok(scope)
    }

    /// Whether every part names something; for a scope that was read from somewhere.
    pub fn check(&self) -> Result<(), MemoryScopeError> {
        let parts = [
            ("tenant_id", &self.tenant),
            ("user_id", &self.user),
            ("agent_id", &self.agent),
            ("session_id", &self.session),
            ("run_id", &self.run),
        ];
        for (part, id) in parts {
            let found = if id.is_empty() {
                "an empty one"
            } else if id.len() > MAX_ID_BYTES {
                "a longer one"
            } else if id.chars().any(char::is_control) {
                "a control character"
            } else {
                continue;
            };
            return Err(MemoryScopeError { part, found });
        }
        Ok(())
    }

    /// Whose memory, across sessions and runs.
    #[must_use]
    pub fn subject(&self) -> MemorySubject {
        let (tenant, user, agent) = (self.tenant.clone(), self.user.clone(), self.agent.clone());
        MemorySubject { tenant, user, agent }
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_has_all_its_parts() {
        assert!(MemoryScope::new("t", "u", "a", "s", "r").is_ok());
        let ids = ["t", "u", "a", "s", "r"];
        let parts = ["tenant_id", "user_id", "agent_id", "session_id", "run_id"];
        for (place, part) in parts.into_iter().enumerate() {
            for bad in ["", "a\0b", "a\nb", &"x".repeat(257)] {
                let mut ids = ids;
                ids[place] = bad;
                let [tenant, user, agent, session, run] = ids;
                let error = MemoryScope::new(tenant, user, agent, session, run).unwrap_err();
                assert_eq!(error.part, part, "{bad:?}");
            }
        }
    }
}
