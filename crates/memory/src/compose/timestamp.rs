//! Formats timestamps that have a four-digit year.

use countersign_contract::Timestamp;

/// The first and the last timestamp with a four-digit year, in Unix milliseconds.
const EARLIEST_MILLIS: i64 = -62_167_219_200_000;
const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// Formats a timestamp; returns `None` if its year does not have four digits.
pub(super) fn format_timestamp(time: Timestamp) -> Option<String> {
    (EARLIEST_MILLIS..=LATEST_MILLIS).contains(&time.0).then(|| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_moment_agree() {
        for time in [
            Timestamp(0),
            Timestamp(1_768_996_800_123),
            Timestamp(951_782_400_000),
            Timestamp(-1),
            Timestamp(EARLIEST_MILLIS),
            Timestamp(LATEST_MILLIS),
        ] {
            assert_eq!(Timestamp::parse(&format_timestamp(time).unwrap()), Some(time));
        }
        assert_eq!(format_timestamp(Timestamp(LATEST_MILLIS + 1)), None);
        assert_eq!(format_timestamp(Timestamp(EARLIEST_MILLIS - 1)), None);
    }
}
