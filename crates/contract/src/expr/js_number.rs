//! Number formatting and parsing as in JavaScript.
//!
//! The output is exact rather than readable, so that canonical JSON can be built on it.

use super::expr_error::UnlocatedError;
use super::expr_string::is_js_space;

/// Formats a number like JavaScript's `String(x)`: `1e+21`, `1e-7`, `0` for `-0`.
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
    // Rust's shortest form has the same digits as JavaScript's; only the layout and ties differ.
    let (digits, point) = split_scientific(&format!("{:e}", number.abs()));
    let digits = round_tie_to_even(number.abs(), digits, point);
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", format_digits(&digits, point))
}

/// Splits `1.25e-7` into the digits `125` and the position of the point, -6.
fn split_scientific(scientific: &str) -> (String, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (mantissa.replace('.', ""), exponent.parse::<i32>().unwrap_or(0) + 1)
}

/// If two shortest forms are equally close, JavaScript uses the even one; Rust may use either.
fn round_tie_to_even(number: f64, digits: String, point: i32) -> String {
    let count = digits.len();
    let is_odd = digits.bytes().last().is_some_and(|last| last % 2 == 1);
    // Shorter forms never tie: doubles are much closer together than such decimals.
    if count < 16 || !is_odd {
        return digits;
    }
    let is_half = |precision: usize| {
        let (exact, _) = split_scientific(&format!("{number:.precision$e}"));
        let tail = &exact.as_bytes()[count..];
        let half = tail[0] == b'5' && tail[1..].iter().all(|digit| *digit == b'0');
        half.then(|| exact[..count].to_owned())
    };
    // Check a few digits first: computing all 767 digits that a double can have is expensive.
    let Some(lower) = is_half(30).and_then(|_| is_half(800)) else { return digits };
    let even = if lower == digits { increment_last_digit(&digits) } else { lower };
    let same = format!("0.{even}e{point}").parse() == Ok(number);
    if same { even } else { digits }
}

/// Increments the last digit. A shortest form that ends in nine has no successor of the same length
/// and is returned unchanged.
fn increment_last_digit(digits: &str) -> String {
    let (rest, last) = digits.split_at(digits.len() - 1);
    match last.parse::<u8>() {
        Ok(last) if last < 9 => format!("{rest}{}", last + 1),
        _ => digits.to_owned(),
    }
}

/// Places the decimal point after `point` digits, or uses an exponent.
fn format_digits(digits: &str, point: i32) -> String {
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

/// Parses a string like JavaScript's `Number(text)`; text that is not a number is NaN.
pub(super) fn from_js_string(text: &str) -> f64 {
    let text = text.trim_matches(is_js_space);
    if text.is_empty() {
        return 0.0;
    }
    if let Some(number) = parse_prefixed(text) {
        return number;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if is_decimal(unsigned) { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Parses `0x10`, `0o17` and `0b11`. Returns NaN if the digits are wrong, and `None` without such a
/// prefix.
fn parse_prefixed(text: &str) -> Option<f64> {
    let rest = text.strip_prefix('0')?;
    let bits = match rest.bytes().next()? {
        b'x' | b'X' => 4,
        b'o' | b'O' => 3,
        b'b' | b'B' => 1,
        _ => return None,
    };
    Some(parse_radix_digits(&rest[1..], bits).unwrap_or(f64::NAN))
}

/// Parses digits of a power-of-two base with correct rounding. Returns `None` if there are no
/// digits, or if one is not a digit of the base.
pub(super) fn parse_radix_digits(digits: &str, bits: u32) -> Option<f64> {
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
    // At least 60 bits are kept if any are dropped, so one sticky bit decides the rounding.
    let rounded = (kept | u64::from(sticky)) as f64;
    Some(if kept == 0 { 0.0 } else { rounded * 2f64.powi(dropped_bits) })
}

/// Returns whether the text is `1`, `1.5`, `.5` or `5.`, each with an optional exponent.
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

/// Formats a number like `toString` with this base. For bases other than ten, only exact whole
/// numbers are supported, because engines differ in the last digits of other numbers.
pub(super) fn to_radix_string(number: f64, base: f64) -> Result<String, UnlocatedError> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !(2.0..=36.0).contains(&base) {
        return Err(UnlocatedError::new("the base of `toString` must be a number from 2 to 36"));
    }
    if base == 10.0 || !number.is_finite() {
        return Ok(to_js_string(number));
    }
    if number.fract() != 0.0 || number.abs() > EXACT {
        return Err(UnlocatedError::new(
            "`toString` with a base needs a whole number up to 9007199254740992",
        ));
    }
    let (mut left, base) = (number.abs() as u64, base as u64);
    let mut digits: Vec<u8> = Vec::new();
    while left > 0 || digits.is_empty() {
        let digit = (left % base) as u8;
        digits.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        left /= base;
    }
    if number < 0.0 {
        digits.push(b'-');
    }
    Ok(digits.iter().rev().map(|digit| char::from(*digit)).collect())
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
            (9_007_199_254_740_992.0 / 10.0, "900719925474099.2"),
            (562_949_953_421_312.5, "562949953421312.5"),
            (4_503_599_627_370_501.0 / 4.0, "1125899906842625.2"),
            (4_503_599_627_370_503.0 / 4.0, "1125899906842625.8"),
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
