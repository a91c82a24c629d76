//! When something is over.

use countersign_core::run::Time;

use crate::record::Expiry;

/// Whether something of a run may not be seen any more, in this run and at this moment. A guess without
/// an end is kept as [`Expiry::RunEnd`]: nothing that must expire lasts for ever.
#[must_use]
pub fn is_over(expires: Option<Expiry>, of_run: &str, in_run: &str, now: Time) -> bool {
    match expires {
        None => false,
        Some(Expiry::RunEnd) => of_run != in_run,
        Some(Expiry::At(end)) => now > end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_moment_is_inside_and_a_run_ends_with_itself() {
        let at = Some(Expiry::At(Time(10)));
        let cases = [
            (None, "r1", "r2", 99, false),
            (at, "r1", "r2", 9, false),
            (at, "r1", "r2", 10, false),
            (at, "r1", "r1", 11, true),
            (Some(Expiry::RunEnd), "r1", "r1", 99, false),
            (Some(Expiry::RunEnd), "r1", "r2", 0, true),
            (Some(Expiry::RunEnd), "r1", "r11", 0, true),
        ];
        for (expires, of_run, in_run, now, over) in cases {
            assert_eq!(is_over(expires, of_run, in_run, Time(now)), over, "{expires:?} {now}");
        }
    }
}
