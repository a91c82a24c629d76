//! Provides the driver of a tenant: an engine serves a single tenant, and so does a driver.

use std::sync::Arc;

use countersign_store::TenantId;

use crate::driver::Driver;

/// Provides the driver of each tenant.
pub trait DriverProvider: Send + Sync {
    /// Returns the driver for a tenant's runs, created on first use, or the reason why there is
    /// none. Each driver has the name, lease time and store retry window of the worker.
    fn get_driver(&self, tenant: &TenantId) -> Result<Arc<Driver>, String>;

    /// Returns every driver that was created.
    fn list_drivers(&self) -> Vec<Arc<Driver>>;
}
