//! Who a request comes from, once it was let in.

use std::sync::Arc;

use super::AccessRole;
use crate::app_state::TenantRuntime;

/// Who asks.
#[derive(Clone)]
pub struct Caller {
    /// The desk of their tenant.
    pub runtime: Arc<TenantRuntime>,
    /// What they may do.
    pub role: AccessRole,
    /// Who they are, for the record.
    pub user: String,
    /// The id of their key; `Empty` on loopback without one.
    pub key_id: Option<String>,
}

impl Caller {
    /// The name of their tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.runtime.engine.tenant().as_str()
    }
}
