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

/// Writes a line that the next one replaces. On a terminal only: elsewhere it would pile up.
pub(crate) fn passing(text: &str) {
    use std::io::IsTerminal as _;
    if std::io::stderr().is_terminal() {
        let mut stream = anstream::stderr();
        let _ = write!(stream, "\r\x1b[2K{text}");
        let _ = stream.flush();
    }
}

/// Writes a question, and leaves the line to whoever answers.
pub(crate) fn question(text: &str) {
    let mut stream = anstream::stderr();
    let _ = write!(stream, "{text} ");
    let _ = stream.flush();
}
