//! Durations as authors write them: `30s`, `5m`, `1h`, `2d`.

/// A duration in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DurationMillis {
    /// Number of milliseconds, at least 1.
    pub millis: i64,
}

/// The maximum: a thousand years keep every sum of times inside 64 bits.
const MAX_MILLIS: f64 = 1000.0 * 366.0 * 86_400_000.0;

/// Parses a number with a unit: `ms`, `s`, `m`, `h` or `d`. Returns `None` for other texts, for
/// durations under a millisecond and for those over a thousand years.
#[must_use]
pub fn parse_duration(text: &str) -> Option<DurationMillis> {
    let text = text.trim();
    let unit =
        text.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let number: f64 = text[..text.len() - unit.len()].parse().ok()?;
    let factor = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let millis = number * factor;
    (1.0..=MAX_MILLIS).contains(&millis).then_some(DurationMillis { millis: millis as i64 })
}

/// Formats with the largest unit that gives a whole number: `90s`, `5m`.
impl std::fmt::Display for DurationMillis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        let fits = |(size, _): &&(i64, &str)| self.millis >= *size && self.millis % size == 0;
        match units.iter().find(fits) {
            Some((size, unit)) => write!(f, "{}{unit}", self.millis / size),
            None => write!(f, "{}ms", self.millis),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_told() {
        let reprint = |text: &str| parse_duration(text).map(|duration| duration.to_string());
        for same in ["30s", "5m", "1h", "2d", "250ms", "90s"] {
            assert_eq!(reprint(same).as_deref(), Some(same));
        }
        assert_eq!(reprint("1.5m").as_deref(), Some("90s"));
        assert_eq!(reprint("60s").as_deref(), Some("1m"));
        for not in
            ["", "5", "m", "-1s", "0s", "1 fortnight", "1e3s", "nan s", "99999999999d", "1..5s"]
        {
            assert_eq!(reprint(not), None, "{not}");
        }
    }
}
