//! Replies from a file, for tests and demonstrations: the same question at the same place in a run
//! gets the same answer, in this process and in the next.

mod entry;
mod script_file;
mod scripted_model;

pub use script_file::SCRIPT_SCHEMA;
pub use scripted_model::ScriptedModel;
