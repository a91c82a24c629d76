//! Parses tokens into the resolved tree by precedence climbing. Calls and arrow functions are in
//! `parse_calls.rs`, array and object literals in `parse_literals.rs`.
//!
//! Nesting and tree depth are bounded, so that no input can exhaust the stack here or later.

use std::sync::Arc;

use super::ast::{BinaryOp, ExprKind, ExprNode, ExprSpan, LogicalOp, UnaryOp};
use super::expr_error::ExprError;
use super::expr_scope::{ExprScope, NameBinding};
use super::lexer::{ExprLexer, TemplateChunkEnd};
use super::token::{ExprPunct, ExprToken, ExprTokenKind};
use super::vocabulary::{ConversionFunction, is_namespace, is_reserved};

/// Maximum nesting of brackets, arguments, branches and prefix operators.
const MAX_NESTING: usize = 64;
/// Maximum depth of the tree; each operation of a long `a + b + c` counts.
const MAX_DEPTH: u16 = 200;
/// Maximum length of a source, in bytes.
const MAX_SOURCE_BYTES: usize = 64 * 1024;

pub(super) type ExprParseResult<T> = Result<T, ExprError>;

/// Parser state: one token is read and not yet consumed.
pub(super) struct ExprParser<'s, 'n> {
    pub(super) lexer: ExprLexer<'s>,
    pub(super) token: ExprToken<'s>,
    pub(super) scope: ExprScope<'n>,
    nesting: usize,
}

/// Result of parsing a whole source.
pub(super) struct ParsedExpr {
    pub(super) root: ExprNode,
    /// Number of local slots that an evaluation needs.
    pub(super) local_slots: usize,
    /// For each root, whether the expression reads it.
    pub(super) used_roots: Vec<bool>,
}

/// Parses a whole source; `names` are the root variables in slot order.
pub(super) fn parse_expr(source: &str, names: &[&str]) -> ExprParseResult<ParsedExpr> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("an expression may be at most {MAX_SOURCE_BYTES} bytes long");
        return Err(ExprError { message, span: 0..source.len(), hint: None });
    }
    let mut lexer = ExprLexer::new(source);
    let token = lexer.next_token()?;
    let mut parser = ExprParser { lexer, token, scope: ExprScope::new(names), nesting: 0 };
    if parser.token.kind == ExprTokenKind::End {
        return Err(parser.error_at(parser.token.span, "the expression is empty"));
    }
    let root = parser.parse_expression()?;
    if parser.token.kind != ExprTokenKind::End {
        return Err(parser.unexpected_token_error("an operator or the end"));
    }
    Ok(ParsedExpr {
        root,
        local_slots: parser.scope.slot_count(),
        used_roots: parser.scope.into_used_roots(),
    })
}

/// Infix operator and its binding power.
enum InfixOp {
    Binary(BinaryOp),
    Logical(LogicalOp),
}

impl<'s> ExprParser<'s, '_> {
    pub(super) fn parse_expression(&mut self) -> ExprParseResult<ExprNode> {
        self.parse_nested(|parser| {
            let condition = parser.parse_binary(0)?;
            if !parser.is_at(ExprPunct::Question) {
                return Ok(condition);
            }
            parser.advance()?;
            let then = parser.parse_expression()?;
            parser.expect(ExprPunct::Colon, "`:`")?;
            let otherwise = parser.parse_expression()?;
            let span = condition.span.join(otherwise.span);
            let depth = condition.depth.max(then.depth).max(otherwise.depth);
            let kind = ExprKind::Conditional {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            parser.build_node(kind, span, depth)
        })
    }

    fn parse_binary(&mut self, weakest: u8) -> ExprParseResult<ExprNode> {
        let mut left = self.parse_unary()?;
        while let Some((infix, strength)) = self.peek_infix()? {
            if strength < weakest {
                break;
            }
            self.advance()?;
            let right = self.parse_binary(strength + 1)?;
            let span = left.span.join(right.span);
            let depth = left.depth.max(right.depth);
            if let InfixOp::Logical(op) = infix {
                self.check_mixed_logical(op, &left, span)?;
                self.check_mixed_logical(op, &right, span)?;
            }
            let (left_box, right_box) = (Box::new(left), Box::new(right));
            let kind = match infix {
                InfixOp::Binary(op) => ExprKind::Binary { op, left: left_box, right: right_box },
                InfixOp::Logical(op) => ExprKind::Logical { op, left: left_box, right: right_box },
            };
            left = self.build_node(kind, span, depth)?;
        }
        Ok(left)
    }

    fn peek_infix(&self) -> ExprParseResult<Option<(InfixOp, u8)>> {
        let punct = match &self.token.kind {
            ExprTokenKind::Name("in") => return Ok(Some((InfixOp::Binary(BinaryOp::In), 5))),
            ExprTokenKind::Name("instanceof") => {
                let message = "`instanceof` is not allowed in an expression";
                return Err(self.error_at(self.token.span, message));
            }
            ExprTokenKind::Punct(punct) => *punct,
            _ => return Ok(None),
        };
        let infix = match punct {
            ExprPunct::Coalesce => (InfixOp::Logical(LogicalOp::Coalesce), 1),
            ExprPunct::Or => (InfixOp::Logical(LogicalOp::Or), 2),
            ExprPunct::And => (InfixOp::Logical(LogicalOp::And), 3),
            ExprPunct::Equal => (InfixOp::Binary(BinaryOp::Equal), 4),
            ExprPunct::NotEqual => (InfixOp::Binary(BinaryOp::NotEqual), 4),
            ExprPunct::StrictEqual => (InfixOp::Binary(BinaryOp::StrictEqual), 4),
            ExprPunct::StrictNotEqual => (InfixOp::Binary(BinaryOp::StrictNotEqual), 4),
            ExprPunct::Less => (InfixOp::Binary(BinaryOp::Less), 5),
            ExprPunct::LessOrEqual => (InfixOp::Binary(BinaryOp::LessOrEqual), 5),
            ExprPunct::Greater => (InfixOp::Binary(BinaryOp::Greater), 5),
            ExprPunct::GreaterOrEqual => (InfixOp::Binary(BinaryOp::GreaterOrEqual), 5),
            ExprPunct::Plus => (InfixOp::Binary(BinaryOp::Add), 6),
            ExprPunct::Minus => (InfixOp::Binary(BinaryOp::Subtract), 6),
            ExprPunct::Star => (InfixOp::Binary(BinaryOp::Multiply), 7),
            ExprPunct::Slash => (InfixOp::Binary(BinaryOp::Divide), 7),
            ExprPunct::Percent => (InfixOp::Binary(BinaryOp::Remainder), 7),
            _ => return Ok(None),
        };
        Ok(Some(infix))
    }

    /// JavaScript requires parentheses to mix `??` with `||` or `&&`.
    fn check_mixed_logical(
        &self,
        op: LogicalOp,
        operand: &ExprNode,
        span: ExprSpan,
    ) -> ExprParseResult<()> {
        let ExprKind::Logical { op: inner, .. } = operand.kind else { return Ok(()) };
        let mixes = (op == LogicalOp::Coalesce) != (inner == LogicalOp::Coalesce);
        if mixes && !operand.parenthesized {
            let mut error =
                self.error_at(span, "`??` combined with `||` or `&&` needs parentheses");
            error.hint = Some("write `(a ?? b) || c` or `a ?? (b || c)`".to_owned());
            return Err(error);
        }
        Ok(())
    }

    fn parse_unary(&mut self) -> ExprParseResult<ExprNode> {
        let op = match self.token.kind {
            ExprTokenKind::Punct(ExprPunct::Not) => UnaryOp::Not,
            ExprTokenKind::Punct(ExprPunct::Plus) => UnaryOp::Plus,
            ExprTokenKind::Punct(ExprPunct::Minus) => UnaryOp::Minus,
            ExprTokenKind::Name("typeof") => UnaryOp::TypeOf,
            _ => return self.parse_postfix(),
        };
        let start = self.token.span;
        self.advance()?;
        let operand = self.parse_nested(Self::parse_unary)?;
        let (span, depth) = (start.join(operand.span), operand.depth);
        if let (UnaryOp::Minus, ExprKind::Num(number)) = (op, &operand.kind) {
            return self.build_node(ExprKind::Num(-number), span, 0);
        }
        self.build_node(ExprKind::Unary { op, operand: Box::new(operand) }, span, depth)
    }

    fn parse_postfix(&mut self) -> ExprParseResult<ExprNode> {
        let mut node = self.parse_primary()?;
        let mut chained = false;
        loop {
            let optional = self.is_at(ExprPunct::OptionalDot);
            match &self.token.kind {
                ExprTokenKind::Punct(ExprPunct::Dot | ExprPunct::OptionalDot) => {
                    self.advance()?;
                    chained |= optional;
                    node = match self.token.kind {
                        ExprTokenKind::Name(name) => self.parse_member(node, name, optional)?,
                        ExprTokenKind::Punct(ExprPunct::OpenBracket) if optional => {
                            self.parse_index(node, optional)?
                        }
                        ExprTokenKind::Punct(ExprPunct::OpenParen) if optional => {
                            let message =
                                "an optional call (`?.(`) is not allowed in an expression";
                            return Err(self.error_at(self.token.span, message));
                        }
                        _ => return Err(self.unexpected_token_error("a field name")),
                    };
                }
                ExprTokenKind::Punct(ExprPunct::OpenBracket) => {
                    node = self.parse_index(node, false)?;
                }
                ExprTokenKind::Punct(ExprPunct::OpenParen) => {
                    return Err(self.not_callable_error(node.span));
                }
                ExprTokenKind::Template => {
                    let message = "a tagged template is not allowed in an expression";
                    return Err(self.error_at(self.token.span, message));
                }
                _ => break,
            }
        }
        if chained {
            let (span, depth) = (node.span, node.depth);
            return self.build_node(ExprKind::Chain(Box::new(node)), span, depth);
        }
        Ok(node)
    }

    fn parse_index(&mut self, object: ExprNode, optional: bool) -> ExprParseResult<ExprNode> {
        self.advance()?;
        let key = self.parse_expression()?;
        let end = self.token.span;
        self.expect(ExprPunct::CloseBracket, "`]`")?;
        let (span, depth) = (object.span.join(end), object.depth.max(key.depth));
        let kind = ExprKind::Index { object: Box::new(object), key: Box::new(key), optional };
        self.build_node(kind, span, depth)
    }

    fn parse_primary(&mut self) -> ExprParseResult<ExprNode> {
        let span = self.token.span;
        let kind = match std::mem::replace(&mut self.token.kind, ExprTokenKind::End) {
            ExprTokenKind::Num(number) => ExprKind::Num(number),
            ExprTokenKind::Str(text) => ExprKind::Str(Arc::from(text)),
            ExprTokenKind::Template => return self.parse_template(span),
            ExprTokenKind::Name(name) => return self.parse_name(name, span),
            ExprTokenKind::Punct(ExprPunct::OpenParen) => return self.parse_parenthesized(span),
            ExprTokenKind::Punct(ExprPunct::OpenBracket) => return self.parse_array(span),
            ExprTokenKind::Punct(ExprPunct::OpenBrace) => return self.parse_object(span),
            other => {
                self.token.kind = other;
                return Err(self.missing_operand_error());
            }
        };
        self.advance()?;
        self.build_node(kind, span, 0)
    }

    fn parse_parenthesized(&mut self, start: ExprSpan) -> ExprParseResult<ExprNode> {
        self.advance()?;
        if self.is_at(ExprPunct::CloseParen) {
            return Err(self.misplaced_arrow_error(start));
        }
        let mut node = self.parse_expression()?;
        let end = self.token.span;
        self.expect(ExprPunct::CloseParen, "`)`")?;
        if self.is_at(ExprPunct::Arrow) {
            return Err(self.misplaced_arrow_error(start));
        }
        node.parenthesized = true;
        node.span = start.join(end);
        Ok(node)
    }

    fn parse_template(&mut self, start: ExprSpan) -> ExprParseResult<ExprNode> {
        let mut chunks = Vec::new();
        let mut parts: Vec<ExprNode> = Vec::new();
        loop {
            let (chunk, end) = self.lexer.lex_template_chunk(start.range().start)?;
            chunks.push(chunk.into_boxed_str());
            if end == TemplateChunkEnd::Template {
                break;
            }
            self.advance()?;
            parts.push(self.parse_expression()?);
            if !self.is_at(ExprPunct::CloseBrace) {
                return Err(self.unexpected_token_error("`}`"));
            }
            // The lexer is directly after the brace, where the template text continues.
        }
        let span = ExprSpan::new(start.range().start, self.lexer.position);
        self.advance()?;
        let depth = parts.iter().map(|part| part.depth).max().unwrap_or(0);
        self.build_node(ExprKind::Template { chunks, parts }, span, depth)
    }

    pub(super) fn parse_name(
        &mut self,
        name: &'s str,
        span: ExprSpan,
    ) -> ExprParseResult<ExprNode> {
        self.advance()?;
        let kind = match (self.scope.resolve_name(name), name) {
            (Some(_), "new") if matches!(self.token.kind, ExprTokenKind::Name(word) if word != "in") =>
            {
                return Err(self.reserved_word_error(name, span));
            }
            (Some(NameBinding::Local(slot)), _) => ExprKind::Local(slot),
            (Some(NameBinding::Root(slot)), _) => {
                self.scope.mark_root_used(slot);
                ExprKind::Root(slot)
            }
            (None, "true") => ExprKind::Bool(true),
            (None, "false") => ExprKind::Bool(false),
            (None, "null") => ExprKind::Null,
            (None, "undefined") => ExprKind::Undefined,
            (None, "NaN") => ExprKind::Num(f64::NAN),
            (None, "Infinity") => ExprKind::Num(f64::INFINITY),
            _ if self.is_at(ExprPunct::Arrow) => return Err(self.misplaced_arrow_error(span)),
            _ if is_reserved(name) => return Err(self.reserved_word_error(name, span)),
            _ if is_namespace(name) || ConversionFunction::from_name(name).is_some() => {
                return self.parse_builtin(name, span);
            }
            _ => {
                let mut error = self.error_at(span, format!("unknown name `{name}`"));
                error.hint = Some(self.scope.suggest_name(name));
                return Err(error);
            }
        };
        if self.is_at(ExprPunct::Arrow) {
            return Err(self.misplaced_arrow_error(span));
        }
        self.build_node(kind, span, 0)
    }

    /// Creates a node that is one level deeper than its deepest part.
    pub(super) fn build_node(
        &self,
        kind: ExprKind,
        span: ExprSpan,
        depth: u16,
    ) -> ExprParseResult<ExprNode> {
        if depth >= MAX_DEPTH {
            let message = format!("operations are nested more than {MAX_DEPTH} deep");
            return Err(self.error_at(span, message));
        }
        Ok(ExprNode { kind, span, depth: depth + 1, parenthesized: false })
    }

    fn parse_nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> ExprParseResult<ExprNode>,
    ) -> ExprParseResult<ExprNode> {
        if self.nesting >= MAX_NESTING {
            let message = format!("the expression is nested more than {MAX_NESTING} deep");
            return Err(self.error_at(self.token.span, message));
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }

    pub(super) fn advance(&mut self) -> ExprParseResult<()> {
        self.token = self.lexer.next_token()?;
        Ok(())
    }

    pub(super) fn is_at(&self, punct: ExprPunct) -> bool {
        self.token.kind == ExprTokenKind::Punct(punct)
    }

    pub(super) fn expect(&mut self, punct: ExprPunct, expected: &str) -> ExprParseResult<()> {
        if !self.is_at(punct) {
            return Err(self.unexpected_token_error(expected));
        }
        self.advance()
    }
}
