//! The parser's third part: array and object literals.

use std::sync::Arc;

use super::ast::{Entry, Item, Kind, Node, Span};
use super::number::to_js_string;
use super::parser::{Parsed, Parser};
use super::token::{Punct, TokenKind};
use super::vocabulary::is_reserved;

impl<'s> Parser<'s, '_> {
    /// `[a, ...b]`; the parser stands on the bracket.
    pub(super) fn array(&mut self, start: Span) -> Parsed<Node> {
        self.advance()?;
        let mut items = Vec::new();
        while !self.is(Punct::CloseBracket) {
            if self.is(Punct::Comma) {
                return Err(self.refuse(self.token.span, "an array may not have holes"));
            }
            items.push(if self.is(Punct::Spread) {
                Item::Spread(self.spread()?)
            } else {
                Item::One(self.expression()?)
            });
            if !self.is(Punct::CloseBracket) {
                self.expect(Punct::Comma, "`,` or `]`")?;
            }
        }
        let span = start.to(self.token.span);
        self.advance()?;
        let depth = items.iter().map(|item| item.node().depth).max().unwrap_or(0);
        self.node(Kind::Array(items), span, depth)
    }

    /// `{a: 1, b, [c]: 2, ...d}`; the parser stands on the brace.
    pub(super) fn object(&mut self, start: Span) -> Parsed<Node> {
        self.advance()?;
        let mut entries = Vec::new();
        while !self.is(Punct::CloseBrace) {
            entries.push(self.entry()?);
            if !self.is(Punct::CloseBrace) {
                self.expect(Punct::Comma, "`,` or `}`")?;
            }
        }
        let span = start.to(self.token.span);
        self.advance()?;
        let depth = entries.iter().flat_map(Entry::nodes).map(|node| node.depth).max().unwrap_or(0);
        self.node(Kind::Object(entries), span, depth)
    }

    fn spread(&mut self) -> Parsed<Node> {
        self.advance()?;
        self.expression()
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let span = self.token.span;
        if self.is(Punct::Spread) {
            return Ok(Entry::Spread(self.spread()?));
        }
        if self.is(Punct::OpenBracket) {
            self.advance()?;
            let key = self.expression()?;
            self.expect(Punct::CloseBracket, "`]`")?;
            self.no_function(span)?;
            self.expect(Punct::Colon, "`:`")?;
            return Ok(Entry::Computed(key, self.expression()?));
        }
        let name: Arc<str> = match std::mem::replace(&mut self.token.kind, TokenKind::End) {
            TokenKind::Name(name) => return self.named(name, span),
            TokenKind::Str(text) => text.into(),
            TokenKind::Num(number) => to_js_string(number).into(),
            other => {
                self.token.kind = other;
                return Err(self.unexpected("a field"));
            }
        };
        self.advance()?;
        self.field(name, span)
    }

    /// `name: value`, or `name` alone, which is the field and its value.
    fn named(&mut self, name: &'s str, span: Span) -> Parsed<Entry> {
        let before = self.lexer;
        self.advance()?;
        if !self.is(Punct::Comma) && !self.is(Punct::CloseBrace) {
            return self.field(name.into(), span);
        }
        // These read as names in JavaScript too; `true` and `null` do not.
        let stands_alone = matches!(name, "undefined" | "NaN" | "Infinity");
        if is_reserved(name) && !stands_alone {
            let mut error =
                self.refuse(span, format!("`{name}` cannot stand for a field and its value"));
            error.hint = Some(format!("write `{name}: …`"));
            return Err(error);
        }
        self.lexer = before;
        Ok(Entry::Named(name.into(), self.name(name, span)?))
    }

    /// The value of a field; the parser stands behind its name.
    fn field(&mut self, name: Arc<str>, span: Span) -> Parsed<Entry> {
        self.no_function(span)?;
        self.expect(Punct::Colon, "`:`")?;
        // In JavaScript this names no field but the prototype.
        if &*name == "__proto__" {
            let mut error = self.refuse(span, "`__proto__` may not stand in an expression");
            error.hint = Some("a field of that name is written `['__proto__']: …`".to_owned());
            return Err(error);
        }
        Ok(Entry::Named(name, self.expression()?))
    }

    /// `a() { … }`, `get a() { … }`, `async a() { … }`: JavaScript has them, we do not.
    fn no_function(&self, span: Span) -> Parsed<()> {
        if self.is(Punct::OpenParen) || matches!(self.token.kind, TokenKind::Name(_)) {
            let mut error = self.refuse(span, "a function may not stand in an expression");
            error.hint = Some("write `name: value`".to_owned());
            return Err(error);
        }
        Ok(())
    }
}
