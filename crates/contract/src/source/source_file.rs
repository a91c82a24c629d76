//! Author files as text, with conversion from byte offsets to lines and columns.

/// Text of a file together with its display name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Name shown in messages: a path, or a label in angle brackets.
    pub name: String,
    /// Complete text of the file.
    pub text: String,
}

/// Position for display. Line and column count from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line number, counted from 1.
    pub line: usize,
    /// Column number in characters, counted from 1.
    pub column: usize,
}

impl SourceFile {
    /// Creates a file from a display name and its text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Converts a byte offset into a line and a column.
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

    /// Returns whether the file name ends in `.json`; every other file is YAML.
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
