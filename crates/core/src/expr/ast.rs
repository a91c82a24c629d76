//! The tree an expression is compiled to: names are slots, methods are ids, spans point into the source.
//!
//! There is no unresolved form: the parser knows the names in scope, so what it cannot resolve it refuses.

use std::ops::Range;
use std::sync::Arc;

use regex::Regex;

use super::vocabulary::{Builtin, Convert, Each, Method};

/// Bytes of the source; sources are far shorter than `u32` can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    pub(super) fn to(self, end: Span) -> Self {
        Self { start: self.start, end: end.end }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One operation and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// The longest way down to a leaf; bounded, so evaluation cannot exhaust the stack.
    pub(super) depth: u16,
    /// Whether parentheses stand round it, which `??` beside `||` asks for.
    pub(super) parenthesized: bool,
}

impl Node {
    /// The operations it consists of, in the order of the source; those of callbacks too.
    pub(super) fn children(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Undefined
            | Kind::Null
            | Kind::Bool(_)
            | Kind::Num(_)
            | Kind::Str(_)
            | Kind::Root(_)
            | Kind::Local(_) => Vec::new(),
            Kind::Template { parts: nodes, .. } | Kind::Builtin { args: nodes, .. } => {
                nodes.iter().collect()
            }
            Kind::Array(items) => items.iter().map(Item::node).collect(),
            Kind::Object(entries) => entries.iter().flat_map(Entry::nodes).collect(),
            Kind::Member { object, .. } | Kind::Matches { subject: object, .. } => vec![object],
            Kind::Index { object, key, .. } => vec![object, key],
            Kind::Method { object, args, .. } => std::iter::once(&**object).chain(args).collect(),
            Kind::Each { object, callback, initial, .. } => {
                let body = match &**callback {
                    Callback::Arrow { body, .. } => Some(body),
                    Callback::Convert(_) => None,
                };
                std::iter::once(&**object).chain(body).chain(initial.as_deref()).collect()
            }
            Kind::Chain(inner) | Kind::Unary { operand: inner, .. } => vec![inner],
            Kind::Binary { left, right, .. } | Kind::Logical { left, right, .. } => {
                vec![left, right]
            }
            Kind::Conditional { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }
}

/// What an operation does.
#[derive(Debug)]
pub(super) enum Kind {
    Undefined,
    Null,
    Bool(bool),
    Num(f64),
    Str(Arc<str>),
    /// `chunks` has one element more than `parts`.
    Template {
        chunks: Vec<Box<str>>,
        parts: Vec<Node>,
    },
    Array(Vec<Item>),
    Object(Vec<Entry>),
    Root(usize),
    Local(usize),
    Member {
        object: Box<Node>,
        name: Box<str>,
        optional: bool,
    },
    Index {
        object: Box<Node>,
        key: Box<Node>,
        optional: bool,
    },
    Method {
        object: Box<Node>,
        method: Method,
        args: Vec<Node>,
        optional: bool,
    },
    Each {
        object: Box<Node>,
        each: Each,
        callback: Box<Callback>,
        initial: Option<Box<Node>>,
        optional: bool,
    },
    Builtin {
        builtin: Builtin,
        args: Vec<Node>,
    },
    /// `Text.matches`, whose pattern was compiled with the expression.
    Matches {
        subject: Box<Node>,
        pattern: Box<Regex>,
    },
    /// The whole of a chain with a `?.` in it: what a short circuit leaves.
    Chain(Box<Node>),
    Unary {
        op: UnaryOp,
        operand: Box<Node>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Node>,
        right: Box<Node>,
    },
    Logical {
        op: LogicalOp,
        left: Box<Node>,
        right: Box<Node>,
    },
    Conditional {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
}

/// One part of an array literal.
#[derive(Debug)]
pub(super) enum Item {
    One(Node),
    /// `...list`
    Spread(Node),
}

/// One part of an object literal.
#[derive(Debug)]
pub(super) enum Entry {
    /// `name: value`, or `name` alone.
    Named(Arc<str>, Node),
    /// `[key]: value`
    Computed(Node, Node),
    /// `...object`
    Spread(Node),
}

impl Item {
    pub(super) fn node(&self) -> &Node {
        let (Self::One(node) | Self::Spread(node)) = self;
        node
    }
}

impl Entry {
    /// What is evaluated for it, in this order.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let (first, second) = match self {
            Self::Named(_, value) | Self::Spread(value) => (value, None),
            Self::Computed(key, value) => (key, Some(value)),
        };
        std::iter::once(first).chain(second)
    }
}

/// What a method calls for each element.
#[derive(Debug)]
pub(super) enum Callback {
    Arrow { params: Vec<Pattern>, body: Node },
    Convert(Convert),
}

/// A parameter of an arrow function; numbers are local slots.
#[derive(Debug)]
pub(super) enum Pattern {
    Name(usize),
    List { slots: Vec<Option<usize>>, span: Span },
    Fields { fields: Vec<Field>, span: Span },
}

/// One name of `({a, b})`.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) slot: usize,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnaryOp {
    Not,
    Plus,
    Minus,
    TypeOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOp {
    StrictEqual,
    StrictNotEqual,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogicalOp {
    And,
    Or,
    Coalesce,
}
