//! JSON Pointers (RFC 6901) as text: building, splitting and matching.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

/// Appends one segment to a pointer, with `~` and `/` escaped.
pub fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for character in segment.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Returns the pointer of a member of the value at `pointer`.
#[must_use]
pub fn child_pointer(pointer: &str, segment: &str) -> String {
    let mut longer = pointer.to_owned();
    push_segment(&mut longer, segment);
    longer
}

/// Returns the pointer of the enclosing value, or `None` for the root.
#[must_use]
pub fn parent_pointer(pointer: &str) -> Option<&str> {
    pointer.rfind('/').map(|slash| &pointer[..slash])
}

/// Returns the unescaped segments of a pointer.
pub fn split_pointer(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(|segment| {
        if segment.contains('~') {
            Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
        } else {
            Cow::Borrowed(segment)
        }
    })
}

/// Pointer pattern in which `*` matches every member: `/breakdown/*/issues/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPointerPattern {
    segments: Vec<String>,
}

impl JsonPointerPattern {
    /// Parses a pattern. Returns `None` if it does not start with `/`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.starts_with('/')
            .then(|| Self { segments: split_pointer(text).map(Cow::into_owned).collect() })
    }

    /// Calls `visit` with the path and the value of every match, in document order.
    pub fn for_each_match<'v>(
        &self,
        root: &'v Value,
        visit: &mut impl FnMut(&JsonValuePath<'v>, &'v Value),
    ) {
        walk_matches(&self.segments, root, &mut JsonValuePath::default(), visit);
    }
}

/// Path to a value. It is formatted as a JSON Pointer only on demand.
#[derive(Debug, Clone, Default)]
pub struct JsonValuePath<'k>(Vec<JsonPointerSegment<'k>>);

impl fmt::Display for JsonValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pointer = String::new();
        for segment in &self.0 {
            segment.push_to(&mut pointer);
        }
        f.write_str(&pointer)
    }
}

/// One step into a value, converted to text only on demand.
#[derive(Debug, Clone, Copy)]
pub(super) enum JsonPointerSegment<'k> {
    Key(&'k str),
    Index(usize),
}

impl JsonPointerSegment<'_> {
    /// Appends this segment to a pointer.
    pub(super) fn push_to(self, pointer: &mut String) {
        match self {
            Self::Key(key) => push_segment(pointer, key),
            Self::Index(index) => push_segment(pointer, &index.to_string()),
        }
    }

    /// Returns the number of bytes that this segment adds to a pointer, not counting escapes.
    pub(super) fn pointer_len(self) -> usize {
        match self {
            Self::Key(key) => 1 + key.len(),
            Self::Index(index) => 2 + index.checked_ilog10().unwrap_or(0) as usize,
        }
    }

    /// Returns the pointer that consists of this segment followed by `rest`.
    pub(super) fn prepend_to(self, rest: &str) -> String {
        let mut pointer = String::new();
        self.push_to(&mut pointer);
        pointer + rest
    }
}

impl fmt::Display for JsonPointerPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pointer = String::new();
        for segment in &self.segments {
            push_segment(&mut pointer, segment);
        }
        f.write_str(&pointer)
    }
}

/// Below this number of members, a linear search is faster than hashing the name.
const FEW_MEMBERS: usize = 8;

/// Returns a member of an object, with its key.
#[inline]
pub(crate) fn find_member<'v>(
    members: &'v Map<String, Value>,
    name: &str,
) -> Option<(&'v String, &'v Value)> {
    if members.len() <= FEW_MEMBERS {
        members.iter().find(|(key, _)| key.as_str() == name)
    } else {
        members.get_key_value(name)
    }
}

fn walk_matches<'v>(
    segments: &[String],
    value: &'v Value,
    path: &mut JsonValuePath<'v>,
    visit: &mut impl FnMut(&JsonValuePath<'v>, &'v Value),
) {
    let Some((segment, rest)) = segments.split_first() else {
        visit(path, value);
        return;
    };
    let mut step = |taken: JsonPointerSegment<'v>, member: &'v Value| {
        path.0.push(taken);
        walk_matches(rest, member, path, visit);
        path.0.pop();
    };
    match value {
        Value::Object(members) if segment == "*" => {
            for (name, member) in members {
                step(JsonPointerSegment::Key(name), member);
            }
        }
        Value::Object(members) => {
            if let Some((name, member)) = find_member(members, segment) {
                step(JsonPointerSegment::Key(name), member);
            }
        }
        Value::Array(items) if segment == "*" => {
            for (index, item) in items.iter().enumerate() {
                step(JsonPointerSegment::Index(index), item);
            }
        }
        Value::Array(items) => {
            let index = segment.parse().unwrap_or(usize::MAX);
            if let Some(item) = items.get(index).filter(|_| index.to_string() == *segment) {
                step(JsonPointerSegment::Index(index), item);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn segments_are_escaped_and_come_back() {
        let pointer = child_pointer(&child_pointer("", "a/b"), "c~d");
        assert_eq!(pointer, "/a~1b/c~0d");
        assert_eq!(split_pointer(&pointer).collect::<Vec<_>>(), ["a/b", "c~d"]);
        assert_eq!(parent_pointer(&pointer), Some("/a~1b"));
        assert_eq!(parent_pointer(""), None);
    }

    #[test]
    fn a_star_stands_for_every_member() {
        let value = json!({"a": [{"b": 1}, {"c": 2}, {"b": 3}], "d": {"b": 4}});
        let seen = |pattern: &str| {
            let mut seen = Vec::new();
            JsonPointerPattern::parse(pattern).unwrap().for_each_match(
                &value,
                &mut |pointer, value| {
                    seen.push(format!("{pointer}={value}"));
                },
            );
            seen.join(" ")
        };
        assert_eq!(seen("/a/*/b"), "/a/0/b=1 /a/2/b=3");
        assert_eq!(seen("/*/b"), "/d/b=4");
        assert_eq!(seen("/a/1/c"), "/a/1/c=2");
        assert_eq!(seen("/nowhere/*"), "");
        assert_eq!(JsonPointerPattern::parse("a/*"), None);
    }
}
