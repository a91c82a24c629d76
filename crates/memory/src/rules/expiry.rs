//! Decides when a row has expired.

use countersign_contract::Timestamp;

use crate::record::MemoryExpiry;

/// Returns whether a row of run `of_run` is no longer visible in run `in_run` at a timestamp. An
/// insight without an expiry is stored as [`MemoryExpiry::RunEnd`], so nothing that must expire
/// stays visible for ever.
#[must_use]
pub fn is_expired(
    expires: Option<MemoryExpiry>,
    of_run: &str,
    in_run: &str,
    now: Timestamp,
) -> bool {
    match expires {
        None => false,
        Some(MemoryExpiry::RunEnd) => of_run != in_run,
        Some(MemoryExpiry::Until(end)) => now > end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_moment_is_inside_and_a_run_ends_with_itself() {
        let at = Some(MemoryExpiry::Until(Timestamp(10)));
        let cases = [
            (None, "r1", "r2", 99, false),
            (at, "r1", "r2", 9, false),
            (at, "r1", "r2", 10, false),
            (at, "r1", "r1", 11, true),
            (Some(MemoryExpiry::RunEnd), "r1", "r1", 99, false),
            (Some(MemoryExpiry::RunEnd), "r1", "r2", 0, true),
            (Some(MemoryExpiry::RunEnd), "r1", "r11", 0, true),
        ];
        for (expires, of_run, in_run, now, over) in cases {
            assert_eq!(
                is_expired(expires, of_run, in_run, Timestamp(now)),
                over,
                "{expires:?} {now}"
            );
        }
    }
}
