//! JSON as text: reading it with nothing lost, pointing into it, writing it one way only.
//!
//! `serde_json` holds the values; this module reads the text, because a reader that keeps the last
//! of two equal keys, rounds a number or mends a comma without saying so cannot stand at our door.

mod pointer;
mod span;
mod repair;
mod number;
mod reader;
mod canonical;
mod depth;
mod measure;
mod sha256;

pub use canonical::{canonical, digest};
pub use depth::nesting;
pub use measure::{JsonSize, measure_json};
pub use pointer::{Pattern, Way, child, parent, push, split};
pub use reader::{
    Flaw, FlawKind, Reading, Stop, StopKind, locate, pass_space, read, read_prefix, read_spans,
};
pub use repair::{Repair, RepairClass, RepairKind, RepairLevel};
pub use sha256::{DigestBuilder, sha256};
pub use span::Span;
