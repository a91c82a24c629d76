//! Hooks: what a protocol does when a phase is entered or left.

use serde_json::Value;

use super::{DurationMillis, FileOrigin};

/// A declared hook.
#[derive(Debug)]
pub enum HookDefinition {
    /// A patch of the document, RFC 6902.
    Patch {
        /// The operations.
        ops: Value,
        /// Where it was said.
        origin: FileOrigin,
    },
    /// A program that gets JSON on standard input and answers `ok`, `abort`, `patch` or `redirect`.
    Program {
        /// Its name in the policy.
        program: String,
        /// How long it may take.
        timeout: Option<DurationMillis>,
        /// Where it was said.
        origin: FileOrigin,
    },
}
