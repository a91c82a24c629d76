//! Tenant and run ids. Every key in a store begins with the tenant.

use std::fmt;

/// The owner of a run. One tenant never sees the rows of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(String);

impl TenantId {
    /// Creates the id of the tenant with this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the tenant's name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TenantId {
    /// Returns `default`, the tenant of a store that serves only one.
    fn default() -> Self {
        Self::new("default")
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies one run of one tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    /// Tenant that owns the run.
    pub tenant: TenantId,
    /// Id that is unique within the tenant.
    pub id: String,
}

impl RunId {
    /// Creates the id of a tenant's run.
    #[must_use]
    pub fn new(tenant: TenantId, id: impl Into<String>) -> Self {
        Self { tenant, id: id.into() }
    }

    /// Creates the id of a run of the tenant `default`.
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
