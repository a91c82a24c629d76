//! Which tool calls and effects need the approval of a person before they are made.

use countersign_contract::expr::Expr;

use super::{ApprovalRules, DurationMillis, FileOrigin, TextTemplate};

/// The names that the expressions of a call approval may read.
pub const CALL_NAMES: [&str; 3] = ["state", "run", "call"];

/// One entry of `policy.approvals`: calls that match it need an approval, or need none.
#[derive(Debug)]
pub struct CallApproval {
    /// Names of calls, such as `write` or `github.*`; every call if empty.
    pub calls: Vec<CallPattern>,
    /// Whether a matching call needs the approval.
    pub when: CallApprovalCondition,
    /// Who may decide, and what a decision needs.
    pub rules: ApprovalRules,
    /// Time for the decision. After it the call counts as denied; no limit if absent.
    pub deadline: Option<DurationMillis>,
    /// The question to the person, over `state`, `run` and `call`; a standard question if absent.
    pub question: Option<TextTemplate>,
    /// Where the file defines the entry.
    pub origin: FileOrigin,
}

/// When a call that matches an entry needs its approval.
#[derive(Debug)]
pub enum CallApprovalCondition {
    /// The call always needs it.
    Always,
    /// The call needs none, and later entries are not considered.
    Never,
    /// The call needs it if the expression over `state`, `run` and `call` is true, or fails. If it
    /// is false, later entries are considered.
    If(Expr),
}

/// The name of a call, or the beginning of a name followed by `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPattern(String);

impl CallPattern {
    /// Parses a pattern. `Err` says what is wrong: blank text, or a `*` before the end.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let name = text.strip_suffix('*').unwrap_or(text);
        if name.contains('*') {
            return Err("has a `*` that is not at its end");
        }
        if text.is_empty() || text.chars().any(|one| one.is_whitespace() || one.is_control()) {
            return Err("is blank, or contains white space");
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether the pattern names this call.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.0,
        }
    }

    /// The pattern as the author wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CallApproval {
    /// Whether the entry is about calls of this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.calls.is_empty() || self.calls.iter().any(|pattern| pattern.matches(name))
    }
}

#[cfg(test)]
mod tests {
    use super::CallPattern;

    #[test]
    fn a_pattern_matches_a_name_or_a_beginning() {
        let matches =
            |pattern: &str, name: &str| CallPattern::parse(pattern).unwrap().matches(name);
        assert!(matches("write", "write") && !matches("write", "writes"));
        assert!(matches("git.*", "git.push") && !matches("git.*", "github.push"));
        assert!(matches("*", "http"));
        for wrong in ["", "a*b", "**", "a b", "a\n"] {
            assert!(CallPattern::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
