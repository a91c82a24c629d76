//! Formats dates and times of a graph as ISO 8601.

use countersign_run::Timestamp;

const DAY: i64 = 86_400;
const BILLION: i64 = 1_000_000_000;

/// Formats a temporal structure; `None` if its kind is unknown.
pub(super) fn format_temporal(kind: u8, numbers: &[i64], zone: Option<&str>) -> Option<String> {
    let zoned = |text: String| match zone {
        Some(zone) => format!("{text}[{zone}]"),
        None => text,
    };
    Some(match (kind, numbers) {
        (b'D', [days]) => format_date(*days)?,
        (b't', [nanos]) => format_time(*nanos)?,
        (b'T', [nanos, offset]) => format_time(*nanos)? + &format_offset(*offset)?,
        (b'd', [seconds, nanos]) => format_datetime(*seconds, *nanos)?,
        // With an offset: older servers send local seconds, newer ones UTC seconds.
        (b'F', [seconds, nanos, offset]) => {
            format_datetime(*seconds, *nanos)? + &format_offset(*offset)?
        }
        (b'I', [seconds, nanos, offset]) => {
            format_datetime(seconds.checked_add(*offset)?, *nanos)? + &format_offset(*offset)?
        }
        (b'f', [seconds, nanos]) => zoned(format_datetime(*seconds, *nanos)?),
        (b'i', [seconds, nanos]) => zoned(format_datetime(*seconds, *nanos)? + "Z"),
        (b'E', [months, days, seconds, nanos]) => {
            let part = if *nanos == 0 { String::new() } else { format!(".{nanos:09}") };
            format!("P{months}M{days}DT{seconds}{part}S")
        }
        _ => return None,
    })
}

fn format_datetime(seconds: i64, nanos: i64) -> Option<String> {
    let within = seconds.rem_euclid(DAY).checked_mul(BILLION)?.checked_add(nanos)?;
    Some(format!("{}T{}", format_date(seconds.div_euclid(DAY))?, format_time(within)?))
}

fn format_time(nanos: i64) -> Option<String> {
    let fits = (0..DAY * BILLION).contains(&nanos);
    let (seconds, part) = (nanos / BILLION, nanos % BILLION);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let part = if part == 0 { String::new() } else { format!(".{part:09}") };
    fits.then(|| format!("{hour:02}:{minute:02}:{second:02}{part}"))
}

fn format_offset(offset: i64) -> Option<String> {
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.checked_abs()? / 60;
    Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

/// Formats a date, given in days since 1970-01-01.
fn format_date(days: i64) -> Option<String> {
    // About ten thousand years either way; anything beyond is not a real date.
    if !(-4_400_000..=3_000_000).contains(&days) {
        return None;
    }
    let midnight = Timestamp(days * DAY * 1_000).to_string();
    midnight.split_once('T').map(|(date, _)| date.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_read_them() {
        for (kind, numbers, zone, text) in [
            (b'D', &[0][..], None, "1970-01-01"),
            (b'D', &[20_773], None, "2026-11-16"),
            (b'D', &[11_016], None, "2000-02-29"),
            (b'D', &[-1], None, "1969-12-31"),
            (b't', &[3_723 * BILLION], None, "01:02:03"),
            (b'T', &[0, -5_400], None, "00:00:00-01:30"),
            (b'd', &[86_399, 5], None, "1970-01-01T23:59:59.000000005"),
            (b'F', &[3_600, 0, 3_600], None, "1970-01-01T01:00:00+01:00"),
            (b'I', &[0, 0, 3_600], None, "1970-01-01T01:00:00+01:00"),
            (b'i', &[0, 0], Some("Asia/Seoul"), "1970-01-01T00:00:00Z[Asia/Seoul]"),
            (b'E', &[1, 2, 3, 0], None, "P1M2DT3S"),
        ] {
            assert_eq!(format_temporal(kind, numbers, zone).as_deref(), Some(text));
        }
        assert_eq!(format_temporal(b'D', &[i64::MAX], None), None);
        assert_eq!(format_temporal(b't', &[-1], None), None);
        assert_eq!(format_temporal(b'I', &[i64::MAX, 0, 1], None), None);
        assert_eq!(format_temporal(b'?', &[1], None), None);
    }
}
