//! A file as its author sees it: a name, lines, columns.

/// A text and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name shown in messages: a path, or something in angle brackets.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A place a person can go to. Both count from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl Source {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Where a byte stands.
    #[must_use]
    pub fn place(&self, byte: usize) -> Place {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
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
        let source = Source::new("x.yaml", "a\nбв: г\n");
        assert_eq!(source.place(0), Place { line: 1, column: 1 });
        assert_eq!(source.place("a\nбв: ".len()), Place { line: 2, column: 5 });
        assert_eq!(source.place(3), Place { line: 2, column: 1 });
        assert_eq!(source.place(9999), Place { line: 3, column: 1 });
    }
}
