//! Error messages of the parser: each message names what was found, each hint what to write.

use super::ast::ExprSpan;
use super::expr_error::ExprError;
use super::expr_scope::quote_names;
use super::parser::ExprParser;
use super::token::{ExprPunct, ExprTokenKind};
use super::vocabulary::{CallbackMethod, list_callback_methods, list_members, list_methods};
use crate::similar_name::find_similar_name;

impl ExprParser<'_, '_> {
    #[expect(clippy::unused_self, reason = "every refusal is the parser's own")]
    pub(super) fn error_at(&self, span: ExprSpan, message: impl Into<String>) -> ExprError {
        ExprError { message: message.into(), span: span.range(), hint: None }
    }

    /// The next token is not allowed here.
    pub(super) fn unexpected_token_error(&self, expected: &str) -> ExprError {
        let span = self.token.span;
        if self.is_at(ExprPunct::Arrow) {
            return self.misplaced_arrow_error(span);
        }
        if self.is_at(ExprPunct::Comma) {
            return self.error_at(span, "the comma operator is not allowed in an expression");
        }
        let message = match self.token_text() {
            Some(found) => format!("expected {expected}, found `{found}`"),
            None => format!("expected {expected}, found the end of the expression"),
        };
        self.error_at(span, message)
    }

    fn token_text(&self) -> Option<&str> {
        if self.token.kind == ExprTokenKind::End {
            return None;
        }
        self.lexer.source.get(self.token.span.range())
    }

    /// An operand was expected, but another token follows.
    pub(super) fn missing_operand_error(&self) -> ExprError {
        let span = self.token.span;
        match self.token.kind {
            ExprTokenKind::Punct(ExprPunct::Slash) => {
                let mut error =
                    self.error_at(span, "a regular expression is not allowed in an expression");
                error.hint =
                    Some("use `includes`, `startsWith`, `endsWith` or `Text.matches`".to_owned());
                error
            }
            ExprTokenKind::Punct(ExprPunct::Spread) => self
                .error_at(span, "spread (`...`) is allowed only in an array or an object literal"),
            _ => self.unexpected_token_error("a value"),
        }
    }

    pub(super) fn misplaced_arrow_error(&self, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(
            span,
            "an arrow function is allowed only as the first argument of a method that calls it",
        );
        error.hint = Some(format!("such methods: {}", quote_names(&list_callback_methods())));
        error
    }

    pub(super) fn invalid_params_error(&self, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(span, "these cannot be the parameters of an arrow function");
        error.hint = Some("write plain names, `[a, b]` or `{a, b}`".to_owned());
        error
    }

    pub(super) fn block_body_error(&self) -> ExprError {
        let mut error =
            self.error_at(self.token.span, "the body of an arrow function must be an expression");
        error.hint = Some(
            "write `t => t.done`, without braces; an object needs parentheses: `t => ({id: t.id})`"
                .to_owned(),
        );
        error
    }

    pub(super) fn missing_callback_error(&self, each: CallbackMethod, span: ExprSpan) -> ExprError {
        let name = each.name();
        let mut error = self.error_at(span, format!("`{name}` needs an arrow function"));
        error.hint = Some(if each == CallbackMethod::ToSorted {
            format!("write `{name}((a, b) => …)`, returning a number below, equal to or above 0")
        } else {
            format!(
                "write `{name}(t => …)`; `Boolean`, `Number` and `String` are also allowed here"
            )
        });
        error
    }

    pub(super) fn not_callable_error(&self, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(span, "only known methods and functions can be called");
        error.hint = Some(format!("methods: {}", quote_names(&list_methods())));
        error
    }

    pub(super) fn unknown_method_error(&self, name: &str, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(span, format!("unknown method `{name}`"));
        let known = list_methods();
        error.hint = Some(match find_similar_name(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("methods: {}", quote_names(&known)),
        });
        error
    }

    pub(super) fn too_many_arguments_error(&self, name: &str, most: usize) -> ExprError {
        let plural = if most == 1 { "" } else { "s" };
        let message = format!("`{name}` takes at most {most} argument{plural}");
        self.error_at(self.token.span, message)
    }

    pub(super) fn too_few_arguments_error(
        &self,
        name: &str,
        needed: usize,
        span: ExprSpan,
    ) -> ExprError {
        let plural = if needed == 1 { "" } else { "s" };
        self.error_at(span, format!("`{name}` needs {needed} argument{plural}"))
    }

    /// The pattern of `Text.matches` is not a literal.
    pub(super) fn pattern_not_literal_error(&self, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(span, "the pattern must be a string literal");
        error.hint = Some("to search for a computed text, use `includes`".to_owned());
        error
    }

    /// `Math` or `Number` is used without a call.
    pub(super) fn uncalled_builtin_error(&self, name: &str, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(span, format!("`{name}` is not a value"));
        error.hint = Some(match list_members(name)[..] {
            [] => format!("call it: `{name}(…)`"),
            [first, ..] => format!("call one of its functions, such as `{name}.{first}(…)`"),
        });
        error
    }

    /// The word is reserved in JavaScript for a feature that expressions do not support.
    pub(super) fn reserved_word_error(&self, word: &str, span: ExprSpan) -> ExprError {
        let mut error = self.error_at(span, format!("`{word}` is not allowed in an expression"));
        error.hint = match word {
            "function" => Some("write an arrow function: `t => t.done`".to_owned()),
            _ => None,
        };
        error
    }
}
