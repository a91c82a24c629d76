//! `PackStream` decoder: what a server sends, as JSON, with limits on its size and depth.

use serde_json::{Map, Value, json};

use super::temporal_values;

const MAX_DEPTH: usize = 64;

/// A message: its kind and its fields.
#[derive(Debug, PartialEq)]
pub(super) struct BoltMessage {
    pub(super) kind: u8,
    pub(super) fields: Vec<Value>,
}

/// Decodes a complete message; `None` if the bytes are not one.
pub(super) fn decode_message(bytes: &[u8]) -> Option<BoltMessage> {
    let mut reader = PackStreamReader { bytes, depth: 0 };
    let mark = reader.take_byte()?;
    if mark & 0xF0 != 0xB0 {
        return None;
    }
    let kind = reader.take_byte()?;
    let fields = reader.read_values(usize::from(mark & 0x0F))?;
    reader.bytes.is_empty().then_some(BoltMessage { kind, fields })
}

struct PackStreamReader<'b> {
    bytes: &'b [u8],
    depth: usize,
}

impl<'b> PackStreamReader<'b> {
    fn take_bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn take_byte(&mut self) -> Option<u8> {
        self.take_bytes(1).map(|bytes| bytes[0])
    }

    /// Reads an unsigned integer of this many bytes.
    fn read_size(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take_bytes(bytes)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }

    fn read_values(&mut self, count: usize) -> Option<Vec<Value>> {
        // Every value takes at least one byte, so a count beyond the remaining bytes is invalid.
        if count > self.bytes.len() {
            return None;
        }
        (0..count).map(|_| self.read_value()).collect()
    }

    fn read_value(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = self.read_marked_value();
        self.depth -= 1;
        value
    }

    fn read_marked_value(&mut self) -> Option<Value> {
        let mark = self.take_byte()?;
        let low = usize::from(mark & 0x0F);
        Some(match mark {
            0x00..=0x7F | 0xF0..=0xFF => json!(mark as i8),
            0x80..=0x8F => self.read_text(low)?,
            0x90..=0x9F => Value::Array(self.read_values(low)?),
            0xA0..=0xAF => self.read_map(low)?,
            0xB0..=0xBF => {
                let kind = self.take_byte()?;
                let fields = self.read_values(low)?;
                structure_to_json(kind, &fields)?
            }
            0xC0 => Value::Null,
            0xC1 => {
                let number = f64::from_be_bytes(self.take_bytes(8)?.try_into().ok()?);
                // A number that JSON cannot represent becomes a text.
                serde_json::Number::from_f64(number)
                    .map_or_else(|| json!(number.to_string()), Value::Number)
            }
            0xC2 => json!(false),
            0xC3 => json!(true),
            0xC8 => json!(i8::from_be_bytes(self.take_bytes(1)?.try_into().ok()?)),
            0xC9 => json!(i16::from_be_bytes(self.take_bytes(2)?.try_into().ok()?)),
            0xCA => json!(i32::from_be_bytes(self.take_bytes(4)?.try_into().ok()?)),
            0xCB => json!(i64::from_be_bytes(self.take_bytes(8)?.try_into().ok()?)),
            0xCC..=0xCE => {
                let size = self.read_size(1 << (mark - 0xCC))?;
                let bytes = self.take_bytes(size)?;
                json!(format!("[{} bytes]", bytes.len()))
            }
            0xD0..=0xD2 => {
                let size = self.read_size(1 << (mark - 0xD0))?;
                self.read_text(size)?
            }
            0xD4..=0xD6 => {
                let size = self.read_size(1 << (mark - 0xD4))?;
                Value::Array(self.read_values(size)?)
            }
            0xD8..=0xDA => {
                let size = self.read_size(1 << (mark - 0xD8))?;
                self.read_map(size)?
            }
            _ => return None,
        })
    }

    fn read_text(&mut self, size: usize) -> Option<Value> {
        String::from_utf8(self.take_bytes(size)?.to_vec()).ok().map(Value::String)
    }

    fn read_map(&mut self, size: usize) -> Option<Value> {
        if size > self.bytes.len() {
            return None;
        }
        let mut fields = Map::new();
        for _ in 0..size {
            let Value::String(key) = self.read_value()? else { return None };
            fields.insert(key, self.read_value()?);
        }
        Some(Value::Object(fields))
    }
}

/// Converts nodes, relationships, paths, temporal values and points to readable JSON.
fn structure_to_json(kind: u8, fields: &[Value]) -> Option<Value> {
    let at = |index: usize| fields.get(index).cloned().unwrap_or(Value::Null);
    Some(match kind {
        b'N' => json!({ "labels": at(1), "properties": at(2) }),
        b'R' => json!({ "type": at(3), "properties": at(4) }),
        b'r' => json!({ "type": at(1), "properties": at(2) }),
        b'P' => json!({ "nodes": at(0), "relations": at(1) }),
        b'X' => json!({ "srid": at(0), "x": at(1), "y": at(2) }),
        b'Y' => json!({ "srid": at(0), "x": at(1), "y": at(2), "z": at(3) }),
        _ => {
            let numbers: Vec<i64> = fields.iter().filter_map(Value::as_i64).collect();
            let zone = fields.iter().find_map(Value::as_str);
            json!(temporal_values::format_temporal(kind, &numbers, zone)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neo4j::pack;

    #[test]
    fn what_is_packed_comes_back() {
        let many: Vec<Value> = (0..300).map(|number| json!(number)).collect();
        for value in [
            json!(null),
            json!([true, false, -16, -17, 127, 128, -129, 40_000, -40_000, 5_000_000_000_i64, 1.5]),
            json!({"a": "x".repeat(20), "b": "я".repeat(300), "c": {"d": []}}),
            json!(many),
            json!("x".repeat(70_000)),
        ] {
            let packed = pack::encode_message(0x71, std::slice::from_ref(&value));
            assert_eq!(
                decode_message(&packed),
                Some(BoltMessage { kind: 0x71, fields: vec![value] })
            );
        }
    }

    #[test]
    fn lies_are_not_believed() {
        let deep = [&[0xB1, 0x71][..], &[0x91; 100], &[0xC0]].concat();
        for bytes in [
            &[][..],
            &[0xB1],
            &[0xB1, 0x71],
            &[0xB1, 0x71, 0xD6, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0xB1, 0x71, 0xD2, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0xB1, 0x71, 0xDA, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0xB1, 0x71, 0x82, 0xFF, 0xFE],
            &[0xB1, 0x71, 0xA1, 0x01, 0x01],
            &[0xB1, 0x71, 0xC4],
            &[0xB1, 0x71, 0xC0, 0xC0],
            &[0x01],
            &deep,
        ] {
            assert_eq!(decode_message(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn nodes_read_as_their_properties() {
        let node = [0xB1, 0x71, 0xB3, b'N', 0x01, 0x91, 0x81, b'P', 0xA1, 0x81, b'a', 0x02];
        let read = decode_message(&node).unwrap();
        assert_eq!(read.fields, [json!({"labels": ["P"], "properties": {"a": 2}})]);
    }
}
