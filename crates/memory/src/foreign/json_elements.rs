//! Reads JSON files element by element, and members of objects whose shape is not certain.

use std::fmt;

use countersign_contract::Timestamp;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{ForeignFile, ForeignFileError};

/// Reads a JSON file. The elements of an array are given one after the other with their index, so
/// that only one of them is in memory as a value; an object is given as a whole.
pub(super) fn read_json(
    file: ForeignFile<'_>,
    each: &mut dyn FnMut(usize, Value),
    whole: &mut dyn FnMut(Map<String, Value>),
    expected: &'static str,
) -> Result<(), ForeignFileError> {
    // Some programs begin their files with a byte order mark.
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let path = || file.path.to_owned();
    let found = (&mut reader).deserialize_any(ElementVisitor { each, whole });
    let found = found.and_then(|found| reader.end().map(|()| found));
    match found {
        Ok(None) => Ok(()),
        Ok(Some(found)) => {
            Err(ForeignFileError::Shape { path: path(), expected, found: found.to_owned() })
        }
        Err(error) => Err(ForeignFileError::Json { path: path(), problem: error.to_string() }),
    }
}

/// Gives elements to functions. Its value is the kind of a file that is neither an array nor an
/// object.
struct ElementVisitor<'f> {
    each: &'f mut dyn FnMut(usize, Value),
    whole: &'f mut dyn FnMut(Map<String, Value>),
}

impl<'de> Visitor<'de> for ElementVisitor<'_> {
    type Value = Option<&'static str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut index = 0;
        while let Some(element) = elements.next_element()? {
            (self.each)(index, element);
            index += 1;
        }
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = members.next_entry()? {
            object.insert(key, value);
        }
        (self.whole)(object);
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Some("a string"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Some("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Some("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Some("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Some("a number"))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some("null"))
    }
}

/// Returns a member that is a text with something in it.
pub(super) fn text_member<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    let texts = names.iter().filter_map(|name| value.get(name)?.as_str());
    texts.into_iter().find(|text| !text.trim().is_empty())
}

/// Returns the elements of a member; none if it is not an array.
pub(super) fn list_member<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the texts in a list.
pub(super) fn list_texts(value: &Value, name: &str) -> Vec<String> {
    list_member(value, name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Reads the first of these members that is a time: RFC 3339, with or without an offset, or seconds
/// since 1970. A time without an offset is read as UTC.
pub(super) fn time_member(value: &Value, names: &[&str]) -> Option<Timestamp> {
    names.iter().find_map(|name| read_time(value.get(name)?))
}

fn read_time(value: &Value) -> Option<Timestamp> {
    if let Some(seconds) = value.as_f64() {
        let millis = seconds * 1_000.0;
        return (0.0..=253_402_300_799_999.0)
            .contains(&millis)
            .then_some(Timestamp(millis.round() as i64));
    }
    parse_time(value.as_str()?)
}

/// Parses a time or a date as programs and people write it.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim().replacen(' ', "T", 1);
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text };
    Timestamp::parse(&whole).or_else(|| Timestamp::parse(&format!("{whole}Z")))
}

/// Describes the kind of a value.
pub(super) fn describe_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Escapes a name as a token of a JSON Pointer.
pub(super) fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
