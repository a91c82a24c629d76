//! Parses fields, method calls, builtin functions, and the arrow functions that they take.

use regex::{Regex, RegexBuilder};

use super::ast::{ExprCallback, ExprKind, ExprNode, ExprSpan, ParamPattern, ParamPatternField};
use super::expr_error::ExprError;
use super::expr_scope::quote_names;
use super::parser::{ExprParseResult, ExprParser};
use super::token::{ExprPunct, ExprTokenKind};
use super::vocabulary::{
    BuiltinFunction, BuiltinMethod, CallbackMethod, ConversionFunction, TEXT_MATCHES, is_reserved,
    list_members,
};

/// Parameter before its names have slots.
enum UnboundParam<'s> {
    Name(&'s str, ExprSpan),
    List(Vec<Option<(&'s str, ExprSpan)>>, ExprSpan),
    Fields(Vec<(&'s str, ExprSpan)>, ExprSpan),
}

impl<'s> ExprParser<'s, '_> {
    /// Parses `.name` or `.name(…)`; the parser is at the name.
    pub(super) fn parse_member(
        &mut self,
        object: ExprNode,
        name: &'s str,
        optional: bool,
    ) -> ExprParseResult<ExprNode> {
        let name_span = self.token.span;
        self.advance()?;
        if self.is_at(ExprPunct::OpenParen) {
            return self.parse_method_call(object, name, name_span, optional);
        }
        let (span, depth) = (object.span.join(name_span), object.depth);
        let kind = ExprKind::Member { object: Box::new(object), name: name.into(), optional };
        self.build_node(kind, span, depth)
    }

    fn parse_method_call(
        &mut self,
        object: ExprNode,
        name: &str,
        at: ExprSpan,
        optional: bool,
    ) -> ExprParseResult<ExprNode> {
        if let Some(each) = CallbackMethod::from_name(name) {
            return self.parse_callback_method(object, each, optional);
        }
        let Some((method, most)) = BuiltinMethod::from_name(name) else {
            return Err(self.unknown_method_error(name, at));
        };
        let (args, end) = self.parse_arguments(name, most)?;
        let span = object.span.join(end);
        let depth = max_depth(&args).max(object.depth);
        self.build_node(
            ExprKind::MethodCall { object: Box::new(object), method, args, optional },
            span,
            depth,
        )
    }

    fn parse_callback_method(
        &mut self,
        object: ExprNode,
        each: CallbackMethod,
        optional: bool,
    ) -> ExprParseResult<ExprNode> {
        self.advance()?;
        let callback = self.parse_callback(each)?;
        let mut initial = None;
        if self.is_at(ExprPunct::Comma) {
            self.advance()?;
            if !self.is_at(ExprPunct::CloseParen) {
                if each != CallbackMethod::Reduce {
                    return Err(self.too_many_arguments_error(each.name(), 1));
                }
                initial = Some(Box::new(self.parse_argument()?));
            }
            if initial.is_some() && self.is_at(ExprPunct::Comma) {
                self.advance()?;
                if !self.is_at(ExprPunct::CloseParen) {
                    return Err(self.too_many_arguments_error(each.name(), 2));
                }
            }
        }
        let end = self.token.span;
        self.expect(ExprPunct::CloseParen, "`)`")?;
        let span = object.span.join(end);
        let body = match &callback {
            ExprCallback::Arrow { body, .. } => body.depth,
            ExprCallback::Convert(_) => 0,
        };
        let depth = object.depth.max(body).max(initial.as_ref().map_or(0, |node| node.depth));
        let (object, callback) = (Box::new(object), Box::new(callback));
        self.build_node(
            ExprKind::CallbackCall { object, method: each, callback, initial, optional },
            span,
            depth,
        )
    }

    /// Parses `Math.max(…)` or `Number(…)`; the parser is after the first name.
    pub(super) fn parse_builtin(
        &mut self,
        name: &'s str,
        start: ExprSpan,
    ) -> ExprParseResult<ExprNode> {
        let (builtin, most, full) = if self.is_at(ExprPunct::Dot) {
            self.advance()?;
            let ExprTokenKind::Name(member) = self.token.kind else {
                return Err(self.unexpected_token_error("a function name"));
            };
            if (name, member) == TEXT_MATCHES {
                return self.parse_text_matches(start);
            }
            let Some((builtin, most)) = BuiltinFunction::from_name(name, member) else {
                return Err(self.unknown_member_error(name, member));
            };
            self.advance()?;
            (builtin, most, format!("{name}.{member}"))
        } else if let Some((builtin, most)) = BuiltinFunction::from_name("", name) {
            (builtin, most, name.to_owned())
        } else {
            return Err(self.uncalled_builtin_error(name, start));
        };
        if !self.is_at(ExprPunct::OpenParen) {
            return Err(self.uncalled_builtin_error(name, start));
        }
        let (args, end) = self.parse_arguments(&full, most)?;
        if builtin.is_extension() && args.len() < most {
            return Err(self.too_few_arguments_error(&full, most, start.join(end)));
        }
        let depth = max_depth(&args);
        self.build_node(ExprKind::BuiltinCall { builtin, args }, start.join(end), depth)
    }

    /// Parses `Text.matches(…, 'pattern')`; the parser is at the second name.
    fn parse_text_matches(&mut self, start: ExprSpan) -> ExprParseResult<ExprNode> {
        self.advance()?;
        if !self.is_at(ExprPunct::OpenParen) {
            return Err(self.uncalled_builtin_error(TEXT_MATCHES.0, start));
        }
        let (mut args, end) = self.parse_arguments("Text.matches", 2)?;
        let (Some(pattern), Some(subject)) = (args.pop(), args.pop()) else {
            return Err(self.too_few_arguments_error("Text.matches", 2, start.join(end)));
        };
        let ExprKind::Str(written) = &pattern.kind else {
            return Err(self.pattern_not_literal_error(pattern.span));
        };
        let compiled = compile_pattern(written).map_err(|why| {
            self.error_at(pattern.span, format!("the pattern cannot be compiled: {why}"))
        })?;
        let (span, depth) = (start.join(end), subject.depth);
        let (subject, pattern) = (Box::new(subject), Box::new(compiled));
        self.build_node(ExprKind::TextMatches { subject, pattern }, span, depth)
    }

    /// Parses arguments that are values. Also returns the span of the closing parenthesis.
    fn parse_arguments(
        &mut self,
        name: &str,
        most: usize,
    ) -> ExprParseResult<(Vec<ExprNode>, ExprSpan)> {
        self.advance()?;
        let mut args = Vec::new();
        while !self.is_at(ExprPunct::CloseParen) {
            if args.len() == most {
                return Err(self.too_many_arguments_error(name, most));
            }
            args.push(self.parse_argument()?);
            if !self.is_at(ExprPunct::CloseParen) {
                self.expect(ExprPunct::Comma, "`,` or `)`")?;
            }
        }
        let end = self.token.span;
        self.advance()?;
        Ok((args, end))
    }

    fn parse_argument(&mut self) -> ExprParseResult<ExprNode> {
        let start = self.token.span;
        if self.try_parse_params().is_some() {
            return Err(self.misplaced_arrow_error(start));
        }
        self.parse_expression()
    }

    fn parse_callback(&mut self, each: CallbackMethod) -> ExprParseResult<ExprCallback> {
        let start = self.token.span;
        if let Some(params) = self.try_parse_params() {
            return self.parse_arrow(each, &params, start);
        }
        if let ExprTokenKind::Name(name) = self.token.kind
            && let Some(convert) = ConversionFunction::from_name(name)
            && each != CallbackMethod::ToSorted
            && self.scope.resolve_name(name).is_none()
        {
            let before = (self.lexer, self.token.clone());
            self.advance()?;
            if self.is_at(ExprPunct::Comma) || self.is_at(ExprPunct::CloseParen) {
                return Ok(ExprCallback::Convert(convert));
            }
            (self.lexer, self.token) = before;
        }
        if self.is_at(ExprPunct::CloseParen) {
            return Err(self.missing_callback_error(each, start));
        }
        // Parse the argument first: an error inside it is more specific than this one.
        let found = self.parse_expression()?;
        if self.is_at(ExprPunct::Arrow) {
            return Err(self.invalid_params_error(start.join(found.span)));
        }
        Err(self.missing_callback_error(each, found.span))
    }

    fn parse_arrow(
        &mut self,
        each: CallbackMethod,
        params: &[UnboundParam<'s>],
        start: ExprSpan,
    ) -> ExprParseResult<ExprCallback> {
        let most = match each {
            CallbackMethod::Reduce => 4,
            CallbackMethod::ToSorted => 2,
            _ => 3,
        };
        if params.len() > most {
            let message =
                format!("the function passed to `{}` takes at most {most} parameters", each.name());
            return Err(self.error_at(start.join(self.token.span), message));
        }
        if self.token.after_newline {
            return Err(
                self.error_at(self.token.span, "`=>` is not allowed at the start of a line")
            );
        }
        self.advance()?;
        if self.is_at(ExprPunct::OpenBrace) {
            return Err(self.block_body_error());
        }
        let outer = self.scope.depth();
        let params = params
            .iter()
            .map(|param| self.bind_param(param, outer))
            .collect::<ExprParseResult<_>>()?;
        let body = self.parse_expression()?;
        self.scope.truncate_locals(outer);
        if self.is_at(ExprPunct::Arrow) {
            return Err(self.misplaced_arrow_error(body.span));
        }
        Ok(ExprCallback::Arrow { params, body })
    }

    fn bind_param(
        &mut self,
        param: &UnboundParam<'s>,
        outer: usize,
    ) -> ExprParseResult<ParamPattern> {
        Ok(match param {
            UnboundParam::Name(name, span) => {
                ParamPattern::Name(self.declare_param(name, *span, outer)?)
            }
            UnboundParam::List(names, span) => {
                let mut slots = Vec::new();
                for name in names {
                    slots.push(match name {
                        Some((name, span)) => Some(self.declare_param(name, *span, outer)?),
                        None => None,
                    });
                }
                ParamPattern::List { slots, span: *span }
            }
            UnboundParam::Fields(names, span) => {
                let mut fields = Vec::new();
                for (name, span) in names {
                    let slot = self.declare_param(name, *span, outer)?;
                    fields.push(ParamPatternField { name: (*name).into(), slot, span: *span });
                }
                ParamPattern::Fields { fields, span: *span }
            }
        })
    }

    fn declare_param(
        &mut self,
        name: &str,
        span: ExprSpan,
        outer: usize,
    ) -> ExprParseResult<usize> {
        if is_reserved(name) {
            return Err(self.error_at(span, format!("`{name}` cannot name a parameter")));
        }
        if self.scope.has_local_since(outer, name) {
            return Err(self.error_at(span, format!("there are two parameters named `{name}`")));
        }
        Ok(self.scope.declare_local(name))
    }

    /// Parses the parameters of an arrow function up to `=>`, or returns to the starting position.
    fn try_parse_params(&mut self) -> Option<Vec<UnboundParam<'s>>> {
        let before = (self.lexer, self.token.clone());
        // A refused token ends the lookahead; the ordinary path reaches it again and reports it.
        let found = self.parse_params().unwrap_or(None);
        if found.is_some() && self.is_at(ExprPunct::Arrow) {
            return found;
        }
        (self.lexer, self.token) = before;
        None
    }

    fn parse_params(&mut self) -> ExprParseResult<Option<Vec<UnboundParam<'s>>>> {
        if let ExprTokenKind::Name(name) = self.token.kind {
            let param = UnboundParam::Name(name, self.token.span);
            self.advance()?;
            return Ok(Some(vec![param]));
        }
        if !self.is_at(ExprPunct::OpenParen) {
            return Ok(None);
        }
        self.advance()?;
        let mut params = Vec::new();
        while !self.is_at(ExprPunct::CloseParen) {
            let Some(param) = self.parse_param()? else { return Ok(None) };
            params.push(param);
            if self.is_at(ExprPunct::Comma) {
                self.advance()?;
            } else if !self.is_at(ExprPunct::CloseParen) {
                return Ok(None);
            }
        }
        self.advance()?;
        Ok(Some(params))
    }

    fn parse_param(&mut self) -> ExprParseResult<Option<UnboundParam<'s>>> {
        let start = self.token.span;
        let close = match self.token.kind {
            ExprTokenKind::Name(name) => {
                self.advance()?;
                return Ok(Some(UnboundParam::Name(name, start)));
            }
            ExprTokenKind::Punct(ExprPunct::OpenBracket) => ExprPunct::CloseBracket,
            ExprTokenKind::Punct(ExprPunct::OpenBrace) => ExprPunct::CloseBrace,
            _ => return Ok(None),
        };
        self.advance()?;
        let mut names = Vec::new();
        while !self.is_at(close) {
            if let ExprTokenKind::Name(name) = self.token.kind {
                names.push(Some((name, self.token.span)));
                self.advance()?;
                if self.is_at(close) {
                    break;
                }
            } else {
                names.push(None);
            }
            if !self.is_at(ExprPunct::Comma) {
                return Ok(None);
            }
            self.advance()?;
        }
        let span = start.join(self.token.span);
        self.advance()?;
        if close == ExprPunct::CloseBracket {
            return Ok(Some(UnboundParam::List(names, span)));
        }
        let fields: Option<Vec<_>> = names.into_iter().collect();
        Ok(fields.map(|fields| UnboundParam::Fields(fields, span)))
    }

    fn unknown_member_error(&self, namespace: &str, member: &str) -> ExprError {
        let mut error =
            self.error_at(self.token.span, format!("`{namespace}.{member}` is not supported"));
        let known = list_members(namespace);
        error.hint = Some(match known[..] {
            [] => format!("call `{namespace}` as a function: `{namespace}(…)`"),
            _ => format!("`{namespace}` supports {}", quote_names(&known)),
        });
        error
    }
}

/// Compiles a pattern for the linear-time engine. The error is one line that states the reason.
fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    // Much larger than a pattern for natural text needs, and still fast to compile.
    const MAX_REGEX_BYTES: usize = 1024 * 1024;
    RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_REGEX_BYTES).build().map_err(
        |error| match error {
            regex::Error::Syntax(message) => {
                let last = message.lines().last().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            }
            regex::Error::CompiledTooBig(_) => "it compiles to too much memory".to_owned(),
            _ => "it is not a pattern".to_owned(),
        },
    )
}

fn max_depth(nodes: &[ExprNode]) -> u16 {
    nodes.iter().map(|node| node.depth).max().unwrap_or(0)
}
