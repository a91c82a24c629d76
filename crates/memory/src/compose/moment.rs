//! Moments as text, where a date can be written for them.

use countersign_core::run::Time;

/// The first and the last moment that four digits of year can name.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

/// A moment as text, where its year has four digits.
pub(super) fn told(time: Time) -> Option<String> {
    (FIRST..=LAST).contains(&time.0).then(|| time.to_string())
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
            assert_eq!(Time::parse(&told(time).unwrap()), Some(time));
        }
        assert_eq!(told(Time(LAST + 1)), None);
        assert_eq!(told(Time(FIRST - 1)), None);
    }
}
