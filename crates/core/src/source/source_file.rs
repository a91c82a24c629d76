//! A file as its author sees it: a name, lines, columns.

/// A text and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The name shown in messages: a path, or something in angle brackets.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A place a person can go to. Both count from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl SourceFile {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Where a byte stands.
    #[must_use]
    pub fn line_column_at(&self, byte: usize) -> LineColumn {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        LineColumn {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// Whether the file is JSON by its name; everything else is YAML.
    #[must_use]
    pub fn is_json(&self) -> bool {
        std::path::Path::new(&self.name)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let source = SourceFile::new("x.yaml", "a\nбв: г\n");
        assert_eq!(source.line_column_at(0), LineColumn { line: 1, column: 1 });
        assert_eq!(source.line_column_at("a\nбв: ".len()), LineColumn { line: 2, column: 5 });
        assert_eq!(source.line_column_at(3), LineColumn { line: 2, column: 1 });
        assert_eq!(source.line_column_at(9999), LineColumn { line: 3, column: 1 });
    }
}
