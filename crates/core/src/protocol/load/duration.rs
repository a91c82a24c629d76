//! Lengths of time in files.

use super::faults::Faults;
use super::member::Member;
use crate::protocol::{Duration, parse_duration};

/// Reads a length of time.
pub(super) fn duration(member: &Member<'_>, faults: &Faults) -> Option<Duration> {
    let text = member.text()?;
    let read = parse_duration(text);
    if read.is_none() {
        let hint = "write a number above zero with `ms`, `s`, `m`, `h` or `d`: `30s`, `5m`, `2d`";
        let fault = member.fault("invalid_duration", format!("`{text}` is no length of time"));
        faults.push(fault.hinting(Some(hint.to_owned())));
    }
    read
}
