//! Who does the work of a tenant: an engine sees one tenant, and so does a driver.

use std::sync::Arc;

use countersign_store::TenantId;

use crate::driver::Driver;

/// Finds the driver of a tenant.
pub trait DriverProvider: Send + Sync {
    /// The driver for a tenant's runs, made when it is first asked for; why there is none. Each goes by
    /// the name, the term and the patience of the worker.
    fn get_driver(&self, tenant: &TenantId) -> Result<Arc<Driver>, String>;

    /// Every driver that was made.
    fn list_drivers(&self) -> Vec<Arc<Driver>>;
}
