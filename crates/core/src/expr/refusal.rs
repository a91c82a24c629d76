//! What the parser says when it refuses: each message names what was found, each hint what to write.

use super::ast::Span;
use super::error::ExprError;
use super::parser::Parser;
use super::scope::list;
use super::token::{Punct, TokenKind};
use super::vocabulary::{Each, each_methods, members, methods};
use crate::nearest::nearest;

impl Parser<'_, '_> {
    #[expect(clippy::unused_self, reason = "every refusal is the parser's own")]
    pub(super) fn refuse(&self, span: Span, message: impl Into<String>) -> ExprError {
        ExprError { message: message.into(), span: span.range(), hint: None }
    }

    /// The next token is not what may stand here.
    pub(super) fn unexpected(&self, expected: &str) -> ExprError {
        let span = self.token.span;
        if self.is(Punct::Arrow) {
            return self.misplaced_arrow(span);
        }
        if self.is(Punct::Comma) {
            return self.refuse(span, "the comma operator may not stand in an expression");
        }
        let message = match self.found() {
            Some(found) => format!("expected {expected}, found `{found}`"),
            None => format!("expected {expected}, found the end of the expression"),
        };
        self.refuse(span, message)
    }

    fn found(&self) -> Option<&str> {
        if self.token.kind == TokenKind::End {
            return None;
        }
        self.lexer.source.get(self.token.span.range())
    }

    /// A value was wanted and something else stands there.
    pub(super) fn no_operand(&self) -> ExprError {
        let span = self.token.span;
        match self.token.kind {
            TokenKind::Punct(Punct::Slash) => {
                let mut error =
                    self.refuse(span, "a regular expression may not stand in an expression");
                error.hint =
                    Some("use `includes`, `startsWith`, `endsWith` or `Text.matches`".to_owned());
                error
            }
            TokenKind::Punct(Punct::Spread) => {
                self.refuse(span, "spread (`...`) may stand only in an array or an object literal")
            }
            _ => self.unexpected("a value"),
        }
    }

    pub(super) fn misplaced_arrow(&self, span: Span) -> ExprError {
        let mut error = self.refuse(
            span,
            "an arrow function may stand only as the first argument of a method that calls it",
        );
        error.hint = Some(format!("such methods are {}", list(&each_methods())));
        error
    }

    pub(super) fn bad_params(&self, span: Span) -> ExprError {
        let mut error = self.refuse(span, "these cannot be the parameters of an arrow function");
        error.hint = Some("write plain names, `[a, b]` or `{a, b}`".to_owned());
        error
    }

    pub(super) fn block_body(&self) -> ExprError {
        let mut error =
            self.refuse(self.token.span, "the body of an arrow function must be an expression");
        error.hint = Some(
            "write `t => t.done`, without braces; an object needs parentheses: `t => ({id: t.id})`"
                .to_owned(),
        );
        error
    }

    pub(super) fn no_callback(&self, each: Each, span: Span) -> ExprError {
        let name = each.name();
        let mut error = self.refuse(span, format!("`{name}` needs an arrow function"));
        error.hint = Some(if each == Each::ToSorted {
            format!("write `{name}((a, b) => …)` with a number below, at or above 0")
        } else {
            format!("write `{name}(t => …)`; `Boolean`, `Number` and `String` may also stand here")
        });
        error
    }

    pub(super) fn not_callable(&self, span: Span) -> ExprError {
        let mut error = self.refuse(span, "only known methods and functions can be called");
        error.hint = Some(format!("methods are {}", list(&methods())));
        error
    }

    pub(super) fn unknown_method(&self, name: &str, span: Span) -> ExprError {
        let mut error = self.refuse(span, format!("unknown method `{name}`"));
        let known = methods();
        error.hint = Some(match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("methods are {}", list(&known)),
        });
        error
    }

    pub(super) fn too_many(&self, name: &str, most: usize) -> ExprError {
        let plural = if most == 1 { "" } else { "s" };
        let message = format!("`{name}` takes at most {most} argument{plural}");
        self.refuse(self.token.span, message)
    }

    pub(super) fn too_few(&self, name: &str, needed: usize, span: Span) -> ExprError {
        let plural = if needed == 1 { "" } else { "s" };
        self.refuse(span, format!("`{name}` needs {needed} argument{plural}"))
    }

    /// The pattern of `Text.matches` is anything but a literal.
    pub(super) fn no_pattern(&self, span: Span) -> ExprError {
        let mut error = self.refuse(span, "the pattern must be a string written out here");
        error.hint =
            Some("a text that is only known later is looked for with `includes`".to_owned());
        error
    }

    /// `Math` or `Number` without a call.
    pub(super) fn bare_builtin(&self, name: &str, span: Span) -> ExprError {
        let mut error = self.refuse(span, format!("`{name}` is not a value"));
        error.hint = Some(match members(name)[..] {
            [] => format!("call it: `{name}(…)`"),
            [first, ..] => format!("call one of its functions, such as `{name}.{first}(…)`"),
        });
        error
    }

    /// A word that JavaScript keeps for what expressions do not have.
    pub(super) fn refused_word(&self, word: &str, span: Span) -> ExprError {
        let mut error = self.refuse(span, format!("`{word}` may not stand in an expression"));
        error.hint = match word {
            "function" => Some("write an arrow function: `t => t.done`".to_owned()),
            _ => None,
        };
        error
    }
}
