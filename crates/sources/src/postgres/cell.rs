//! Converts values to and from `PostgreSQL`.
//!
//! Parameters are sent with the type that the author declared. Columns are returned as text and
//! parsed by their type, so that every type of `PostgreSQL` works.

use std::error::Error;

use serde_json::Value;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::query::{ParamType, ParamValue};

/// Returns the placeholder of a parameter, with its type, for the statement.
pub(super) fn format_placeholder(number: usize, kind: ParamType) -> String {
    let kind = match kind {
        ParamType::Text => "text",
        ParamType::Integer => "bigint",
        ParamType::Number => "double precision",
        ParamType::Boolean => "boolean",
        // Sent as text and cast to a date; its format was checked here.
        ParamType::Date => "text::date",
    };
    format!("${number}::{kind}")
}

/// Converts a column's text to a value of its type.
pub(super) fn cell_to_json(text: Option<&str>, kind: &Type) -> Value {
    let Some(text) = text else { return Value::Null };
    let read = match *kind {
        Type::BOOL => Some(Value::Bool(text == "true")),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => {
            text.parse::<i64>().ok().map(Value::from)
        }
        Type::FLOAT4 | Type::FLOAT8 => parse_number(text),
        // A number with more digits than a float can hold stays a text, so that its digits do not
        // change.
        Type::NUMERIC if text.bytes().filter(u8::is_ascii_digit).count() <= 15 => {
            parse_number(text)
        }
        Type::JSON | Type::JSONB => serde_json::from_str(text).ok(),
        _ => None,
    };
    read.unwrap_or_else(|| text.into())
}

/// Parses a number that JSON can represent; `NaN` and `Infinity` are not.
fn parse_number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
}

impl ToSql for ParamValue {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Text(text) | Self::Date(text) => text.to_sql(kind, out),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Number(number) => number.to_sql(kind, out),
            Self::Boolean(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::TEXT, Type::INT8, Type::FLOAT8, Type::BOOL].contains(kind)
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_read_by_their_type() {
        for (text, kind, value) in [
            ("true", Type::BOOL, json!(true)),
            ("-7", Type::INT8, json!(-7)),
            ("12.50", Type::NUMERIC, json!(12.5)),
            ("12", Type::NUMERIC, json!(12)),
            ("1234567890123456.5", Type::NUMERIC, json!("1234567890123456.5")),
            ("NaN", Type::FLOAT8, json!("NaN")),
            ("{\"a\":[1]}", Type::JSONB, json!({"a": [1]})),
            ("2026-11-16", Type::DATE, json!("2026-11-16")),
        ] {
            assert_eq!(cell_to_json(Some(text), &kind), value, "{text}");
        }
        assert_eq!(cell_to_json(None, &Type::TEXT), Value::Null);
    }
}
