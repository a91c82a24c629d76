//! Text styles that only this program can produce.
//!
//! A line mixes the program's text with text of models and other untrusted sources, and reaches
//! `output` as one string. Therefore a style is not written as a plain escape sequence, which
//! anyone can write, but as a sequence that contains a random secret, generated for each process.
//! `output` converts these sequences to colors and escapes everything else, so that text that was
//! not sanitized earlier is harmless.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Reset};

/// The secret that follows the escape character in the program's own sequences.
static SECRET: LazyLock<String> = LazyLock::new(|| {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
});

const ESCAPE: char = '\u{1b}';

/// A text style. `{STYLE}` starts it and `{STYLE:#}` ends it, within any text that `output` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TerminalStyle(anstyle::Style);

impl TerminalStyle {
    /// Creates a bold style.
    pub(crate) const fn bold() -> Self {
        Self(anstyle::Style::new().bold())
    }

    /// Creates a dimmed style.
    pub(crate) const fn dim() -> Self {
        Self(anstyle::Style::new().dimmed())
    }

    /// Creates a style with a color.
    pub(crate) const fn colour(colour: AnsiColor) -> Self {
        Self(colour.on_default())
    }

    /// Creates a bold style with a color.
    pub(crate) const fn bold_colour(colour: AnsiColor) -> Self {
        Self(colour.on_default().bold())
    }
}

impl fmt::Display for TerminalStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sequences = if f.alternate() { Reset.to_string() } else { self.0.to_string() };
        f.write_str(&mark(&sequences))
    }
}

/// Marks the escape sequences of a text as the program's own. Use it only for renderer output in
/// which all foreign text was escaped before.
pub(crate) fn mark(rendered: &str) -> String {
    rendered.replace(ESCAPE, &format!("{ESCAPE}{}", *SECRET))
}

/// Applies a function to every piece of text between the styles.
pub(crate) fn map_pieces<'t>(text: &'t str, change: impl Fn(&'t str) -> Cow<'t, str>) -> String {
    let mark = mark("\u{1b}");
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&mark) {
        changed.push_str(&change(before));
        let end = after.find('m').map_or(after.len(), |end| end + 1);
        changed.push_str(&mark);
        changed.push_str(&after[..end]);
        rest = &after[end..];
    }
    changed.push_str(&change(rest));
    changed
}

/// Converts the styles to terminal escape sequences.
pub(crate) fn unmark(text: &str) -> String {
    text.replace(&mark("\u{1b}"), "\u{1b}")
}

/// Removes the styles from a text.
pub(crate) fn strip_styles(text: &str) -> String {
    let mark = mark("\u{1b}");
    let mut pieces = text.split(&mark);
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, after)| after));
    }
    plain
}
