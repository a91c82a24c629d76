//! The authenticated caller of a request.

use std::sync::Arc;

use countersign_runtime::Runtime;

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
    /// The id of the caller's key; `None` on loopback without a key.
    pub key_id: Option<String>,
}

impl Caller {
    /// The name of the caller's tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.runtime.engine.tenant().as_str()
    }
}
