//! State files: the document of a run, laid out beside its protocol for people and other tools.
//!
//! A projection, never the truth: it is written after a commit, and read only where no run exists.

mod error;
mod layout;
mod write;
mod read;
mod projector;

pub use error::ProjectionError;
pub use layout::state_folder;
pub use projector::Projector;
pub use read::read_back;
pub use write::write;
