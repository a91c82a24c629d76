//! Scopes: who owns a row and which session and run it belongs to. Every stored row and every query
//! has a complete scope.

use serde::{Deserialize, Serialize};

/// The maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 256;

/// The owner, session and run of a memory row or query.
///
/// All five parts are mandatory, so a query without a complete scope cannot be expressed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryScope {
    tenant: String,
    user: String,
    agent: String,
    session: String,
    run: String,
}

/// The owner of memory across sessions and runs: a user of an agent in a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySubject {
    /// The tenant id, 1 to 256 bytes without control characters.
    pub tenant: String,
    /// The user id, 1 to 256 bytes without control characters.
    pub user: String,
    /// The agent id, 1 to 256 bytes without control characters.
    pub agent: String,
}

/// Error for an id that is empty, too long or contains a control character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` of a scope must be 1 to {MAX_ID_BYTES} bytes without control characters, found {found}"
)]
pub struct MemoryScopeError {
    /// The invalid part: `tenant_id`, `user_id`, `agent_id`, `session_id` or `run_id`.
    pub part: &'static str,
    /// A short description of the problem, such as `an empty id`.
    pub found: &'static str,
}

impl MemoryScope {
    /// Creates a scope, or fails if one of the ids is empty, longer than 256 bytes or contains a
    /// control character.
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

    /// Checks that every part is a valid id. Use it for a scope that was deserialized.
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
                "an empty id"
            } else if id.len() > MAX_ID_BYTES {
                "a longer id"
            } else if id.chars().any(char::is_control) {
                "a control character"
            } else {
                continue;
            };
            return Err(MemoryScopeError { part, found });
        }
        Ok(())
    }

    /// Returns the owner: tenant, user and agent without session and run.
    #[must_use]
    pub fn subject(&self) -> MemorySubject {
        let (tenant, user, agent) = (self.tenant.clone(), self.user.clone(), self.agent.clone());
        MemorySubject { tenant, user, agent }
    }

    /// Returns the tenant id.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Returns the user id.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the agent id.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the session id.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the run id.
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
