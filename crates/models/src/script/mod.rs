//! Replies from a file, for tests and demonstrations: the same question at the same place in a run
//! gets the same answer, in this process and in the next.

mod entry;
mod file;
mod replay;

pub use file::SCRIPT_SCHEMA;
pub use replay::Script;
