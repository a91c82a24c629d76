//! Moments as the log has them: milliseconds since 1970, UTC. They come in with inputs; nothing here
//! knows what time it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, Hash,
)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// This much later.
    #[must_use]
    pub fn after(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds since an earlier moment; none where it was later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0).max(0) as u64
    }
}

/// RFC 3339 in UTC, to the millisecond: `2026-01-21T12:00:00.000Z`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, inside) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        let (year, month, day) = civil(days);
        let (seconds, millis) = (inside / 1_000, inside % 1_000);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// The date of a day since 1970, by counting eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_rfc_3339() {
        let told = |millis: i64| Time(millis).to_string();
        assert_eq!(told(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(told(1_768_996_800_000), "2026-01-21T12:00:00.000Z");
        assert_eq!(told(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(told(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(told(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
    }
}
