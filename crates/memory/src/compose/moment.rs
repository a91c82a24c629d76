//! Moments from RFC 3339 text, and back where a date can be written for them.

use countersign_core::run::Time;

/// The first and the last moment that four digits of year can name.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

/// A moment as text, where its year has four digits.
pub(super) fn told(time: Time) -> Option<String> {
    (FIRST..=LAST).contains(&time.0).then(|| time.to_string())
}

/// A moment from RFC 3339, to the millisecond; what is finer is cut off.
#[must_use]
pub fn read(text: &str) -> Option<Time> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let signs = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !signs.iter().all(|(at, sign)| bytes.get(*at) == Some(sign))
        || !matches!(bytes.get(10), Some(b'T' | b't' | b' '))
    {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let in_range = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut millis = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return None;
        }
        millis = format!("{:0<3}", &fraction[..digits.min(3)]).parse().ok()?;
        rest = &fraction[digits..];
    }
    let offset = match rest.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let two = |tens: u8, ones: u8| -> Option<i64> {
                let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
                digits.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
            };
            let minutes = two(*h1, *h2)? * 60 + two(*m1, *m2)?;
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset;
    Some(Time((minutes * 60 + second) * 1_000 + millis))
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// By counting eras of 400 years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_moment_agree() {
        for time in [
            Time(0),
            Time(1_768_996_800_123),
            Time(951_782_400_000),
            Time(-1),
            Time(FIRST),
            Time(LAST),
        ] {
            assert_eq!(read(&told(time).unwrap()), Some(time));
        }
        assert_eq!(told(Time(LAST + 1)), None);
        assert_eq!(told(Time(FIRST - 1)), None);
    }

    #[test]
    fn offsets_and_fractions_are_read() {
        let noon = read("2026-01-21T12:00:00Z").unwrap();
        assert_eq!(noon, Time(1_768_996_800_000));
        assert_eq!(read("2026-01-21T20:00:00+08:00"), Some(noon));
        assert_eq!(read("2026-01-21t06:30:00-05:30"), Some(noon));
        assert_eq!(read("2026-01-21T12:00:00.5Z"), Some(noon.after(500)));
        assert_eq!(read("2026-01-21T12:00:00.1239Z"), Some(noon.after(123)));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "2026-01-21",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-21T24:00:00Z",
            "2026-01-21T12:00:00",
            "2026-01-21T12:00:00.Z",
            "2026-01-21T12:00:00+0800",
            "+026-01-21T12:00:00Z",
            "二〇二六年一月二十一日",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
