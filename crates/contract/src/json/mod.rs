//! JSON as text: lossless parsing, pointers, canonical output and digests.
//!
//! `serde_json` provides the value type. This module has its own parser, because a parser that
//! silently keeps the last of two duplicate keys, rounds a number or repairs a comma cannot be used
//! to admit replies.

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
pub use measure::{JsonSize, count_bytes, measure_json};
pub use parser::{
    JsonDataLoss, JsonDataLossKind, JsonParseError, JsonParseErrorKind, ParsedJson,
    locate_pointers, parse_json, parse_json_prefix, parse_json_spans, skip_json_space,
};
pub(crate) use pointer_text::find_member;
pub use pointer_text::{
    JsonPointerPattern, JsonValuePath, child_pointer, parent_pointer, push_segment, split_pointer,
};
pub(crate) use repair::limit_repairs;
pub use repair::{Repair, RepairClass, RepairKind, RepairLevel};
pub use sha256::{Sha256Hasher, sha256_hex};
pub use span::TextSpan;
