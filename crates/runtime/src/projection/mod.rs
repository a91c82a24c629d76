//! State files: the document of a run as files beside its protocol, for people and other tools.
//!
//! The files are a projection, not the source of truth: they are written after a commit, and read
//! only if no run exists.

mod projection_error;
mod state_file_layout;
mod write_state_files;
mod read_state_files;
mod keep_state_files;
mod state_file_projector;

pub use keep_state_files::keep_state_files;
pub use projection_error::ProjectionError;
pub use read_state_files::read_state_files;
pub use state_file_layout::state_folder;
pub use state_file_projector::StateFileProjector;
pub use write_state_files::write_state_files;
