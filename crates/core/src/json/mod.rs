//! JSON as text: reading it with nothing lost, pointing into it, writing it one way only.
//!
//! `serde_json` holds the values; this module reads the text, because a reader that keeps the last
//! of two equal keys, rounds a number or mends a comma without saying so cannot stand at our door.

mod pointer_text;
mod span;
mod repair;
mod number_literal;
mod parser;
mod canonical;
mod depth;
mod measure;
mod sha256;

pub use canonical::{digest_json, to_canonical_json};
pub use depth::measure_depth;
pub use measure::{JsonSize, measure_json};
pub use parser::{
    JsonDataLoss, JsonDataLossKind, JsonParseError, JsonParseErrorKind, ParsedJson,
    locate_pointers, parse_json, parse_json_prefix, parse_json_spans, skip_json_space,
};
pub use pointer_text::{
    JsonPointerPattern, JsonValuePath, child_pointer, parent_pointer, push_segment, split_pointer,
};
pub use repair::{Repair, RepairClass, RepairKind, RepairLevel};
pub use sha256::{Sha256Hasher, sha256_hex};
pub use span::TextSpan;
