//! Trust: which programs, hosts and sources a protocol may use on this machine, and who granted
//! that.
//!
//! A protocol lists what it needs ([`ProtocolPermissions`]); its author writes that list. A person
//! trusts the list for a working folder ([`TrustFile`]), or the operator of a worker or server
//! allows entries for every protocol ([`AllowList`]). [`ActionGuard`] decides when an action is
//! performed, so it does not matter where a run came from: a folder, a file, or a shared store.

mod permissions;
mod allow_list;
mod trust_file;
mod action_guard;

pub use action_guard::{ActionGuard, ShippedPermissions, WantedAction};
pub use allow_list::{AllowList, AllowListError};
pub(crate) use permissions::is_outside_folder;
pub use permissions::{
    McpServerPermission, ProgramPermission, ProtocolPermissions, extract_address_server,
    extract_model_server,
};
pub use trust_file::{TrustError, TrustFile, TrustRecord};
