//! Whose a row is, and which run it belongs to. Every key begins with the tenant.

use std::fmt;

/// Who owns a run. Rows of one tenant are never seen by another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(String);

impl TenantId {
    /// A tenant of this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TenantId {
    /// `local`: the one tenant of a store that has one.
    fn default() -> Self {
        Self::new("local")
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one run of one tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    /// Whose run.
    pub tenant: TenantId,
    /// Which of theirs.
    pub id: String,
}

impl RunId {
    /// A run of a tenant.
    #[must_use]
    pub fn new(tenant: TenantId, id: impl Into<String>) -> Self {
        Self { tenant, id: id.into() }
    }

    /// A run of the tenant `local`.
    #[must_use]
    pub fn local(id: impl Into<String>) -> Self {
        Self::new(TenantId::default(), id)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tenant, self.id)
    }
}
