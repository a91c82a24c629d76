//! Reads tokens into the resolved tree, by precedence climbing; calls and arrows are in `calls.rs`,
//! array and object literals in `compound.rs`.
//!
//! Nesting and the depth of the tree are bounded, so no input can exhaust the stack here or later.

use std::sync::Arc;

use super::ast::{BinaryOp, Kind, LogicalOp, Node, Span, UnaryOp};
use super::error::ExprError;
use super::lexer::{ChunkEnd, Lexer};
use super::scope::{Binding, Scope};
use super::token::{Punct, Token, TokenKind};
use super::vocabulary::{Convert, is_namespace, is_reserved};

/// How deep brackets, arguments, branches and prefix operators may stand in one another.
const MAX_NESTING: usize = 64;
/// How many operations may stand in one another, counting those of a long `a + b + c` too.
const MAX_DEPTH: u16 = 200;
/// The longest source, in bytes.
const MAX_SOURCE: usize = 64 * 1024;

pub(super) type Parsed<T> = Result<T, ExprError>;

/// A parser in the middle of its work: one token read, none consumed.
pub(super) struct Parser<'s, 'n> {
    pub(super) lexer: Lexer<'s>,
    pub(super) token: Token<'s>,
    pub(super) scope: Scope<'n>,
    nesting: usize,
}

/// A source read in full.
pub(super) struct Tree {
    pub(super) root: Node,
    /// How many local slots an evaluation needs.
    pub(super) locals: usize,
    /// For each root, whether it is read.
    pub(super) uses: Vec<bool>,
}

/// Parses a whole source.
pub(super) fn parse(source: &str, names: &[&str]) -> Parsed<Tree> {
    if source.len() > MAX_SOURCE {
        let message = format!("an expression may be at most {MAX_SOURCE} bytes long");
        return Err(ExprError { message, span: 0..source.len(), hint: None });
    }
    let mut lexer = Lexer::new(source);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, scope: Scope::new(names), nesting: 0 };
    if parser.token.kind == TokenKind::End {
        return Err(parser.refuse(parser.token.span, "the expression is empty"));
    }
    let root = parser.expression()?;
    if parser.token.kind != TokenKind::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(Tree { root, locals: parser.scope.slots(), uses: parser.scope.into_used() })
}

/// An infix operator and how tightly it binds.
enum Infix {
    Binary(BinaryOp),
    Logical(LogicalOp),
}

impl<'s> Parser<'s, '_> {
    pub(super) fn expression(&mut self) -> Parsed<Node> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            if !parser.is(Punct::Question) {
                return Ok(condition);
            }
            parser.advance()?;
            let then = parser.expression()?;
            parser.expect(Punct::Colon, "`:`")?;
            let otherwise = parser.expression()?;
            let span = condition.span.to(otherwise.span);
            let depth = condition.depth.max(then.depth).max(otherwise.depth);
            let kind = Kind::Conditional {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            parser.node(kind, span, depth)
        })
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Node> {
        let mut left = self.unary()?;
        while let Some((infix, strength)) = self.infix()? {
            if strength < weakest {
                break;
            }
            self.advance()?;
            let right = self.binary(strength + 1)?;
            let span = left.span.to(right.span);
            let depth = left.depth.max(right.depth);
            if let Infix::Logical(op) = infix {
                self.check_mix(op, &left, span)?;
                self.check_mix(op, &right, span)?;
            }
            let (left_box, right_box) = (Box::new(left), Box::new(right));
            let kind = match infix {
                Infix::Binary(op) => Kind::Binary { op, left: left_box, right: right_box },
                Infix::Logical(op) => Kind::Logical { op, left: left_box, right: right_box },
            };
            left = self.node(kind, span, depth)?;
        }
        Ok(left)
    }

    fn infix(&self) -> Parsed<Option<(Infix, u8)>> {
        let punct = match &self.token.kind {
            TokenKind::Name("in") => return Ok(Some((Infix::Binary(BinaryOp::In), 5))),
            TokenKind::Name("instanceof") => {
                let message = "`instanceof` may not stand in an expression";
                return Err(self.refuse(self.token.span, message));
            }
            TokenKind::Punct(punct) => *punct,
            _ => return Ok(None),
        };
        let infix = match punct {
            Punct::Coalesce => (Infix::Logical(LogicalOp::Coalesce), 1),
            Punct::Or => (Infix::Logical(LogicalOp::Or), 2),
            Punct::And => (Infix::Logical(LogicalOp::And), 3),
            Punct::Equal => (Infix::Binary(BinaryOp::Equal), 4),
            Punct::NotEqual => (Infix::Binary(BinaryOp::NotEqual), 4),
            Punct::StrictEqual => (Infix::Binary(BinaryOp::StrictEqual), 4),
            Punct::StrictNotEqual => (Infix::Binary(BinaryOp::StrictNotEqual), 4),
            Punct::Less => (Infix::Binary(BinaryOp::Less), 5),
            Punct::LessOrEqual => (Infix::Binary(BinaryOp::LessOrEqual), 5),
            Punct::Greater => (Infix::Binary(BinaryOp::Greater), 5),
            Punct::GreaterOrEqual => (Infix::Binary(BinaryOp::GreaterOrEqual), 5),
            Punct::Plus => (Infix::Binary(BinaryOp::Add), 6),
            Punct::Minus => (Infix::Binary(BinaryOp::Subtract), 6),
            Punct::Star => (Infix::Binary(BinaryOp::Multiply), 7),
            Punct::Slash => (Infix::Binary(BinaryOp::Divide), 7),
            Punct::Percent => (Infix::Binary(BinaryOp::Remainder), 7),
            _ => return Ok(None),
        };
        Ok(Some(infix))
    }

    /// JavaScript asks for parentheses where `??` meets `||` or `&&`.
    fn check_mix(&self, op: LogicalOp, operand: &Node, span: Span) -> Parsed<()> {
        let Kind::Logical { op: inner, .. } = operand.kind else { return Ok(()) };
        let mixes = (op == LogicalOp::Coalesce) != (inner == LogicalOp::Coalesce);
        if mixes && !operand.parenthesized {
            let mut error = self.refuse(span, "`??` beside `||` or `&&` needs parentheses");
            error.hint = Some("write `(a ?? b) || c` or `a ?? (b || c)`".to_owned());
            return Err(error);
        }
        Ok(())
    }

    fn unary(&mut self) -> Parsed<Node> {
        let op = match self.token.kind {
            TokenKind::Punct(Punct::Not) => UnaryOp::Not,
            TokenKind::Punct(Punct::Plus) => UnaryOp::Plus,
            TokenKind::Punct(Punct::Minus) => UnaryOp::Minus,
            TokenKind::Name("typeof") => UnaryOp::TypeOf,
            _ => return self.postfix(),
        };
        let start = self.token.span;
        self.advance()?;
        let operand = self.deeper(Self::unary)?;
        let (span, depth) = (start.to(operand.span), operand.depth);
        if let (UnaryOp::Minus, Kind::Num(number)) = (op, &operand.kind) {
            return self.node(Kind::Num(-number), span, 0);
        }
        self.node(Kind::Unary { op, operand: Box::new(operand) }, span, depth)
    }

    fn postfix(&mut self) -> Parsed<Node> {
        let mut node = self.primary()?;
        let mut chained = false;
        loop {
            let optional = self.is(Punct::OptionalDot);
            match &self.token.kind {
                TokenKind::Punct(Punct::Dot | Punct::OptionalDot) => {
                    self.advance()?;
                    chained |= optional;
                    node = match self.token.kind {
                        TokenKind::Name(name) => self.member(node, name, optional)?,
                        TokenKind::Punct(Punct::OpenBracket) if optional => {
                            self.index(node, optional)?
                        }
                        TokenKind::Punct(Punct::OpenParen) if optional => {
                            let message = "an optional call (`?.(`) may not stand in an expression";
                            return Err(self.refuse(self.token.span, message));
                        }
                        _ => return Err(self.unexpected("a field name")),
                    };
                }
                TokenKind::Punct(Punct::OpenBracket) => node = self.index(node, false)?,
                TokenKind::Punct(Punct::OpenParen) => return Err(self.not_callable(node.span)),
                TokenKind::Template => {
                    let message = "a tagged template may not stand in an expression";
                    return Err(self.refuse(self.token.span, message));
                }
                _ => break,
            }
        }
        if chained {
            let (span, depth) = (node.span, node.depth);
            return self.node(Kind::Chain(Box::new(node)), span, depth);
        }
        Ok(node)
    }

    fn index(&mut self, object: Node, optional: bool) -> Parsed<Node> {
        self.advance()?;
        let key = self.expression()?;
        let end = self.token.span;
        self.expect(Punct::CloseBracket, "`]`")?;
        let (span, depth) = (object.span.to(end), object.depth.max(key.depth));
        let kind = Kind::Index { object: Box::new(object), key: Box::new(key), optional };
        self.node(kind, span, depth)
    }

    fn primary(&mut self) -> Parsed<Node> {
        let span = self.token.span;
        let kind = match std::mem::replace(&mut self.token.kind, TokenKind::End) {
            TokenKind::Num(number) => Kind::Num(number),
            TokenKind::Str(text) => Kind::Str(Arc::from(text)),
            TokenKind::Template => return self.template(span),
            TokenKind::Name(name) => return self.name(name, span),
            TokenKind::Punct(Punct::OpenParen) => return self.parenthesized(span),
            TokenKind::Punct(Punct::OpenBracket) => return self.array(span),
            TokenKind::Punct(Punct::OpenBrace) => return self.object(span),
            other => {
                self.token.kind = other;
                return Err(self.no_operand());
            }
        };
        self.advance()?;
        self.node(kind, span, 0)
    }

    fn parenthesized(&mut self, start: Span) -> Parsed<Node> {
        self.advance()?;
        if self.is(Punct::CloseParen) {
            return Err(self.misplaced_arrow(start));
        }
        let mut node = self.expression()?;
        let end = self.token.span;
        self.expect(Punct::CloseParen, "`)`")?;
        if self.is(Punct::Arrow) {
            return Err(self.misplaced_arrow(start));
        }
        node.parenthesized = true;
        node.span = start.to(end);
        Ok(node)
    }

    fn template(&mut self, start: Span) -> Parsed<Node> {
        let mut chunks = Vec::new();
        let mut parts: Vec<Node> = Vec::new();
        loop {
            let (chunk, end) = self.lexer.chunk(start.range().start)?;
            chunks.push(chunk.into_boxed_str());
            if end == ChunkEnd::Template {
                break;
            }
            self.advance()?;
            parts.push(self.expression()?);
            if !self.is(Punct::CloseBrace) {
                return Err(self.unexpected("`}`"));
            }
            // The lexer stands right behind the brace, where the text goes on.
        }
        let span = Span::new(start.range().start, self.lexer.at);
        self.advance()?;
        let depth = parts.iter().map(|part| part.depth).max().unwrap_or(0);
        self.node(Kind::Template { chunks, parts }, span, depth)
    }

    pub(super) fn name(&mut self, name: &'s str, span: Span) -> Parsed<Node> {
        self.advance()?;
        let kind = match (self.scope.find(name), name) {
            (Some(_), "new") if matches!(self.token.kind, TokenKind::Name(word) if word != "in") => {
                return Err(self.refused_word(name, span));
            }
            (Some(Binding::Local(slot)), _) => Kind::Local(slot),
            (Some(Binding::Root(slot)), _) => {
                self.scope.mark(slot);
                Kind::Root(slot)
            }
            (None, "true") => Kind::Bool(true),
            (None, "false") => Kind::Bool(false),
            (None, "null") => Kind::Null,
            (None, "undefined") => Kind::Undefined,
            (None, "NaN") => Kind::Num(f64::NAN),
            (None, "Infinity") => Kind::Num(f64::INFINITY),
            _ if self.is(Punct::Arrow) => return Err(self.misplaced_arrow(span)),
            _ if is_reserved(name) => return Err(self.refused_word(name, span)),
            _ if is_namespace(name) || Convert::named(name).is_some() => {
                return self.builtin(name, span);
            }
            _ => {
                let mut error = self.refuse(span, format!("unknown name `{name}`"));
                error.hint = Some(self.scope.hint(name));
                return Err(error);
            }
        };
        if self.is(Punct::Arrow) {
            return Err(self.misplaced_arrow(span));
        }
        self.node(kind, span, 0)
    }

    /// Makes a node one deeper than its deepest part.
    pub(super) fn node(&self, kind: Kind, span: Span, depth: u16) -> Parsed<Node> {
        if depth >= MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} operations stand in one another");
            return Err(self.refuse(span, message));
        }
        Ok(Node { kind, span, depth: depth + 1, parenthesized: false })
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<Node>) -> Parsed<Node> {
        if self.nesting >= MAX_NESTING {
            let message = format!("the expression is nested more than {MAX_NESTING} deep");
            return Err(self.refuse(self.token.span, message));
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }

    pub(super) fn advance(&mut self) -> Parsed<()> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    pub(super) fn is(&self, punct: Punct) -> bool {
        self.token.kind == TokenKind::Punct(punct)
    }

    pub(super) fn expect(&mut self, punct: Punct, expected: &str) -> Parsed<()> {
        if !self.is(punct) {
            return Err(self.unexpected(expected));
        }
        self.advance()
    }
}
