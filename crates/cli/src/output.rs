//! The only module that prints. Data goes to standard output, messages go to standard error.
//!
//! Printed text may contain words of a model or of other untrusted sources. Therefore everything
//! passes one filter, on terminals and in pipes: the styles of [`style`] become colors, and any
//! other control character, bidirectional control or invisible character is printed as a visible
//! escape. With `--json` the exact characters are available as JSON escapes. Colors appear only on
//! a terminal, and never if `NO_COLOR` is set. A closed pipe (`| head`) is not an error.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use countersign_contract::text::{
    escape_for_display, escape_json_for_display, escape_line_for_display,
};
use serde_json::Value;

use crate::style;

/// Writes text to standard output.
pub(crate) fn print_data(text: &str) {
    let _ = anstream::stdout().write_all(sanitize(text).as_bytes());
}

/// Writes an indented JSON value to standard output.
pub(crate) fn print_json(value: &Value) {
    print_json_text(&format!("{value:#}\n"));
}

/// Writes a JSON value on one line to standard output.
pub(crate) fn print_json_line(value: &Value) {
    print_json_text(&format!("{value}\n"));
}

/// Writes a document whose strings support `\uXXXX` escapes: JSON, JSON lines, or a grammar.
pub(crate) fn print_json_text(text: &str) {
    let _ = anstream::stdout().write_all(escape_json_for_display(text).as_bytes());
}

/// Writes a line to standard error.
pub(crate) fn print_message(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", sanitize(text));
}

/// Returns whether standard error is a terminal.
pub(crate) fn is_stderr_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stderr().is_terminal()
}

/// Writes a line that the next one replaces. Prints only on a terminal, because elsewhere the lines
/// would accumulate.
pub(crate) fn print_transient(text: &str) {
    if is_stderr_terminal() {
        let mut stream = anstream::stderr();
        let _ = write!(
            stream,
            "\r\x1b[2K{}",
            style::unmark(&style::map_pieces(text, escape_line_for_display))
        );
        let _ = stream.flush();
    }
}

/// Writes a question and leaves the cursor on the same line for the answer.
pub(crate) fn print_prompt(text: &str) {
    let mut stream = anstream::stderr();
    let _ = write!(stream, "{} ", sanitize(text));
    let _ = stream.flush();
}

/// Writes the output of the command-line parser: help, version, or a usage error. Its colors are
/// preserved, unless it quotes hidden characters.
pub(crate) fn print_usage_error(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if escape_for_display(&text) == text {
        let _ = error.print();
    } else if error.use_stderr() {
        print_message(text.trim_end());
    } else {
        print_data(&text);
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Reports an internal error and its location.
pub(crate) fn print_panic(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let trace = match Backtrace::capture() {
        trace if trace.status() == BacktraceStatus::Captured => format!("\n{trace}"),
        _ => String::new(),
    };
    print_message(&format!("thread '{}' {info}{trace}", thread.name().unwrap_or("<unnamed>")));
}

/// Converts the styles to escape sequences and makes all other control characters visible.
fn sanitize(text: &str) -> String {
    style::unmark(&style::map_pieces(text, escape_for_display))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{BAD, GOOD};

    #[test]
    fn only_our_own_styles_reach_a_terminal() {
        let foreign = "\u{1b}[32maccepted\u{1b}[0m\r\u{8}\u{202e}";
        let shown = r"\u{1b}[32maccepted\u{1b}[0m\u{d}\u{8}\u{202e}";
        assert_eq!(
            sanitize(&format!("{BAD}refused{BAD:#}: {foreign}")),
            format!("\u{1b}[1m\u{1b}[31mrefused\u{1b}[0m: {shown}")
        );
        assert_eq!(style::strip_styles(&format!("{GOOD}a{GOOD:#}b")), "ab");
    }
}
