//! Resolves the local references of a schema: `#`, `#/a/pointer` and `#anchor`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json;

/// Keywords whose value is data, not a schema.
pub const DATA_KEYWORDS: [&str; 4] = ["enum", "const", "default", "examples"];

/// Resolves the references of one schema document.
#[derive(Debug)]
pub struct ReferenceResolver<'s> {
    root: &'s Value,
    anchors: BTreeMap<&'s str, (String, &'s Value)>,
    /// Whether keywords beside `$ref` are ignored, as draft-07 requires.
    pub ignores_siblings: bool,
}

impl<'s> ReferenceResolver<'s> {
    /// Creates a resolver and collects the anchors of the document.
    #[must_use]
    pub fn new(root: &'s Value) -> Self {
        let mut anchors = BTreeMap::new();
        collect_anchors(root, &mut String::new(), &mut anchors);
        Self { root, anchors, ignores_siblings: is_draft_07(root) }
    }

    /// Returns the document that the references point into.
    #[must_use]
    pub fn root(&self) -> &'s Value {
        self.root
    }

    /// Returns the pointer and the schema that a reference leads to; `None` if it leads to nothing
    /// in this document.
    #[must_use]
    pub fn resolve(&self, reference: &str) -> Option<(String, &'s Value)> {
        let fragment = decode_percent(reference.strip_prefix('#')?)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            let schema = self.root.pointer(&fragment)?;
            return Some((fragment, schema));
        }
        self.anchors.get(fragment.as_str()).cloned()
    }

    /// Resolves the `$ref` of a schema object.
    #[must_use]
    pub fn resolve_in(&self, schema: &Value) -> Option<(String, &'s Value)> {
        self.resolve(schema.get("$ref")?.as_str()?)
    }
}

/// Returns whether a document declares draft-07.
#[must_use]
pub fn is_draft_07(root: &Value) -> bool {
    let dialect = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
    dialect.trim_end_matches('#') == "http://json-schema.org/draft-07/schema"
}

fn collect_anchors<'s>(
    schema: &'s Value,
    at: &mut String,
    into: &mut BTreeMap<&'s str, (String, &'s Value)>,
) {
    let length = at.len();
    match schema {
        Value::Object(members) => {
            let text = |keyword: &str| members.get(keyword).and_then(Value::as_str);
            // In draft-07 an anchor is an `$id` that begins with `#`.
            let old = text("$id").and_then(|id| id.strip_prefix('#')).filter(|id| !id.is_empty());
            for name in [text("$anchor"), text("$dynamicAnchor"), old].into_iter().flatten() {
                into.entry(name).or_insert_with(|| (at.clone(), schema));
            }
            for (name, member) in members {
                if !DATA_KEYWORDS.contains(&name.as_str()) {
                    json::push_segment(at, name);
                    collect_anchors(member, at, into);
                    at.truncate(length);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                json::push_segment(at, &index.to_string());
                collect_anchors(item, at, into);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// Decodes the percent escapes of a reference fragment; `None` if they are malformed.
fn decode_percent(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_anchors_and_encoded_names_are_found() {
        let root = json!({"$defs": {
            "a b": {"type": "null"},
            "x": {"$anchor": "here", "const": {"$anchor": "data"}},
            "old": {"$id": "#there"}
        }});
        let references = ReferenceResolver::new(&root);
        let found = |reference: &str| references.resolve(reference).map(|(pointer, _)| pointer);
        assert_eq!(found("#"), Some(String::new()));
        assert_eq!(found("#/$defs/a%20b"), Some("/$defs/a b".to_owned()));
        assert_eq!(found("#here"), Some("/$defs/x".to_owned()));
        assert_eq!(found("#there"), Some("/$defs/old".to_owned()));
        assert_eq!(found("#data"), None);
        assert_eq!(found("#/$defs/none"), None);
        assert_eq!(found("other.json#"), None);
    }
}
