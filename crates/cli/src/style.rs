//! Colours that only this program can put into a line.
//!
//! A line mixes our words with those of models and strangers, and all of it is one text when it
//! reaches `output`. So a style is not written as an escape sequence, which anybody can write, but as
//! one with a secret in it that is made anew for every process. `output` turns these into
//! colours and escapes everything else: a text that somebody forgot to look at is harmless.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Reset};

/// What stands after the escape character of our own sequences.
static SECRET: LazyLock<String> = LazyLock::new(|| {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
});

const ESCAPE: char = '\u{1b}';

/// A style. `{STYLE}` begins it and `{STYLE:#}` ends it, within any text that `output` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TerminalStyle(anstyle::Style);

impl TerminalStyle {
    /// Bold letters.
    pub(crate) const fn bold() -> Self {
        Self(anstyle::Style::new().bold())
    }

    /// Faint letters.
    pub(crate) const fn dimmed() -> Self {
        Self(anstyle::Style::new().dimmed())
    }

    /// Letters of a colour.
    pub(crate) const fn colour(colour: AnsiColor) -> Self {
        Self(colour.on_default())
    }

    /// Bold letters of a colour.
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

/// Takes the escape sequences of a text for ours. Only for what a renderer of ours wrote around texts
/// that were escaped before.
pub(crate) fn mark(rendered: &str) -> String {
    rendered.replace(ESCAPE, &format!("{ESCAPE}{}", *SECRET))
}

/// A text in which every piece between our styles was changed.
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

/// A text with our styles as the sequences that a terminal understands.
pub(crate) fn unmark(text: &str) -> String {
    text.replace(&mark("\u{1b}"), "\u{1b}")
}

/// A text without our styles.
pub(crate) fn strip_styles(text: &str) -> String {
    let mark = mark("\u{1b}");
    let mut pieces = text.split(&mark);
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, after)| after));
    }
    plain
}
