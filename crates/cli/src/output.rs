//! The one place that prints. Standard output is data, standard error is talk.
//!
//! Colours appear on a terminal only, and never when `NO_COLOR` is set. A reader that has gone
//! away (`| head`) is no error.

use std::io::Write as _;

use serde_json::Value;

/// Writes data as it is.
pub(crate) fn data(text: &str) {
    let _ = anstream::stdout().write_all(text.as_bytes());
}

/// Writes a value for programs.
pub(crate) fn json(value: &Value) {
    data(&format!("{value:#}\n"));
}

/// Writes a line of talk.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
