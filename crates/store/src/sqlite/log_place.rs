//! Where a version of a run lies in the file: the run's number, then the version, in one integer.

use crate::well_formed::LAST_VERSION;

pub(super) fn place_of(number: i64, version: u64) -> i64 {
    (number << 32) | (version & LAST_VERSION) as i64
}

pub(super) fn version_of(place: i64) -> u64 {
    place as u64 & LAST_VERSION
}
