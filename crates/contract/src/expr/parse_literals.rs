//! Parses array and object literals.

use std::sync::Arc;

use super::ast::{ArrayLiteralItem, ExprKind, ExprNode, ExprSpan, ObjectLiteralEntry};
use super::js_number::to_js_string;
use super::parser::{ExprParseResult, ExprParser};
use super::token::{ExprPunct, ExprTokenKind};
use super::vocabulary::is_reserved;

impl<'s> ExprParser<'s, '_> {
    /// Parses `[a, ...b]`; the parser is at the bracket.
    pub(super) fn parse_array(&mut self, start: ExprSpan) -> ExprParseResult<ExprNode> {
        self.advance()?;
        let mut items = Vec::new();
        while !self.is_at(ExprPunct::CloseBracket) {
            if self.is_at(ExprPunct::Comma) {
                return Err(self.error_at(self.token.span, "an array must not have holes"));
            }
            items.push(if self.is_at(ExprPunct::Spread) {
                ArrayLiteralItem::Spread(self.parse_spread()?)
            } else {
                ArrayLiteralItem::Element(self.parse_expression()?)
            });
            if !self.is_at(ExprPunct::CloseBracket) {
                self.expect(ExprPunct::Comma, "`,` or `]`")?;
            }
        }
        let span = start.join(self.token.span);
        self.advance()?;
        let depth = items.iter().map(|item| item.node().depth).max().unwrap_or(0);
        self.build_node(ExprKind::Array(items), span, depth)
    }

    /// Parses `{a: 1, b, [c]: 2, ...d}`; the parser is at the brace.
    pub(super) fn parse_object(&mut self, start: ExprSpan) -> ExprParseResult<ExprNode> {
        self.advance()?;
        let mut entries = Vec::new();
        while !self.is_at(ExprPunct::CloseBrace) {
            entries.push(self.parse_entry()?);
            if !self.is_at(ExprPunct::CloseBrace) {
                self.expect(ExprPunct::Comma, "`,` or `}`")?;
            }
        }
        let span = start.join(self.token.span);
        self.advance()?;
        let depth = entries
            .iter()
            .flat_map(ObjectLiteralEntry::nodes)
            .map(|node| node.depth)
            .max()
            .unwrap_or(0);
        self.build_node(ExprKind::Object(entries), span, depth)
    }

    fn parse_spread(&mut self) -> ExprParseResult<ExprNode> {
        self.advance()?;
        self.parse_expression()
    }

    fn parse_entry(&mut self) -> ExprParseResult<ObjectLiteralEntry> {
        let span = self.token.span;
        if self.is_at(ExprPunct::Spread) {
            return Ok(ObjectLiteralEntry::Spread(self.parse_spread()?));
        }
        if self.is_at(ExprPunct::OpenBracket) {
            self.advance()?;
            let key = self.parse_expression()?;
            self.expect(ExprPunct::CloseBracket, "`]`")?;
            self.reject_function(span)?;
            self.expect(ExprPunct::Colon, "`:`")?;
            return Ok(ObjectLiteralEntry::Computed(key, self.parse_expression()?));
        }
        let name: Arc<str> = match std::mem::replace(&mut self.token.kind, ExprTokenKind::End) {
            ExprTokenKind::Name(name) => return self.parse_named_entry(name, span),
            ExprTokenKind::Str(text) => text.into(),
            ExprTokenKind::Num(number) => to_js_string(number).into(),
            other => {
                self.token.kind = other;
                return Err(self.unexpected_token_error("a field"));
            }
        };
        self.advance()?;
        self.parse_entry_value(name, span)
    }

    /// Parses `name: value`, or `name` alone, which is both the field name and its value.
    fn parse_named_entry(
        &mut self,
        name: &'s str,
        span: ExprSpan,
    ) -> ExprParseResult<ObjectLiteralEntry> {
        let before = self.lexer;
        self.advance()?;
        if !self.is_at(ExprPunct::Comma) && !self.is_at(ExprPunct::CloseBrace) {
            return self.parse_entry_value(name.into(), span);
        }
        // These are also identifiers in JavaScript; `true` and `null` are not.
        let stands_alone = matches!(name, "undefined" | "NaN" | "Infinity");
        if is_reserved(name) && !stands_alone {
            let mut error = self.error_at(span, format!("`{name}` cannot be a shorthand field"));
            error.hint = Some(format!("write `{name}: …`"));
            return Err(error);
        }
        self.lexer = before;
        Ok(ObjectLiteralEntry::Named(name.into(), self.parse_name(name, span)?))
    }

    /// Parses the value of a field; the parser is after its name.
    fn parse_entry_value(
        &mut self,
        name: Arc<str>,
        span: ExprSpan,
    ) -> ExprParseResult<ObjectLiteralEntry> {
        self.reject_function(span)?;
        self.expect(ExprPunct::Colon, "`:`")?;
        // In JavaScript this sets the prototype, not a field.
        if &*name == "__proto__" {
            let mut error = self.error_at(span, "`__proto__` is not allowed in an expression");
            error.hint = Some("write a field of that name as `['__proto__']: …`".to_owned());
            return Err(error);
        }
        Ok(ObjectLiteralEntry::Named(name, self.parse_expression()?))
    }

    /// Refuses `a() { … }`, `get a() { … }` and `async a() { … }`, which expressions do not
    /// support.
    fn reject_function(&self, span: ExprSpan) -> ExprParseResult<()> {
        if self.is_at(ExprPunct::OpenParen) || matches!(self.token.kind, ExprTokenKind::Name(_)) {
            let mut error = self.error_at(span, "a function is not allowed in an expression");
            error.hint = Some("write `name: value`".to_owned());
            return Err(error);
        }
        Ok(())
    }
}
