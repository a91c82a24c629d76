//! The runtime executes what runs decide: it drives them, performs their actions, and reads and
//! writes files. [`RuntimeBuilder`] assembles it.

pub mod lru_cache;
pub mod folder;
pub mod document;
pub mod workspace;
pub mod tool;
pub mod program;
pub mod hook;
pub mod mcp;
pub mod effect;
pub mod trust;
pub mod channel;
pub mod projection;
pub mod clock;
pub mod private_files;
pub mod run_observer;
pub mod engine;
pub mod memory_recorder;
pub mod memory_context;
pub mod integrity;
mod row_check;
mod call_preview;
pub mod transfer;
pub mod prune;
pub mod driver;
pub mod memory_extraction;
pub mod worker;
mod runtime_builder;

pub use call_preview::{diff_lines, preview_call};
pub use runtime_builder::{Runtime, RuntimeBuildError, RuntimeBuilder};

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
