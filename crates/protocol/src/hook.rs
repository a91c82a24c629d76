//! Hooks: what a protocol does when a run enters or leaves a phase.

use serde_json::Value;

use super::{DurationMillis, FileOrigin};

/// A hook that the index declares.
#[derive(Debug)]
pub enum HookDefinition {
    /// Applies an RFC 6902 patch to the document.
    Patch {
        /// The patch operations, as an array.
        ops: Value,
        /// Where the file defines the hook.
        origin: FileOrigin,
    },
    /// Runs a program that reads JSON from standard input and answers `ok`, `abort`, `patch` or
    /// `redirect`.
    Program {
        /// Name of the program in the policy.
        program: String,
        /// Time limit of the hook; the program's own limit if absent.
        timeout: Option<DurationMillis>,
        /// Where the file defines the hook.
        origin: FileOrigin,
    },
}
