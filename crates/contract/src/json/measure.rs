//! Size of a value as JSON, measured without producing the text.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value};

/// Size of a value as compact JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonSize {
    /// Length of the JSON text, in bytes.
    pub bytes: usize,
    /// Nesting of arrays and objects; 0 for a string or a number.
    pub depth: usize,
}

/// Measures a value as compact JSON without allocating memory.
///
/// # Panics
/// Never for types whose map keys are strings.
#[must_use]
pub fn measure_json(value: &impl Serialize) -> JsonSize {
    let (mut counter, mut levels) = (JsonByteCounter(0), JsonDepthCounter::default());
    let mut serializer = Serializer::with_formatter(&mut counter, &mut levels);
    value.serialize(&mut serializer).expect("counting cannot fail");
    JsonSize { bytes: counter.0, depth: levels.deepest }
}

/// Measures a value: the bytes of its keys and strings, plus one for every value.
#[must_use]
pub fn count_bytes(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_bytes).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() + count_bytes(member)).sum::<usize>()
        }
        Value::String(text) => 1 + text.len(),
        _ => 1,
    }
}

/// Writer that counts the bytes written to it.
struct JsonByteCounter(usize);

impl io::Write for JsonByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Serialization formatter that tracks the number of open brackets.
#[derive(Default)]
struct JsonDepthCounter {
    open_brackets: usize,
    deepest: usize,
}

impl JsonDepthCounter {
    fn enter_bracket(&mut self) {
        self.open_brackets += 1;
        self.deepest = self.deepest.max(self.open_brackets);
    }
}

impl Formatter for &mut JsonDepthCounter {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter_bracket();
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open_brackets -= 1;
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter_bracket();
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open_brackets -= 1;
        writer.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::measure_depth;

    #[test]
    fn the_size_is_that_of_the_text() {
        let values = [
            json!(null),
            json!([]),
            json!("a\"\n\u{1}ж"),
            json!({"a": [1, {"b": {}}], "c": [1.5, [], [[]]]}),
        ];
        for value in values {
            let size = measure_json(&value);
            assert_eq!(size.bytes, value.to_string().len(), "{value}");
            assert_eq!(size.depth, measure_depth(&value), "{value}");
        }
    }

    #[test]
    fn brackets_of_variants_count() {
        let value: Result<Vec<Value>, ()> = Ok(vec![json!([])]);
        assert_eq!(measure_json(&value), JsonSize { bytes: 11, depth: 3 });
    }
}
