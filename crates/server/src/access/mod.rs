//! Authentication and authorization: keys, roles, and the policy of every route.
//!
//! A key belongs to one tenant and has one role. Requests without a key act as tenant `default`,
//! which is possible only if the server listens on loopback alone. The run itself decides which
//! user may answer a wait.

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
