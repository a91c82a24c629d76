//! Numbers as JavaScript writes and reads them.
//!
//! Not a formatter for people: the text is exact, so canonical JSON can be built on it.

use super::text::is_js_space;

/// Writes a number as JavaScript's `String(x)` does: `1e+21`, `1e-7`, `0` for `-0`.
#[must_use]
pub fn to_js_string(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return (number as i64).to_string();
    }
    // Rust's shortest form has the digits JavaScript wants; only their layout differs.
    let shortest = format!("{:e}", number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", lay_out(&digits, point))
}

/// Places the decimal point after `point` digits, or falls back to an exponent.
fn lay_out(digits: &str, point: i32) -> String {
    let count = digits.len() as i32;
    if (count..=21).contains(&point) {
        return format!("{digits}{}", "0".repeat((point - count) as usize));
    }
    if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        return format!("{whole}.{fraction}");
    }
    if (-5..=0).contains(&point) {
        return format!("0.{}{digits}", "0".repeat((-point) as usize));
    }
    let exponent = point - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{first}{dot}{rest}e{sign}{}", exponent.abs())
}

/// Reads a string as JavaScript's `Number(text)` does; what is no number is NaN.
pub(super) fn from_js_string(text: &str) -> f64 {
    let text = text.trim_matches(is_js_space);
    if text.is_empty() {
        return 0.0;
    }
    if let Some(number) = prefixed(text) {
        return number;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if is_decimal(unsigned) { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// `0x10`, `0o17`, `0b11`: the number, NaN if the digits are wrong, `None` without such a prefix.
fn prefixed(text: &str) -> Option<f64> {
    let rest = text.strip_prefix('0')?;
    let bits = match rest.bytes().next()? {
        b'x' | b'X' => 4,
        b'o' | b'O' => 3,
        b'b' | b'B' => 1,
        _ => return None,
    };
    Some(from_digits(&rest[1..], bits).unwrap_or(f64::NAN))
}

/// Reads digits of a power-of-two base, correctly rounded; `None` if there are none or one is foreign.
pub(super) fn from_digits(digits: &str, bits: u32) -> Option<f64> {
    if digits.is_empty() {
        return None;
    }
    let mut kept: u64 = 0;
    let mut dropped_bits: i32 = 0;
    let mut sticky = false;
    for character in digits.chars() {
        let digit = u64::from(character.to_digit(1 << bits)?);
        if kept >> (64 - bits) == 0 {
            kept = kept << bits | digit;
        } else {
            dropped_bits = dropped_bits.saturating_add(bits as i32);
            sticky |= digit != 0;
        }
    }
    // At least 60 bits are kept when any are dropped, so one sticky bit decides the rounding.
    let rounded = (kept | u64::from(sticky)) as f64;
    Some(if kept == 0 { 0.0 } else { rounded * 2f64.powi(dropped_bits) })
}

/// `1`, `1.5`, `.5`, `5.`, each with an optional exponent.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_holds = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    (!whole.is_empty() || !fraction.is_empty())
        && all_digits(whole)
        && all_digits(fraction)
        && exponent_holds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        let cases: &[(f64, &str)] = &[
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-42.0, "-42"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123.456, "123.456"),
            (1e15, "1000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1e21, "-1e+21"),
            (1.5e300, "1.5e+300"),
            (1e-6, "0.000001"),
            (1.5e-6, "0.0000015"),
            (1e-7, "1e-7"),
            (1.25e-7, "1.25e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (number, text) in cases {
            assert_eq!(to_js_string(*number), *text);
        }
    }

    #[test]
    fn strings_are_read_as_javascript_reads_them() {
        let cases: &[(&str, f64)] = &[
            ("", 0.0),
            (" \u{feff}\n", 0.0),
            (" 12 ", 12.0),
            ("+1.5", 1.5),
            ("-.5e1", -5.0),
            ("5.", 5.0),
            ("0x10", 16.0),
            ("0O17", 15.0),
            ("0b11", 3.0),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
            ("0x20000000000001", 9_007_199_254_740_992.0),
            ("0x20000000000003", 9_007_199_254_740_996.0),
        ];
        for (text, number) in cases {
            assert_eq!(from_js_string(text), *number, "{text:?}");
        }
        for text in
            ["1_0", "-0x10", "0x", "1e", ".", "inf", "nan", "infinity", "1 2", "12px", "\u{85}1"]
        {
            assert!(from_js_string(text).is_nan(), "{text:?}");
        }
        assert!(from_js_string("-0").is_sign_negative());
    }
}
