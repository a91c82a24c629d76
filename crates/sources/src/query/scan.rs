//! Reads a statement as far as needed: what is code, what is quoted, where parameters stand.
//!
//! It is no parser and no guard: whether a statement may write is for the database to refuse.
//! It finds what no database would tell us in good words: a second statement, and parameters.

/// What quotes and comments look like, and how a parameter is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `'…'`, `"…"`, `--`, `/* */`, `$tag$…$tag$`, `:name`.
    Sql,
    /// `'…'`, `"…"` with backslashes, `` `…` ``, `//`, `/* */`, `$name`.
    Cypher,
}

/// A stretch of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text to be kept as it is.
    Text(String),
    /// A parameter, by its name.
    Param(String),
}

/// A statement in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) parts: Vec<Part>,
    /// The words outside quotes and comments, in capitals.
    pub(crate) words: Vec<String>,
}

/// Why a statement cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScanError {
    #[error("is blank")]
    Blank,
    #[error("holds several statements; one was expected")]
    Several,
    #[error("has a quote or a comment that does not end")]
    Unended,
    #[error("holds a NUL character")]
    Nul,
    #[error("uses a parameter without a name (`?` or `$1`); `:name` was expected")]
    Nameless,
}

impl Scan {
    /// Reads one statement.
    pub(crate) fn read(text: &str, dialect: Dialect) -> Result<Self, ScanError> {
        if text.contains('\0') {
            return Err(ScanError::Nul);
        }
        let mut scan = Self { parts: Vec::new(), words: Vec::new() };
        let mut plain = String::new();
        let mut ended = false;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = token(rest, first, dialect)?;
            let (token, behind) = rest.split_at(length);
            let blank = first.is_whitespace() || is_comment(token, dialect);
            if ended && !blank {
                return Err(ScanError::Several);
            }
            if token == ";" {
                // A semicolon at the end is a habit; it is left out.
                ended = true;
            } else if let Some(name) = param(token, dialect) {
                if name.is_empty() {
                    return Err(ScanError::Nameless);
                }
                scan.parts.push(Part::Text(std::mem::take(&mut plain)));
                scan.parts.push(Part::Param(name.to_owned()));
            } else {
                if is_word(first) {
                    scan.words.push(token.to_uppercase());
                }
                plain.push_str(token);
            }
            rest = behind;
        }
        scan.parts.push(Part::Text(plain));
        let empty = scan.words.is_empty();
        if empty { Err(ScanError::Blank) } else { Ok(scan) }
    }

    /// The names of the parameters, each once, in order.
    pub(crate) fn params(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in &self.parts {
            if let Part::Param(name) = part
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    /// The statement with each parameter written by somebody else.
    pub(crate) fn written(&self, mut param: impl FnMut(&str) -> String) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Param(name) => param(name),
        });
        parts.collect()
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_comment(token: &str, dialect: Dialect) -> bool {
    token.starts_with("/*") || token.starts_with(line_comment(dialect))
}

fn line_comment(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sql => "--",
        Dialect::Cypher => "//",
    }
}

/// The name of a parameter, empty where it has none.
fn param(token: &str, dialect: Dialect) -> Option<&str> {
    match dialect {
        Dialect::Sql if token == "?" => Some(""),
        Dialect::Sql if token.starts_with('$') && !token[1..].contains('$') => Some(""),
        Dialect::Sql => token.strip_prefix(':').filter(|name| name.starts_with(is_word)),
        Dialect::Cypher => token.strip_prefix('$').map(|name| name.trim_matches('`')),
    }
}

/// How long the token is that begins the text.
fn token(text: &str, first: char, dialect: Dialect) -> Result<usize, ScanError> {
    let until = |mark: &str, from: usize| {
        text[from..].find(mark).map(|at| from + at + mark.len()).ok_or(ScanError::Unended)
    };
    let name_end = |from: usize| {
        text[from..].find(|letter| !is_name(letter)).map_or(text.len(), |at| from + at)
    };
    if text.starts_with(line_comment(dialect)) {
        return Ok(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return comment(text);
    }
    match (first, dialect) {
        ('\'' | '"' | '`', _) => quoted(text, first, dialect),
        // An escape string of PostgreSQL has backslashes of its own meaning.
        ('e' | 'E', Dialect::Sql) if text[1..].starts_with('\'') => {
            quoted(&text[1..], '\'', Dialect::Cypher).map(|length| length + 1)
        }
        ('$', Dialect::Sql) => {
            let tag = name_end(1);
            if text[tag..].starts_with('$') { until(&text[..=tag], tag + 1) } else { Ok(tag) }
        }
        ('$', Dialect::Cypher) if text[1..].starts_with('`') => {
            quoted(&text[1..], '`', dialect).map(|length| length + 1)
        }
        ('$', Dialect::Cypher) => Ok(name_end(1)),
        (':', Dialect::Sql) if text.starts_with("::") => Ok(2),
        (':', Dialect::Sql) => Ok(name_end(1)),
        _ if is_name(first) => Ok(name_end(0)),
        _ => Ok(first.len_utf8()),
    }
}

/// A quoted stretch: a doubled mark stands for itself, and in Cypher a backslash guards the next.
fn quoted(text: &str, mark: char, dialect: Dialect) -> Result<usize, ScanError> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && dialect == Dialect::Cypher && mark != '`' {
            letters.next();
        } else if letter == mark {
            let doubled = letters.peek().is_some_and(|(_, next)| *next == mark);
            if doubled && (dialect == Dialect::Sql || mark == '`') {
                letters.next();
            } else {
                return Ok(at + 1);
            }
        }
    }
    Err(ScanError::Unended)
}

/// A block comment. `PostgreSQL` nests them and `SQLite` does not: where they would differ, it is refused.
fn comment(text: &str) -> Result<usize, ScanError> {
    let end = text[2..].find("*/").ok_or(ScanError::Unended)? + 2;
    if text[2..end].contains("/*") { Err(ScanError::Unended) } else { Ok(end + 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn params(text: &str, dialect: Dialect, expected: &[&str]) {
        assert_eq!(Scan::read(text, dialect).unwrap().params(), expected, "{text}");
    }

    #[test]
    fn parameters_are_found_where_they_are_code() {
        params("SELECT :a, :b WHERE x = :a", Dialect::Sql, &["a", "b"]);
        params("SELECT ':a', \":b\", a::text, x -- :c\n/* :d */", Dialect::Sql, &[]);
        params("SELECT 'it''s :a' || :b", Dialect::Sql, &["b"]);
        params("SELECT $$ :a $$, $t$ :b $ $t$, :c::date", Dialect::Sql, &["c"]);
        params(r"SELECT E'\' :a' || :b", Dialect::Sql, &["b"]);
        params("SELECT a[1:2]", Dialect::Sql, &[]);
        params("SELECT :имя", Dialect::Sql, &["имя"]);
        params(
            "MATCH (p:Project {id: $id}) RETURN '$no', \"\\\"$no\", $`b`",
            Dialect::Cypher,
            &["id", "b"],
        );
        params("MATCH (`$no`) // $no\nRETURN $id", Dialect::Cypher, &["id"]);
    }

    #[test]
    fn what_is_more_than_one_statement_is_refused() {
        let refused = |text: &str| Scan::read(text, Dialect::Sql).unwrap_err();
        assert_eq!(refused("SELECT 1; DROP TABLE a"), ScanError::Several);
        assert_eq!(refused("SELECT 1;;"), ScanError::Several);
        assert_eq!(refused(";"), ScanError::Blank);
        assert_eq!(refused("-- nothing\n"), ScanError::Blank);
        assert_eq!(refused("SELECT 'a"), ScanError::Unended);
        assert_eq!(refused("SELECT /* a /* b */ c */ 1"), ScanError::Unended);
        assert_eq!(refused("SELECT $a$ x"), ScanError::Unended);
        assert_eq!(refused("SELECT ?"), ScanError::Nameless);
        assert_eq!(refused("SELECT $1"), ScanError::Nameless);
        assert_eq!(refused("SELECT '\0'"), ScanError::Nul);
        assert!(Scan::read("SELECT ';' ; -- the end\n", Dialect::Sql).is_ok());
    }

    #[test]
    fn a_statement_is_written_back() {
        let scan = Scan::read("SELECT ':a', :a + :b;", Dialect::Sql).unwrap();
        assert_eq!(scan.written(|name| format!("<{name}>")), "SELECT ':a', <a> + <b>");
        assert_eq!(scan.words, ["SELECT"]);
    }
}
