//! The types of parameters, and their values.

use serde_json::Value;

/// Maximum size of a text parameter, in bytes.
const MAX_TEXT_BYTES: usize = 4_000;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParamType {
    /// A text of at most 4,000 bytes.
    Text,
    /// A 64-bit integer.
    Integer,
    /// Any JSON number.
    Number,
    /// True or false, as a JSON boolean.
    Boolean,
    /// A date in the form `2026-11-16`.
    Date,
}

/// A value that may be passed to a database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParamValue {
    /// An optional parameter that was left out.
    Null,
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    /// A date in the form `2026-11-16`.
    Date(String),
}

impl ParamType {
    const ALL: [(&str, Self); 5] = [
        ("text", Self::Text),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("date", Self::Date),
    ];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    /// Lists the type names that `parse` accepts.
    pub(crate) fn format_names() -> String {
        Self::ALL.map(|(name, _)| format!("`{name}`")).join(", ")
    }

    /// Describes the expected value.
    pub(crate) fn describe_expected(self) -> &'static str {
        match self {
            Self::Text => "a string of at most 4000 bytes without NUL",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Date => "a date such as `2026-11-16`",
        }
    }

    /// Converts a value to this type; `None` if it does not have the type. Nothing is coerced:
    /// `"1"` is not a number.
    pub(crate) fn bind(self, value: &Value) -> Option<ParamValue> {
        match (self, value) {
            (Self::Text, Value::String(text)) => {
                let fits = text.len() <= MAX_TEXT_BYTES && !text.contains('\0');
                fits.then(|| ParamValue::Text(text.clone()))
            }
            (Self::Integer, value) => value.as_i64().map(ParamValue::Integer),
            (Self::Number, value) => value.as_f64().map(ParamValue::Number),
            (Self::Boolean, value) => value.as_bool().map(ParamValue::Boolean),
            (Self::Date, Value::String(text)) => {
                is_calendar_date(text).then(|| ParamValue::Date(text.clone()))
            }
            _ => None,
        }
    }
}

impl ParamValue {
    /// Formats the value for a reference; `None` for null.
    pub(crate) fn to_reference_text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Text(text) | Self::Date(text) => Some(text.clone()),
            Self::Integer(number) => Some(number.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Boolean(value) => Some(value.to_string()),
        }
    }
}

/// Whether a text is a valid calendar date.
fn is_calendar_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |from: usize, to: usize| {
        let digits = &bytes[from..to];
        let all = digits.iter().all(u8::is_ascii_digit);
        all.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    year > 0 && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_is_converted() {
        for (kind, good, bad) in [
            (ParamType::Text, json!("x' OR 1=1 --"), json!(1)),
            (ParamType::Text, json!(""), json!("a\0b")),
            (ParamType::Text, json!("x".repeat(4_000)), json!("x".repeat(4_001))),
            (ParamType::Integer, json!(-3), json!("3")),
            (ParamType::Integer, json!(i64::MAX), json!(1.5)),
            (ParamType::Number, json!(1.5), json!(null)),
            (ParamType::Boolean, json!(false), json!(0)),
            (ParamType::Date, json!("2024-02-29"), json!("2023-02-29")),
            (ParamType::Date, json!("2000-12-31"), json!("2000-13-01")),
            (ParamType::Date, json!("0001-01-01"), json!("2026-11-1я")),
        ] {
            assert!(kind.bind(&good).is_some(), "{good}");
            assert!(kind.bind(&bad).is_none(), "{bad}");
        }
    }
}
