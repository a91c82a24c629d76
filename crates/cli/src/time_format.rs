//! Formats durations and timestamps for people, with a single unit: `40 s`, `12 min`, `3 h`, `6 d`.

use countersign_run::Timestamp;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Formats a duration in milliseconds, rounded to the displayed unit.
pub(crate) fn format_duration(millis: u64) -> String {
    let rounded = |unit: u64| millis.saturating_add(unit / 2) / unit;
    let units = [(SECOND, 60, "s"), (MINUTE, 60, "min"), (HOUR, 24, "h"), (DAY, u64::MAX, "d")];
    let fits = units.into_iter().find(|(unit, most, _)| rounded(*unit) < *most);
    let (unit, _, word) = fits.unwrap_or((DAY, 0, "d"));
    format!("{} {word}", rounded(unit))
}

/// Formats how long ago a timestamp was.
pub(crate) fn format_ago(now: Timestamp, then: Timestamp) -> String {
    format!("{} ago", format_duration(now.millis_since(then)))
}

/// Formats the time until a timestamp: `in 6 d`, `late by 2 h`.
pub(crate) fn format_until(now: Timestamp, then: Timestamp) -> String {
    if then >= now {
        format!("in {}", format_duration(then.millis_since(now)))
    } else {
        format!("late by {}", format_duration(now.millis_since(then)))
    }
}

/// Formats a timestamp to the second: `2026-01-21 12:00:00`.
pub(crate) fn format_timestamp(time: Timestamp) -> String {
    let whole = time.to_string();
    whole.split('.').next().unwrap_or(&whole).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_is_said() {
        for (millis, said) in [
            (0, "0 s"),
            (400, "0 s"),
            (59_400, "59 s"),
            (59_999, "1 min"),
            (3_599_999, "1 h"),
            (7_200_000, "2 h"),
            (86_400_000, "1 d"),
            (604_799_000, "7 d"),
            (8_640_000_000, "100 d"),
        ] {
            assert_eq!(format_duration(millis), said);
        }
    }

    #[test]
    fn moments_lie_ahead_or_behind() {
        let now = Timestamp(1_768_996_800_000);
        assert_eq!(format_until(now, now.plus_millis(6 * 86_400_000)), "in 6 d");
        assert_eq!(format_until(now, now.plus_millis(-7_300_000)), "late by 2 h");
        assert_eq!(format_ago(now, now.plus_millis(-61_000)), "1 min ago");
        assert_eq!(format_timestamp(now), "2026-01-21 12:00:00");
    }
}
