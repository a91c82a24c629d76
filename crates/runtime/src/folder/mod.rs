//! Folders on this machine: where a protocol is, what its files contain, and where the engine keeps
//! its own files.

mod folder_error;
mod find_protocol_folder;
mod folder_reader;
mod load_protocol;
mod engine_home;

pub use engine_home::EngineHome;
pub use find_protocol_folder::{find_protocol_folder, hide_protocol, resolve_protocol_folder};
pub use folder_error::{FolderError, ProtocolLoadError};
pub use folder_reader::{MAX_PROTOCOL_BYTES, MAX_PROTOCOL_FILES, read_protocol_folder};
pub use load_protocol::load_protocol;
