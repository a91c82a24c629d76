//! Who a request comes from, once it was let in.

use std::sync::Arc;

use super::Role;
use crate::house::Desk;

/// Who asks.
#[derive(Clone)]
pub struct Caller {
    /// The desk of their tenant.
    pub desk: Arc<Desk>,
    /// What they may do.
    pub role: Role,
    /// Who they are, for the record.
    pub user: String,
    /// The id of their key; `None` on loopback without one.
    pub key: Option<String>,
}

impl Caller {
    /// The name of their tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.desk.engine.tenant().as_str()
    }
}
