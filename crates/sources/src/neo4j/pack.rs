//! `PackStream` encoder: JSON values to the format of Bolt.

use serde_json::{Map, Value};

/// Encodes a message from its kind and its fields.
pub(super) fn encode_message(kind: u8, fields: &[Value]) -> Vec<u8> {
    let mut out = vec![0xB0 | fields.len() as u8, kind];
    for field in fields {
        encode_value(field, &mut out);
    }
    out
}

fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xC0),
        Value::Bool(false) => out.push(0xC2),
        Value::Bool(true) => out.push(0xC3),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => encode_integer(whole, out),
            None => {
                out.push(0xC1);
                out.extend(number.as_f64().unwrap_or(f64::NAN).to_be_bytes());
            }
        },
        Value::String(text) => {
            encode_length(text.len(), 0x80, [0xD0, 0xD1, 0xD2], out);
            out.extend(text.as_bytes());
        }
        Value::Array(items) => {
            encode_length(items.len(), 0x90, [0xD4, 0xD5, 0xD6], out);
            for item in items {
                self::encode_value(item, out);
            }
        }
        Value::Object(fields) => encode_map(fields, out),
    }
}

fn encode_map(fields: &Map<String, Value>, out: &mut Vec<u8>) {
    encode_length(fields.len(), 0xA0, [0xD8, 0xD9, 0xDA], out);
    for (key, field) in fields {
        encode_value(&Value::String(key.clone()), out);
        encode_value(field, out);
    }
}

/// Encodes a number in its smallest form, which every reader accepts and some require.
fn encode_integer(number: i64, out: &mut Vec<u8>) {
    if let Ok(tiny @ -16..) = i8::try_from(number) {
        out.extend(tiny.to_be_bytes());
    } else if let Ok(small) = i8::try_from(number) {
        out.push(0xC8);
        out.extend(small.to_be_bytes());
    } else if let Ok(middle) = i16::try_from(number) {
        out.push(0xC9);
        out.extend(middle.to_be_bytes());
    } else if let Ok(large) = i32::try_from(number) {
        out.push(0xCA);
        out.extend(large.to_be_bytes());
    } else {
        out.push(0xCB);
        out.extend(number.to_be_bytes());
    }
}

fn encode_length(length: usize, tiny: u8, marks: [u8; 3], out: &mut Vec<u8>) {
    match length {
        0..=15 => out.push(tiny | length as u8),
        16..=0xFF => out.extend([marks[0], length as u8]),
        0x100..=0xFFFF => {
            out.push(marks[1]);
            out.extend((length as u16).to_be_bytes());
        }
        _ => {
            out.push(marks[2]);
            out.extend((length as u32).to_be_bytes());
        }
    }
}
