//! Who may come in: keys, roles, and what every route needs.
//!
//! A key belongs to one tenant and has one role. Without a key there is the tenant `local` on loopback, where no
//! other address is bound. Not here: what a person may answer inside a run, which the run decides.

mod role;
mod api_key;
mod keyring;
mod caller;
mod route_policy;
mod host_policy;
mod local_token;

pub use api_key::{ApiKey, ApiKeySecret};
pub use caller::Caller;
pub use host_policy::{AuthMode, HostError, HostPolicy};
pub(crate) use keyring::is_valid_tenant_name;
pub use keyring::{Keyring, KeyringError, NewApiKey};
pub use local_token::LocalToken;
pub use role::{AccessRole, UnknownRole};
pub use route_policy::{ROUTE_POLICIES, RouteEntry, RoutePolicy, find_route_policy};
