//! Who may come in: keys, roles, and what every route needs.
//!
//! A key belongs to one tenant and has one role. Without a key there is the tenant `local` on loopback, where no
//! other address is bound. Not here: what a person may answer inside a run, which the run decides.

mod role;
mod key;
mod keyring;
mod caller;
mod needs;
mod hosts;
mod local_token;

pub use caller::Caller;
pub use hosts::{Demand, HostFault, Hosts};
pub use key::{Key, Secret};
pub(crate) use keyring::is_tenant;
pub use keyring::{Keyring, KeyringError, NewKey};
pub use local_token::LocalToken;
pub use needs::{NEEDS, Need, Needed, needed};
pub use role::{Role, UnknownRole};
