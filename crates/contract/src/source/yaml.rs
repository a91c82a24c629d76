//! YAML parsing with source positions, and limits against files that expand excessively.
//!
//! This is the only module that uses the YAML library.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{DuplicateKeyPolicy, Location, Spanned};

use super::parsed_source_file::{INDEX_BYTES, long_keys_diagnostic};
use super::{Diagnostic, SourceFile};
use crate::json::{self, TextSpan};
use crate::limits::{MAX_POINTER_INDEX_BYTES, MAX_YAML_DEPTH};

/// Parses one YAML document into a value and the span of each member by pointer.
pub(super) fn parse_yaml_file(
    source: &Arc<SourceFile>,
) -> Result<(Value, BTreeMap<String, TextSpan>), Diagnostic> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 50_000,
            max_events: 200_000,
            max_depth: MAX_YAML_DEPTH,
            max_aliases: 64,
            max_anchors: 64,
            max_total_scalar_bytes: 4 << 20,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        reject_unsupported_tags: true,
        // `no` and `on` are strings.
        strict_booleans: true,
        with_snippet: false,
    };
    let root: Spanned<YamlNode> = serde_saphyr::from_str_with_options(&source.text, options)
        .map_err(|error| {
            let span = error
                .location()
                .map(|location| locate_error(source, &location))
                .unwrap_or_default();
            let text = error.without_snippet().to_string();
            let message = match describe_exceeded_limit(&text) {
                Some(limit) => format!("unsupported YAML: {limit}"),
                None => format!("not YAML: {}", trim_to_first_sentence(&text)),
            };
            Diagnostic::new("invalid_yaml", message, source, span)
        })?;
    if count_node_pointer_bytes(&root.value, 0, MAX_POINTER_INDEX_BYTES) > MAX_POINTER_INDEX_BYTES {
        return Err(long_keys_diagnostic(source));
    }
    let mut spans = BTreeMap::new();
    let value = convert_node(root, &mut String::new(), &mut spans);
    Ok((value, spans))
}

/// Returns the total length of the pointers to all members, in bytes. Counting stops above `limit`.
fn count_node_pointer_bytes(node: &YamlNode, around: usize, limit: usize) -> usize {
    let mut sum = around;
    let mut add = |key: usize, member: &YamlNode| {
        let left = limit.saturating_sub(sum);
        sum = sum.saturating_add(count_node_pointer_bytes(member, around + 1 + key, left));
        sum <= limit
    };
    match node {
        YamlNode::Scalar(_) => {}
        YamlNode::Sequence(items) => {
            let _ = items.iter().all(|item| add(INDEX_BYTES, &item.value));
        }
        YamlNode::Mapping(members) => {
            let _ = members.iter().all(|(key, member)| add(key.value.len(), &member.value));
        }
    }
    sum
}

enum YamlNode {
    Scalar(Value),
    Sequence(Vec<Spanned<YamlNode>>),
    Mapping(Vec<(Spanned<String>, Spanned<YamlNode>)>),
}

fn convert_node(
    node: Spanned<YamlNode>,
    at: &mut String,
    spans: &mut BTreeMap<String, TextSpan>,
) -> Value {
    spans.entry(at.clone()).or_insert_with(|| to_text_span(&node.referenced));
    let length = at.len();
    match node.value {
        YamlNode::Scalar(value) => value,
        YamlNode::Sequence(items) => {
            let items = items.into_iter().enumerate().map(|(index, item)| {
                json::push_segment(at, &index.to_string());
                let value = convert_node(item, at, spans);
                at.truncate(length);
                value
            });
            Value::Array(items.collect())
        }
        YamlNode::Mapping(members) => {
            let mut table = Map::new();
            for (key, member) in members {
                json::push_segment(at, &key.value);
                // A mapping or list starts where its first member does; its key is the better
                // position.
                if !matches!(member.value, YamlNode::Scalar(_)) {
                    spans.insert(at.clone(), to_text_span(&key.referenced));
                }
                let value = convert_node(member, at, spans);
                at.truncate(length);
                table.insert(key.value, value);
            }
            Value::Object(table)
        }
    }
}

fn to_text_span(location: &Location) -> TextSpan {
    let span = location.span();
    let start = span.byte_offset().unwrap_or_default() as usize;
    TextSpan::new(start, start + span.byte_len().unwrap_or_default() as usize)
}

/// Returns the span of an error. The library may report only a line and a column, without bytes.
fn locate_error(source: &SourceFile, location: &Location) -> TextSpan {
    if location.span().byte_offset().is_some() {
        return to_text_span(location);
    }
    let (line, column) = (location.line() as usize, location.column() as usize);
    let lines = source.text.split_inclusive('\n');
    let before: usize = lines.clone().take(line.saturating_sub(1)).map(str::len).sum();
    let text = lines.clone().nth(line.saturating_sub(1)).unwrap_or_default();
    let inside: usize = text.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    TextSpan::new(before + inside, before + inside)
}

/// Describes the exceeded limit for users; the library only names its own counters.
fn describe_exceeded_limit(text: &str) -> Option<&'static str> {
    let counter = text.split_once("budget breached: ")?.1;
    let counter = counter.split([' ', '{']).next()?;
    Some(match counter {
        "Nodes" | "Events" => "too many values, including those of aliases",
        "Depth" => "lists and tables are nested more than 32 levels deep",
        "Aliases" | "Anchors" | "AliasAnchorRatio" => "too many anchors or aliases",
        "ScalarBytes" | "CommentBytes" => "too much text",
        _ => "it exceeds a size limit",
    })
}

/// Cuts off the position and the advice for programmers that the library appends; the diagnostic
/// has its own position.
fn trim_to_first_sentence(text: &str) -> &str {
    let ends = [" at line ", ", set ", "\n"].into_iter().filter_map(|end| text.find(end));
    text[..ends.min().unwrap_or(text.len())].trim_end_matches([':', ',', ' '])
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlNodeVisitor)
    }
}

struct YamlNodeVisitor;

impl<'de> Visitor<'de> for YamlNodeVisitor {
    type Value = YamlNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a list or a table")
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::from(value)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<YamlNode, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(YamlNode::Scalar(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::from(value)))
    }

    fn visit_unit<E>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlNode, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(YamlNode::Sequence(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<YamlNode, A::Error> {
        let mut table = Vec::new();
        while let Some(member) = members.next_entry()? {
            table.push(member);
        }
        Ok(YamlNode::Mapping(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location_of(text: &str, pointer: &str) -> String {
        let source = Arc::new(SourceFile::new("x.yaml", text));
        let (_, spans) = parse_yaml_file(&source).unwrap();
        let span = spans[pointer];
        let location = source.line_column_at(span.start);
        format!("{}:{} {}", location.line, location.column, &text[span.range()])
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let source = Arc::new(SourceFile::new("x.yaml", text));
        assert_eq!(parse_yaml_file(&source).unwrap_err().to_string(), expected);
    }

    #[test]
    fn every_member_knows_its_place() {
        let text = "a: 1\nимя:\n  - x: \"д\"\n  - y\n";
        assert_eq!(location_of(text, "/a"), "1:4 1");
        assert_eq!(location_of(text, "/имя/0/x"), "3:8 \"д\"");
        assert_eq!(location_of(text, "/имя/1"), "4:5 y");
        assert_eq!(location_of(text, "/имя"), "2:1 имя");
    }

    #[test]
    fn yaml_1_2_scalars_mean_what_they_say() {
        let source = Arc::new(SourceFile::new("x.yaml", "[no, on, 1.0.0, 0x10, ~, 1e3, '1']"));
        let (value, _) = parse_yaml_file(&source).unwrap();
        assert_eq!(value.to_string(), r#"["no","on","1.0.0",16,null,1000.0,"1"]"#);
    }

    #[test]
    fn broken_and_exploding_files_are_refused_with_a_place() {
        refused("a: 1\na: 2\n", "x.yaml:2:1: not YAML: duplicate mapping key: a [invalid_yaml]");
        let mut bomb = String::from("a0: &a0 [x]\n");
        for level in 1..30 {
            bomb += &format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1);
        }
        let message = |text: String| {
            let source = Arc::new(SourceFile::new("x.yaml", text));
            parse_yaml_file(&source).unwrap_err().message
        };
        assert_eq!(message(bomb), "unsupported YAML: too many values, including those of aliases");
        assert_eq!(
            message("[".repeat(80) + &"]".repeat(80)),
            "unsupported YAML: lists and tables are nested more than 32 levels deep"
        );
        let source = Arc::new(SourceFile::new("x.yaml", "[".repeat(20_000)));
        assert!(parse_yaml_file(&source).unwrap_err().to_string().contains("[invalid_yaml]"));
    }
}
