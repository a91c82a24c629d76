//! YAML with places, and limits against files that explode.
//!
//! The only file that knows the YAML library.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{DuplicateKeyPolicy, Location, Spanned};

use super::tree::{INDEX_BYTES, too_long_keys};
use super::{Diagnostic, Source};
use crate::json::{self, Span};
use crate::limits::{MAX_PLACE_BYTES, MAX_YAML_DEPTH};

/// Parses one document.
pub(super) fn parse(source: &Arc<Source>) -> Result<(Value, BTreeMap<String, Span>), Diagnostic> {
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
        // `no` and `on` are words.
        strict_booleans: true,
        with_snippet: false,
    };
    let root: Spanned<Node> =
        serde_saphyr::from_str_with_options(&source.text, options).map_err(|error| {
            let span =
                error.location().map(|location| place(source, &location)).unwrap_or_default();
            let text = error.without_snippet().to_string();
            let message = match beyond_limits(&text) {
                Some(limit) => format!("not YAML that is taken: {limit}"),
                None => format!("not YAML: {}", first_sentence(&text)),
            };
            Diagnostic::new("invalid_yaml", message, source, span)
        })?;
    if node_pointer_bytes(&root.value, 0, MAX_PLACE_BYTES) > MAX_PLACE_BYTES {
        return Err(too_long_keys(source));
    }
    let mut places = BTreeMap::new();
    let value = convert(root, &mut String::new(), &mut places);
    Ok((value, places))
}

/// How many bytes the pointers to all members have; more than `limit` is not counted on.
fn node_pointer_bytes(node: &Node, around: usize, limit: usize) -> usize {
    let mut sum = around;
    let mut add = |key: usize, member: &Node| {
        let left = limit.saturating_sub(sum);
        sum = sum.saturating_add(node_pointer_bytes(member, around + 1 + key, left));
        sum <= limit
    };
    match node {
        Node::Scalar(_) => {}
        Node::List(items) => {
            let _ = items.iter().all(|item| add(INDEX_BYTES, &item.value));
        }
        Node::Table(members) => {
            let _ = members.iter().all(|(key, member)| add(key.value.len(), &member.value));
        }
    }
    sum
}

enum Node {
    Scalar(Value),
    List(Vec<Spanned<Node>>),
    Table(Vec<(Spanned<String>, Spanned<Node>)>),
}

fn convert(node: Spanned<Node>, at: &mut String, places: &mut BTreeMap<String, Span>) -> Value {
    places.entry(at.clone()).or_insert_with(|| span(&node.referenced));
    let length = at.len();
    match node.value {
        Node::Scalar(value) => value,
        Node::List(items) => {
            let items = items.into_iter().enumerate().map(|(index, item)| {
                json::push(at, &index.to_string());
                let value = convert(item, at, places);
                at.truncate(length);
                value
            });
            Value::Array(items.collect())
        }
        Node::Table(members) => {
            let mut table = Map::new();
            for (key, member) in members {
                json::push(at, &key.value);
                // A table or list begins where its first member does; its key is the better place.
                if !matches!(member.value, Node::Scalar(_)) {
                    places.insert(at.clone(), span(&key.referenced));
                }
                let value = convert(member, at, places);
                at.truncate(length);
                table.insert(key.value, value);
            }
            Value::Object(table)
        }
    }
}

fn span(location: &Location) -> Span {
    let span = location.span();
    let start = span.byte_offset().unwrap_or_default() as usize;
    Span::new(start, start + span.byte_len().unwrap_or_default() as usize)
}

/// The place of a fault, which may come without bytes.
fn place(source: &Source, location: &Location) -> Span {
    if location.span().byte_offset().is_some() {
        return span(location);
    }
    let (line, column) = (location.line() as usize, location.column() as usize);
    let lines = source.text.split_inclusive('\n');
    let before: usize = lines.clone().take(line.saturating_sub(1)).map(str::len).sum();
    let text = lines.clone().nth(line.saturating_sub(1)).unwrap_or_default();
    let inside: usize = text.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    Span::new(before + inside, before + inside)
}

/// Which limit a file breaks, in words: the library only names its own counters.
fn beyond_limits(text: &str) -> Option<&'static str> {
    let counter = text.split_once("budget breached: ")?.1;
    let counter = counter.split([' ', '{']).next()?;
    Some(match counter {
        "Nodes" | "Events" => "too many values, those of its aliases counted",
        "Depth" => "lists and tables stand inside one another more than 32 levels deep",
        "Aliases" | "Anchors" | "AliasAnchorRatio" => "too many anchors or aliases",
        "ScalarBytes" | "CommentBytes" => "too much text",
        _ => "more than is read",
    })
}

/// The library adds a place of its own and advice for programmers; our place stands before it.
fn first_sentence(text: &str) -> &str {
    let ends = [" at line ", ", set ", "\n"].into_iter().filter_map(|end| text.find(end));
    text[..ends.min().unwrap_or(text.len())].trim_end_matches([':', ',', ' '])
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a list or a table")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Node::Scalar(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Node, A::Error> {
        let mut table = Vec::new();
        while let Some(member) = members.next_entry()? {
            table.push(member);
        }
        Ok(Node::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(text: &str, pointer: &str) -> String {
        let source = Arc::new(Source::new("x.yaml", text));
        let (_, places) = parse(&source).unwrap();
        let span = places[pointer];
        let place = source.place(span.start);
        format!("{}:{} {}", place.line, place.column, &text[span.range()])
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let source = Arc::new(Source::new("x.yaml", text));
        assert_eq!(parse(&source).unwrap_err().to_string(), expected);
    }

    #[test]
    fn every_member_knows_its_place() {
        let text = "a: 1\nимя:\n  - x: \"д\"\n  - y\n";
        assert_eq!(place_of(text, "/a"), "1:4 1");
        assert_eq!(place_of(text, "/имя/0/x"), "3:8 \"д\"");
        assert_eq!(place_of(text, "/имя/1"), "4:5 y");
        assert_eq!(place_of(text, "/имя"), "2:1 имя");
    }

    #[test]
    fn yaml_1_2_scalars_mean_what_they_say() {
        let source = Arc::new(Source::new("x.yaml", "[no, on, 1.0.0, 0x10, ~, 1e3, '1']"));
        let (value, _) = parse(&source).unwrap();
        assert_eq!(value.to_string(), r#"["no","on","1.0.0",16,null,1000.0,"1"]"#);
    }

    #[test]
    fn broken_and_exploding_files_are_refused_with_a_place() {
        refused("a: 1\na: 2\n", "x.yaml:2:1: not YAML: duplicate mapping key: a [invalid_yaml]");
        let mut bomb = String::from("a0: &a0 [x]\n");
        for level in 1..30 {
            bomb += &format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1);
        }
        let told = |text: String| {
            let source = Arc::new(Source::new("x.yaml", text));
            parse(&source).unwrap_err().message
        };
        assert_eq!(
            told(bomb),
            "not YAML that is taken: too many values, those of its aliases counted"
        );
        assert_eq!(
            told("[".repeat(80) + &"]".repeat(80)),
            "not YAML that is taken: lists and tables stand inside one another more than 32 levels deep"
        );
        let source = Arc::new(Source::new("x.yaml", "[".repeat(20_000)));
        assert!(parse(&source).unwrap_err().to_string().contains("[invalid_yaml]"));
    }
}
