//! Parses dates as `LoCoMo` writes them: `1:56 pm on 8 May, 2023`.

use countersign_contract::Timestamp;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the timestamp, interpreted as UTC.
pub(crate) fn parse_locomo_date(written: &str) -> Option<Timestamp> {
    let (clock, date) = written.split_once(" on ")?;
    let (clock, half) = clock.split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.parse().ok()?);
    let afternoon = match half {
        "am" => 0,
        "pm" => 12,
        _ => return None,
    };
    let mut date = date.split([' ', ',']).filter(|part| !part.is_empty());
    let day: i64 = date.next()?.parse().ok()?;
    let month = date.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year: i64 = date.next()?.parse().ok()?;
    let minutes = (hour % 12 + afternoon) * 60 + minute;
    Some(Timestamp::from_date(year, month, day).plus_millis(minutes * 60_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_moment() {
        for (written, expected) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00.000Z"),
            ("12:09 am on 29 February, 2024", "2024-02-29T00:09:00.000Z"),
            ("12:30 pm on 1 January, 2022", "2022-01-01T12:30:00.000Z"),
        ] {
            assert_eq!(parse_locomo_date(written).unwrap().to_string(), expected);
        }
        assert_eq!(parse_locomo_date("8 May, 2023"), None);
    }
}
