//! Parses timestamps as people write them: RFC 3339, or a date, which means midnight UTC.

use countersign_run::Timestamp;

/// Parses a timestamp; `name` is the field that an error message refers to.
pub fn parse_time(name: &str, text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    Timestamp::parse(&whole).ok_or_else(|| {
        format!(
            "`{name}` must be a timestamp such as `2026-01-21T12:00:00Z` or `2026-01-21`, found `{text}`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_first_moment() {
        assert_eq!(parse_time("--now", "2026-01-21"), Ok(Timestamp(1_768_953_600_000)));
        assert_eq!(
            parse_time("--now", "2026-01-21T13:00:00+01:00"),
            Ok(Timestamp(1_768_996_800_000))
        );
        for wrong in ["", "yesterday", "2026-02-30", "2026-01-21T12"] {
            let said = parse_time("--now", wrong).unwrap_err();
            assert!(said.starts_with("`--now` must be a timestamp"), "{said}");
            assert!(said.ends_with(&format!("found `{wrong}`")), "{said}");
        }
    }
}
