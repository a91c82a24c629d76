//! Replies from a file, for tests and demonstrations: the same call of a run gets the same reply,
//! in this process and in the next.

mod entry;
mod script_file;
mod scripted_model;

pub use script_file::{SCRIPT_SCHEMA, ScriptExamples};
pub use scripted_model::ScriptedModel;
