//! Reports that quote lines of a file or a reply, with carets below the relevant text.
//!
//! This is the only module that uses the renderer. It escapes every text before the renderer adds
//! colors, and shifts the spans to their positions in the escaped text.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use countersign_contract::json::TextSpan;
use countersign_contract::text::escape_for_display;

use crate::style;

/// A report: a title, the text it refers to, and notes.
#[derive(Default)]
pub(crate) struct SourceExcerpt<'t> {
    /// Whether the report is a warning; otherwise it is an error.
    pub(crate) is_warning: bool,
    /// The message in the first line.
    pub(crate) title: &'t str,
    /// The code to show in brackets.
    pub(crate) code: Option<&'t str>,
    /// The name of the text and the text itself; shown only if there are spans.
    pub(crate) source: Option<(&'t str, &'t str)>,
    /// The spans to underline, each with an optional label.
    pub(crate) spans: Vec<(TextSpan, Option<&'t str>)>,
    /// Notes to show below the excerpt.
    pub(crate) notes: Vec<String>,
    /// A suggestion for the user.
    pub(crate) hint: Option<&'t str>,
}

impl SourceExcerpt<'_> {
    /// Renders the report as text with styles.
    pub(crate) fn render(&self) -> String {
        let visible = |text: &str| escape_for_display(text).into_owned();
        let title = visible(self.title);
        let code = self.code.map(visible);
        let level = if self.is_warning { Level::WARNING } else { Level::ERROR };
        let mut primary = level.primary_title(&title);
        if let Some(code) = &code {
            primary = primary.id(code);
        }
        let mut group = Group::with_title(primary);
        let source = self.source.map(|(name, text)| (visible(name), text, visible(text)));
        let spans = self.spans.iter().map(|(span, label)| (*span, label.map(visible)));
        let spans: Vec<_> = spans.collect();
        if let Some((name, text, shown)) = source.as_ref().filter(|_| !spans.is_empty()) {
            let annotations = spans.iter().map(|(span, label)| {
                let (start, end) = clip_to_first_line(text, *span);
                let moved = floor_char_boundary(shown, escape_for_display(&text[..start]).len());
                let length = escape_for_display(&text[start..end]).len();
                let annotation =
                    AnnotationKind::Primary.span(moved..floor_char_boundary(shown, moved + length));
                match label {
                    Some(label) => annotation.label(label.as_str()),
                    None => annotation,
                }
            });
            let snippet = Snippet::source(shown.as_str()).path(name.as_str());
            group = group.element(snippet.annotations(annotations));
        }
        let notes: Vec<String> = self.notes.iter().map(|note| visible(note)).collect();
        for note in &notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        let hint = self.hint.map(visible);
        if let Some(hint) = &hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        style::mark(&Renderer::styled().render(&[group]))
    }
}

/// Returns the part of a span to underline: its first line, because underlining a whole object is
/// not helpful. If the text has changed and no longer contains the span, the result is at the end
/// of the text.
fn clip_to_first_line(text: &str, span: TextSpan) -> (usize, usize) {
    const MAX_ANNOTATED_BYTES: usize = 160;
    let start = floor_char_boundary(text, span.start);
    let mut end = floor_char_boundary(text, span.end.max(start));
    if let Some(newline) = text[start..end].find('\n') {
        end = start + newline;
        // Excludes the `\r` of a `\r
        // ` line ending.
        end -= usize::from(text[start..end].ends_with('\r'));
    }
    (start, floor_char_boundary(text, end.min(start + MAX_ANNOTATED_BYTES)))
}

/// Returns the last character boundary at or before an offset.
fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_below_what_is_meant_and_nothing_moves_the_cursor() {
        let text = "{\"\u{202e}a\": \"\u{1b}[2J\",\r\n \"b\": 1}";
        let span = TextSpan { start: text.find('1').unwrap(), end: text.find('1').unwrap() + 1 };
        let report = SourceExcerpt {
            title: "wrong \u{1b}[31m",
            source: Some(("re\u{8}ply", text)),
            spans: vec![(span, Some("here\r"))],
            ..SourceExcerpt::default()
        };
        let shown = style::strip_styles(&report.render());
        assert!(!shown.chars().any(countersign_contract::text::is_hidden), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines.iter().position(|line| line.contains("\"b\": 1")).expect("the line");
        assert_eq!(lines[at].find('1'), lines[at + 1].find('^'), "{shown}");
        assert!(shown.contains(r"\u{1b}[31m"), "{shown}");
    }
}
