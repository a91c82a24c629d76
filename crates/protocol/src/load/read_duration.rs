//! Reads durations from files.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use crate::{DurationMillis, parse_duration};

/// Reads a duration and reports an invalid one.
pub(super) fn read_duration(
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<DurationMillis> {
    let text = member.text()?;
    let read = parse_duration(text);
    if read.is_none() {
        let hint = "write a number above zero with `ms`, `s`, `m`, `h` or `d`: `30s`, `5m`, `2d`";
        let fault = member.diagnose("invalid_duration", format!("`{text}` is not a duration"));
        faults.push(fault.with_hint(Some(hint.to_owned())));
    }
    read
}
