//! Timestamps as the log stores them: milliseconds since 1970, UTC. They arrive with inputs; this
//! module does not read the clock.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, Hash,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Adds milliseconds, saturating at the bounds of `i64`.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// The start of a day in UTC; months and days count from 1.
    #[must_use]
    pub fn from_date(year: i64, month: i64, day: i64) -> Self {
        Self(days_since_1970(year, month, day) * 86_400_000)
    }

    /// Parses RFC 3339 to the millisecond and truncates finer fractions. Returns `None` for any
    /// other text.
    ///
    /// ```
    /// use countersign_contract::Timestamp;
    ///
    /// let noon = Timestamp::parse("2026-01-21T13:00:00+01:00").unwrap();
    /// assert_eq!(noon.to_string(), "2026-01-21T12:00:00.000Z");
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
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
            && (1..=days_in_month(year, month)).contains(&day)
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
        Some(Self((minutes * 60 + second) * 1_000 + millis))
    }

    /// Milliseconds since `earlier`; 0 if `earlier` is later.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0).max(0) as u64
    }
}

/// Formats as RFC 3339 in UTC, to the millisecond: `2026-01-21T12:00:00.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, inside) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        let (year, month, day) = date_from_days(days);
        let (seconds, millis) = (inside / 1_000, inside % 1_000);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Converts days since 1970 to a date, by counting eras of 400 years that begin in March.
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Converts a date to days since 1970, by counting eras of 400 years that begin in March.
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
    fn moments_read_as_rfc_3339() {
        let text = |millis: i64| Timestamp(millis).to_string();
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(1_768_996_800_000), "2026-01-21T12:00:00.000Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(text(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
    }

    #[test]
    fn what_is_written_is_read() {
        for millis in [0, 1_768_996_800_123, 951_782_400_000, -1, -62_167_219_200_000] {
            assert_eq!(Timestamp::parse(&Timestamp(millis).to_string()), Some(Timestamp(millis)));
        }
        assert_eq!(Timestamp::from_date(2000, 2, 29), Timestamp(951_782_400_000));
    }

    #[test]
    fn offsets_and_fractions_are_read() {
        let noon = Timestamp::parse("2026-01-21T12:00:00Z").unwrap();
        assert_eq!(noon, Timestamp(1_768_996_800_000));
        assert_eq!(Timestamp::parse("2026-01-21T20:00:00+08:00"), Some(noon));
        assert_eq!(Timestamp::parse("2026-01-21t06:30:00-05:30"), Some(noon));
        assert_eq!(Timestamp::parse("2026-01-21T12:00:00.5Z"), Some(noon.plus_millis(500)));
        assert_eq!(Timestamp::parse("2026-01-21T12:00:00.1239Z"), Some(noon.plus_millis(123)));
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
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
