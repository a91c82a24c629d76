//! The parser's other half: fields, method calls, builtins, and the arrow functions they take.

use regex::{Regex, RegexBuilder};

use super::ast::{Callback, Field, Kind, Node, Pattern, Span};
use super::error::ExprError;
use super::parser::{Parsed, Parser};
use super::scope::list;
use super::token::{Punct, TokenKind};
use super::vocabulary::{Builtin, Convert, Each, MATCHES, Method, is_reserved, members};

/// A parameter before its names have slots.
enum Param<'s> {
    Name(&'s str, Span),
    List(Vec<Option<(&'s str, Span)>>, Span),
    Fields(Vec<(&'s str, Span)>, Span),
}

impl<'s> Parser<'s, '_> {
    /// `.name` or `.name(…)`; the parser stands on the name.
    pub(super) fn member(&mut self, object: Node, name: &'s str, optional: bool) -> Parsed<Node> {
        let name_span = self.token.span;
        self.advance()?;
        if self.is(Punct::OpenParen) {
            return self.method(object, name, name_span, optional);
        }
        let (span, depth) = (object.span.to(name_span), object.depth);
        let kind = Kind::Member { object: Box::new(object), name: name.into(), optional };
        self.node(kind, span, depth)
    }

    fn method(&mut self, object: Node, name: &str, at: Span, optional: bool) -> Parsed<Node> {
        if let Some(each) = Each::named(name) {
            return self.each(object, each, optional);
        }
        let Some((method, most)) = Method::named(name) else {
            return Err(self.unknown_method(name, at));
        };
        let (args, end) = self.arguments(name, most)?;
        let span = object.span.to(end);
        let depth = deepest(&args).max(object.depth);
        self.node(Kind::Method { object: Box::new(object), method, args, optional }, span, depth)
    }

    fn each(&mut self, object: Node, each: Each, optional: bool) -> Parsed<Node> {
        self.advance()?;
        let callback = self.callback(each)?;
        let mut initial = None;
        if self.is(Punct::Comma) {
            self.advance()?;
            if !self.is(Punct::CloseParen) {
                if each != Each::Reduce {
                    return Err(self.too_many(each.name(), 1));
                }
                initial = Some(Box::new(self.argument()?));
            }
            if initial.is_some() && self.is(Punct::Comma) {
                self.advance()?;
                if !self.is(Punct::CloseParen) {
                    return Err(self.too_many(each.name(), 2));
                }
            }
        }
        let end = self.token.span;
        self.expect(Punct::CloseParen, "`)`")?;
        let span = object.span.to(end);
        let body = match &callback {
            Callback::Arrow { body, .. } => body.depth,
            Callback::Convert(_) => 0,
        };
        let depth = object.depth.max(body).max(initial.as_ref().map_or(0, |node| node.depth));
        let (object, callback) = (Box::new(object), Box::new(callback));
        self.node(Kind::Each { object, each, callback, initial, optional }, span, depth)
    }

    /// `Math.max(…)`, `Number(…)`; the parser stands behind the first name.
    pub(super) fn builtin(&mut self, name: &'s str, start: Span) -> Parsed<Node> {
        let (builtin, most, full) = if self.is(Punct::Dot) {
            self.advance()?;
            let TokenKind::Name(member) = self.token.kind else {
                return Err(self.unexpected("a function name"));
            };
            if (name, member) == MATCHES {
                return self.matches(start);
            }
            let Some((builtin, most)) = Builtin::named(name, member) else {
                return Err(self.unknown_member(name, member));
            };
            self.advance()?;
            (builtin, most, format!("{name}.{member}"))
        } else if let Some((builtin, most)) = Builtin::named("", name) {
            (builtin, most, name.to_owned())
        } else {
            return Err(self.bare_builtin(name, start));
        };
        if !self.is(Punct::OpenParen) {
            return Err(self.bare_builtin(name, start));
        }
        let (args, end) = self.arguments(&full, most)?;
        if builtin.is_ours() && args.len() < most {
            return Err(self.too_few(&full, most, start.to(end)));
        }
        let depth = deepest(&args);
        self.node(Kind::Builtin { builtin, args }, start.to(end), depth)
    }

    /// `Text.matches(…, 'pattern')`; the parser stands on the second name.
    fn matches(&mut self, start: Span) -> Parsed<Node> {
        self.advance()?;
        if !self.is(Punct::OpenParen) {
            return Err(self.bare_builtin(MATCHES.0, start));
        }
        let (mut args, end) = self.arguments("Text.matches", 2)?;
        let (Some(pattern), Some(subject)) = (args.pop(), args.pop()) else {
            return Err(self.too_few("Text.matches", 2, start.to(end)));
        };
        let Kind::Str(written) = &pattern.kind else {
            return Err(self.no_pattern(pattern.span));
        };
        let compiled = compile(written).map_err(|why| {
            self.refuse(pattern.span, format!("the pattern cannot be compiled: {why}"))
        })?;
        let (span, depth) = (start.to(end), subject.depth);
        let (subject, pattern) = (Box::new(subject), Box::new(compiled));
        self.node(Kind::Matches { subject, pattern }, span, depth)
    }

    /// Arguments that are values; gives the span of the closing parenthesis too.
    fn arguments(&mut self, name: &str, most: usize) -> Parsed<(Vec<Node>, Span)> {
        self.advance()?;
        let mut args = Vec::new();
        while !self.is(Punct::CloseParen) {
            if args.len() == most {
                return Err(self.too_many(name, most));
            }
            args.push(self.argument()?);
            if !self.is(Punct::CloseParen) {
                self.expect(Punct::Comma, "`,` or `)`")?;
            }
        }
        let end = self.token.span;
        self.advance()?;
        Ok((args, end))
    }

    fn argument(&mut self) -> Parsed<Node> {
        let start = self.token.span;
        if self.params().is_some() {
            return Err(self.misplaced_arrow(start));
        }
        self.expression()
    }

    fn callback(&mut self, each: Each) -> Parsed<Callback> {
        let start = self.token.span;
        if let Some(params) = self.params() {
            return self.arrow(each, &params, start);
        }
        if let TokenKind::Name(name) = self.token.kind
            && let Some(convert) = Convert::named(name)
            && each != Each::ToSorted
            && self.scope.find(name).is_none()
        {
            let before = (self.lexer, self.token.clone());
            self.advance()?;
            if self.is(Punct::Comma) || self.is(Punct::CloseParen) {
                return Ok(Callback::Convert(convert));
            }
            (self.lexer, self.token) = before;
        }
        if self.is(Punct::CloseParen) {
            return Err(self.no_callback(each, start));
        }
        // Read what stands there first: its own mistakes are nearer than this one.
        let found = self.expression()?;
        if self.is(Punct::Arrow) {
            return Err(self.bad_params(start.to(found.span)));
        }
        Err(self.no_callback(each, found.span))
    }

    fn arrow(&mut self, each: Each, params: &[Param<'s>], start: Span) -> Parsed<Callback> {
        let most = match each {
            Each::Reduce => 4,
            Each::ToSorted => 2,
            _ => 3,
        };
        if params.len() > most {
            let message =
                format!("the function given to `{}` takes at most {most} parameters", each.name());
            return Err(self.refuse(start.to(self.token.span), message));
        }
        if self.token.after_newline {
            return Err(self.refuse(self.token.span, "`=>` may not begin a line"));
        }
        self.advance()?;
        if self.is(Punct::OpenBrace) {
            return Err(self.block_body());
        }
        let outer = self.scope.depth();
        let params = params.iter().map(|param| self.bind(param, outer)).collect::<Parsed<_>>()?;
        let body = self.expression()?;
        self.scope.close(outer);
        if self.is(Punct::Arrow) {
            return Err(self.misplaced_arrow(body.span));
        }
        Ok(Callback::Arrow { params, body })
    }

    fn bind(&mut self, param: &Param<'s>, outer: usize) -> Parsed<Pattern> {
        Ok(match param {
            Param::Name(name, span) => Pattern::Name(self.declare(name, *span, outer)?),
            Param::List(names, span) => {
                let mut slots = Vec::new();
                for name in names {
                    slots.push(match name {
                        Some((name, span)) => Some(self.declare(name, *span, outer)?),
                        None => None,
                    });
                }
                Pattern::List { slots, span: *span }
            }
            Param::Fields(names, span) => {
                let mut fields = Vec::new();
                for (name, span) in names {
                    let slot = self.declare(name, *span, outer)?;
                    fields.push(Field { name: (*name).into(), slot, span: *span });
                }
                Pattern::Fields { fields, span: *span }
            }
        })
    }

    fn declare(&mut self, name: &str, span: Span, outer: usize) -> Parsed<usize> {
        if is_reserved(name) {
            return Err(self.refuse(span, format!("`{name}` cannot name a parameter")));
        }
        if self.scope.has_since(outer, name) {
            return Err(self.refuse(span, format!("there are two parameters named `{name}`")));
        }
        Ok(self.scope.declare(name))
    }

    /// Looks whether an arrow's parameters stand here: reads them up to `=>`, or comes back.
    fn params(&mut self) -> Option<Vec<Param<'s>>> {
        let before = (self.lexer, self.token.clone());
        // A token we refuse ends the look; the ordinary path meets it again and says so.
        let found = self.try_params().unwrap_or(None);
        if found.is_some() && self.is(Punct::Arrow) {
            return found;
        }
        (self.lexer, self.token) = before;
        None
    }

    fn try_params(&mut self) -> Parsed<Option<Vec<Param<'s>>>> {
        if let TokenKind::Name(name) = self.token.kind {
            let param = Param::Name(name, self.token.span);
            self.advance()?;
            return Ok(Some(vec![param]));
        }
        if !self.is(Punct::OpenParen) {
            return Ok(None);
        }
        self.advance()?;
        let mut params = Vec::new();
        while !self.is(Punct::CloseParen) {
            let Some(param) = self.try_param()? else { return Ok(None) };
            params.push(param);
            if self.is(Punct::Comma) {
                self.advance()?;
            } else if !self.is(Punct::CloseParen) {
                return Ok(None);
            }
        }
        self.advance()?;
        Ok(Some(params))
    }

    fn try_param(&mut self) -> Parsed<Option<Param<'s>>> {
        let start = self.token.span;
        let close = match self.token.kind {
            TokenKind::Name(name) => {
                self.advance()?;
                return Ok(Some(Param::Name(name, start)));
            }
            TokenKind::Punct(Punct::OpenBracket) => Punct::CloseBracket,
            TokenKind::Punct(Punct::OpenBrace) => Punct::CloseBrace,
            _ => return Ok(None),
        };
        self.advance()?;
        let mut names = Vec::new();
        while !self.is(close) {
            if let TokenKind::Name(name) = self.token.kind {
                names.push(Some((name, self.token.span)));
                self.advance()?;
                if self.is(close) {
                    break;
                }
            } else {
                names.push(None);
            }
            if !self.is(Punct::Comma) {
                return Ok(None);
            }
            self.advance()?;
        }
        let span = start.to(self.token.span);
        self.advance()?;
        if close == Punct::CloseBracket {
            return Ok(Some(Param::List(names, span)));
        }
        let fields: Option<Vec<_>> = names.into_iter().collect();
        Ok(fields.map(|fields| Param::Fields(fields, span)))
    }

    fn unknown_member(&self, namespace: &str, member: &str) -> ExprError {
        let mut error =
            self.refuse(self.token.span, format!("`{namespace}.{member}` may not be used"));
        let known = members(namespace);
        error.hint = Some(match known[..] {
            [] => format!("`{namespace}` is called as a function: `{namespace}(…)`"),
            _ => format!("of `{namespace}` there are {}", list(&known)),
        });
        error
    }
}

/// Compiles a pattern for the linear engine; says in one line why it cannot be.
fn compile(pattern: &str) -> Result<Regex, String> {
    // Far more than a pattern for people's text needs, and soon compiled.
    const MOST_BYTES: usize = 1024 * 1024;
    RegexBuilder::new(pattern).case_insensitive(true).size_limit(MOST_BYTES).build().map_err(
        |error| match error {
            regex::Error::Syntax(told) => {
                let last = told.lines().last().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            }
            regex::Error::CompiledTooBig(_) => "it grows too large".to_owned(),
            _ => "it is not one".to_owned(),
        },
    )
}

fn deepest(nodes: &[Node]) -> u16 {
    nodes.iter().map(|node| node.depth).max().unwrap_or(0)
}
