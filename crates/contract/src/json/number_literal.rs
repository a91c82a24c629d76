//! Number literals, and whether a JSON value can represent them without loss.

use serde_json::{Number, Value};

/// Converts a literal of JSON's grammar into a value. Returns `None` if the conversion would lose
/// information: an overflow, an underflow, or digits that a double cannot represent.
pub(super) fn parse_number(literal: &str) -> Option<Value> {
    if let Some(integer) = parse_integer(literal) {
        return Some(integer);
    }
    let double: f64 = literal.parse().ok()?;
    if !double.is_finite() {
        return None;
    }
    // Fifteen significant digits always survive a double, so most literals need no exact check.
    let mantissa = literal.split(['e', 'E']).next().unwrap_or(literal);
    let long = mantissa.len() > 15;
    if (long || double == 0.0 || double.is_subnormal()) && !is_exact(literal, double) {
        return None;
    }
    Number::from_f64(double).map(Value::Number)
}

fn parse_integer(literal: &str) -> Option<Value> {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if digits.len() > 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if digits.len() == literal.len() {
        return literal.parse::<u64>().ok().map(Value::from);
    }
    // `-0` must be a double: integers have only one zero.
    (digits != "0").then(|| literal.parse::<i64>().ok()).flatten().map(Value::from)
}

/// Returns whether the double represents the literal: as its shortest decimal, rounded to as many
/// digits as the literal has, or, for a whole number, exactly.
fn is_exact(literal: &str, double: f64) -> bool {
    let written = to_decimal(literal);
    let same = |text: String| to_decimal(&text) == written;
    let digits = written.0.len();
    same(format!("{double:e}"))
        || (digits <= 17 && same(format!("{double:.*e}", digits.saturating_sub(1))))
        || same(format!("{double:.0}"))
}

/// Returns the significant digits without zeros at either end, and the power of ten of the last
/// digit.
fn to_decimal(text: &str) -> (String, i64) {
    let text = text.trim_start_matches('-');
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    // An exponent too long for an integer has already overflowed or underflowed the double.
    let mut power = exponent.parse::<i64>().unwrap_or(0).saturating_sub(fraction.len() as i64);
    while digits.len() > 1 && digits.ends_with('0') {
        digits.pop();
        power = power.saturating_add(1);
    }
    let digits = digits.trim_start_matches('0').to_owned();
    if digits.is_empty() { (digits, 0) } else { (digits, power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(literal: &str, expected: Option<&str>) {
        assert_eq!(
            parse_number(literal).map(|value| value.to_string()).as_deref(),
            expected,
            "{literal}"
        );
    }

    #[test]
    fn what_a_value_can_hold_is_kept() {
        check("0", Some("0"));
        check("-0", Some("-0.0"));
        check("18446744073709551615", Some("18446744073709551615"));
        check("-9223372036854775808", Some("-9223372036854775808"));
        check("1e20", Some("1e+20"));
        check("100000000000000000000", Some("1e+20"));
        check("0.1", Some("0.1"));
        check("0.30000000000000004", Some("0.30000000000000004"));
        check("123.456e78", Some("1.23456e+80"));
        check("0.000000000000000000000000000000000000001", Some("1e-39"));
        check("0e99999999999999999999", Some("0.0"));
        check("5e-324", Some("5e-324"));
        check("18446744073709551616", Some("1.8446744073709552e+19"));
        check("1934315080286992.2", Some("1934315080286992.2"));
    }

    #[test]
    fn what_it_cannot_is_refused() {
        check("1e400", None);
        check("-1e400", None);
        check("1e-400", None);
        check("18446744073709551617", None);
        check("9007199254740993.0", None);
        check("12345678901234567890123", None);
        check("0.12345678901234567890123", None);
        check("3.14159265358979323846", None);
        check("123e-10000000", None);
    }
}
