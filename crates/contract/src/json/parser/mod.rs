//! Single-pass JSON parser that reports every repair and every data loss.

mod json_parser;
mod skip_space;
mod span_locator;
mod parse_word;
mod parse_string;

pub use json_parser::{
    JsonDataLoss, JsonDataLossKind, JsonParseError, JsonParseErrorKind, ParsedJson,
    locate_pointers, parse_json, parse_json_prefix, parse_json_spans, skip_json_space,
};

#[cfg(test)]
mod tests;
