//! Folders on this machine: where a protocol is, what its files say, and where the engine keeps
//! its own.

mod error;
mod find;
mod read;
mod load;
mod home;

pub use error::FolderError;
pub use find::{find, find_named, hide_protocol};
pub use home::Home;
pub use load::load_protocol;
pub use read::{MOST_BYTES, MOST_FILES, read};
