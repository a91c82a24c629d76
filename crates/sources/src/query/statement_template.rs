//! Tokenizes a statement as far as needed: what is code, what is quoted, and where the parameters
//! are.
//!
//! It is neither a parser nor a security check: the database refuses statements that write. It
//! finds what databases report badly: a second statement, and parameters.

/// The syntax of quotes, comments and parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementDialect {
    /// `'…'`, `"…"`, `--`, `/* */`, `$tag$…$tag$`, `:name`.
    Sql,
    /// `'…'`, `"…"` with backslashes, `` `…` ``, `//`, `/* */`, `$name`.
    Cypher,
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StatementPart {
    /// Text that is kept as it is.
    Text(String),
    /// A parameter, by its name.
    Param(String),
}

/// A statement, divided into text and parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatementTemplate {
    pub(crate) parts: Vec<StatementPart>,
    /// The words outside quotes and comments, in upper case.
    pub(crate) words: Vec<String>,
}

/// Why a statement cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StatementError {
    #[error("is blank")]
    Empty,
    #[error("contains several statements; expected one")]
    MultipleStatements,
    #[error("has a quote or a comment that does not end")]
    Unterminated,
    #[error("contains a NUL character")]
    NulCharacter,
    #[error("uses a parameter without a name (`?` or `$1`); expected `:name`")]
    UnnamedParam,
}

impl StatementTemplate {
    /// Parses exactly one statement.
    pub(crate) fn parse(text: &str, dialect: StatementDialect) -> Result<Self, StatementError> {
        if text.contains('\0') {
            return Err(StatementError::NulCharacter);
        }
        let mut scan = Self { parts: Vec::new(), words: Vec::new() };
        let mut plain = String::new();
        let mut ended = false;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = token_length(rest, first, dialect)?;
            let (token, behind) = rest.split_at(length);
            let blank = first.is_whitespace() || is_comment(token, dialect);
            if ended && !blank {
                return Err(StatementError::MultipleStatements);
            }
            if token == ";" {
                // A semicolon at the end is common; it is left out.
                ended = true;
            } else if let Some(name) = parse_param(token, dialect) {
                if name.is_empty() {
                    return Err(StatementError::UnnamedParam);
                }
                scan.parts.push(StatementPart::Text(std::mem::take(&mut plain)));
                scan.parts.push(StatementPart::Param(name.to_owned()));
            } else {
                if is_word_start(first) {
                    scan.words.push(token.to_uppercase());
                }
                plain.push_str(token);
            }
            rest = behind;
        }
        scan.parts.push(StatementPart::Text(plain));
        let empty = scan.words.is_empty();
        if empty { Err(StatementError::Empty) } else { Ok(scan) }
    }

    /// Returns the names of the parameters, each once, in order.
    pub(crate) fn param_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in &self.parts {
            if let StatementPart::Param(name) = part
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    /// Renders the statement; `param` returns the text of each parameter.
    pub(crate) fn render(&self, mut param: impl FnMut(&str) -> String) -> String {
        let parts = self.parts.iter().map(|part| match part {
            StatementPart::Text(text) => text.clone(),
            StatementPart::Param(name) => param(name),
        });
        parts.collect()
    }
}

fn is_word_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_name_char(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_comment(token: &str, dialect: StatementDialect) -> bool {
    token.starts_with("/*") || token.starts_with(line_comment_marker(dialect))
}

fn line_comment_marker(dialect: StatementDialect) -> &'static str {
    match dialect {
        StatementDialect::Sql => "--",
        StatementDialect::Cypher => "//",
    }
}

/// Returns the name of a parameter; empty if the parameter is unnamed.
fn parse_param(token: &str, dialect: StatementDialect) -> Option<&str> {
    match dialect {
        StatementDialect::Sql if token == "?" => Some(""),
        StatementDialect::Sql if token.starts_with('$') && !token[1..].contains('$') => Some(""),
        StatementDialect::Sql => {
            token.strip_prefix(':').filter(|name| name.starts_with(is_word_start))
        }
        StatementDialect::Cypher => token.strip_prefix('$').map(|name| name.trim_matches('`')),
    }
}

/// Returns the length of the token at the start of the text.
fn token_length(
    text: &str,
    first: char,
    dialect: StatementDialect,
) -> Result<usize, StatementError> {
    let until = |mark: &str, from: usize| {
        text[from..].find(mark).map(|at| from + at + mark.len()).ok_or(StatementError::Unterminated)
    };
    let name_end = |from: usize| {
        text[from..].find(|letter| !is_name_char(letter)).map_or(text.len(), |at| from + at)
    };
    if text.starts_with(line_comment_marker(dialect)) {
        return Ok(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return comment_length(text);
    }
    match (first, dialect) {
        ('\'' | '"' | '`', _) => quoted_length(text, first, dialect),
        // In an escape string of `PostgreSQL`, backslashes have a meaning.
        ('e' | 'E', StatementDialect::Sql) if text[1..].starts_with('\'') => {
            quoted_length(&text[1..], '\'', StatementDialect::Cypher).map(|length| length + 1)
        }
        ('$', StatementDialect::Sql) => {
            let tag = name_end(1);
            if text[tag..].starts_with('$') { until(&text[..=tag], tag + 1) } else { Ok(tag) }
        }
        ('$', StatementDialect::Cypher) if text[1..].starts_with('`') => {
            quoted_length(&text[1..], '`', dialect).map(|length| length + 1)
        }
        ('$', StatementDialect::Cypher) => Ok(name_end(1)),
        (':', StatementDialect::Sql) if text.starts_with("::") => Ok(2),
        (':', StatementDialect::Sql) => Ok(name_end(1)),
        _ if is_name_char(first) => Ok(name_end(0)),
        _ => Ok(first.len_utf8()),
    }
}

/// Returns the length of a quoted part: a doubled quote stands for itself, and in Cypher a
/// backslash escapes the next character.
fn quoted_length(
    text: &str,
    mark: char,
    dialect: StatementDialect,
) -> Result<usize, StatementError> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && dialect == StatementDialect::Cypher && mark != '`' {
            letters.next();
        } else if letter == mark {
            let doubled = letters.peek().is_some_and(|(_, next)| *next == mark);
            if doubled && (dialect == StatementDialect::Sql || mark == '`') {
                letters.next();
            } else {
                return Ok(at + 1);
            }
        }
    }
    Err(StatementError::Unterminated)
}

/// Returns the length of a block comment. `PostgreSQL` nests comments and `SQLite` does not, so a
/// comment on which they would disagree is refused.
fn comment_length(text: &str) -> Result<usize, StatementError> {
    let end = text[2..].find("*/").ok_or(StatementError::Unterminated)? + 2;
    if text[2..end].contains("/*") { Err(StatementError::Unterminated) } else { Ok(end + 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn params(text: &str, dialect: StatementDialect, expected: &[&str]) {
        assert_eq!(
            StatementTemplate::parse(text, dialect).unwrap().param_names(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn parameters_are_found_where_they_are_code() {
        params("SELECT :a, :b WHERE x = :a", StatementDialect::Sql, &["a", "b"]);
        params("SELECT ':a', \":b\", a::text, x -- :c\n/* :d */", StatementDialect::Sql, &[]);
        params("SELECT 'it''s :a' || :b", StatementDialect::Sql, &["b"]);
        params("SELECT $$ :a $$, $t$ :b $ $t$, :c::date", StatementDialect::Sql, &["c"]);
        params(r"SELECT E'\' :a' || :b", StatementDialect::Sql, &["b"]);
        params("SELECT a[1:2]", StatementDialect::Sql, &[]);
        params("SELECT :имя", StatementDialect::Sql, &["имя"]);
        params(
            "MATCH (p:Project {id: $id}) RETURN '$no', \"\\\"$no\", $`b`",
            StatementDialect::Cypher,
            &["id", "b"],
        );
        params("MATCH (`$no`) // $no\nRETURN $id", StatementDialect::Cypher, &["id"]);
    }

    #[test]
    fn what_is_more_than_one_statement_is_refused() {
        let refused =
            |text: &str| StatementTemplate::parse(text, StatementDialect::Sql).unwrap_err();
        assert_eq!(refused("SELECT 1; DROP TABLE a"), StatementError::MultipleStatements);
        assert_eq!(refused("SELECT 1;;"), StatementError::MultipleStatements);
        assert_eq!(refused(";"), StatementError::Empty);
        assert_eq!(refused("-- nothing\n"), StatementError::Empty);
        assert_eq!(refused("SELECT 'a"), StatementError::Unterminated);
        assert_eq!(refused("SELECT /* a /* b */ c */ 1"), StatementError::Unterminated);
        assert_eq!(refused("SELECT $a$ x"), StatementError::Unterminated);
        assert_eq!(refused("SELECT ?"), StatementError::UnnamedParam);
        assert_eq!(refused("SELECT $1"), StatementError::UnnamedParam);
        assert_eq!(refused("SELECT '\0'"), StatementError::NulCharacter);
        assert!(
            StatementTemplate::parse("SELECT ';' ; -- the end\n", StatementDialect::Sql).is_ok()
        );
    }

    #[test]
    fn a_statement_is_written_back() {
        let scan =
            StatementTemplate::parse("SELECT ':a', :a + :b;", StatementDialect::Sql).unwrap();
        assert_eq!(scan.render(|name| format!("<{name}>")), "SELECT ':a', <a> + <b>");
        assert_eq!(scan.words, ["SELECT"]);
    }
}
