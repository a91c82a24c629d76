//! The one place that prints. Standard output is data, standard error is talk.
//!
//! Whatever is printed may hold words of a model or a stranger. So everything goes through one filter,
//! on terminals and in pipes: the styles of [`style`] become colours, and any other
//! control character, bidirectional control or invisible character is shown as a visible escape.
//! The exact characters are in `--json`, as JSON escapes. Colours appear on a terminal only, and never
//! when `NO_COLOR` is set. A reader that has gone away (`| head`) is no error.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use countersign_core::text::{
    escape_for_display, escape_json_for_display, escape_line_for_display,
};
use serde_json::Value;

use crate::style;

/// Writes text as data.
pub(crate) fn print_data(text: &str) {
    let _ = anstream::stdout().write_all(sanitize(text).as_bytes());
}

/// Writes a value for programs.
pub(crate) fn print_json(value: &Value) {
    print_json_text(&format!("{value:#}\n"));
}

/// Writes a value for programs on a line of its own.
pub(crate) fn print_json_line(value: &Value) {
    print_json_text(&format!("{value}\n"));
}

/// Writes a document for programs whose strings know `\uXXXX`: JSON, lines of JSON, a grammar.
pub(crate) fn print_json_text(text: &str) {
    let _ = anstream::stdout().write_all(escape_json_for_display(text).as_bytes());
}

/// Writes a line of talk.
pub(crate) fn print_message(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", sanitize(text));
}

/// Whether what is said on standard error is read at a terminal.
pub(crate) fn is_stderr_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stderr().is_terminal()
}

/// Writes a line that the next one replaces. On a terminal only: elsewhere it would pile up.
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

/// Writes a question, and leaves the line to whoever answers.
pub(crate) fn print_prompt(text: &str) {
    let mut stream = anstream::stderr();
    let _ = write!(stream, "{} ", sanitize(text));
    let _ = stream.flush();
}

/// Writes what the reader of the command line says: help, a version, or what is wrong. Its colours
/// stay, unless it quotes something that is hidden.
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

/// Writes that this program is wrong, and where.
pub(crate) fn print_panic(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let trace = match Backtrace::capture() {
        trace if trace.status() == BacktraceStatus::Captured => format!("\n{trace}"),
        _ => String::new(),
    };
    print_message(&format!("thread '{}' {info}{trace}", thread.name().unwrap_or("<unnamed>")));
}

/// A text with our styles as sequences, and everything else visible.
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
