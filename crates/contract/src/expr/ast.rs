//! Compiled expression tree: names are slots, methods are ids, spans point into the source.
//!
//! There is no unresolved form: the parser knows the names in scope and refuses names that it
//! cannot resolve.

use std::ops::Range;
use std::sync::Arc;

use regex::Regex;

use super::vocabulary::{BuiltinFunction, BuiltinMethod, CallbackMethod, ConversionFunction};

/// Byte range in the source; sources are far shorter than `u32::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExprSpan {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl ExprSpan {
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    pub(super) fn join(self, end: ExprSpan) -> Self {
        Self { start: self.start, end: end.end }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One operation and its position in the source.
#[derive(Debug)]
pub(super) struct ExprNode {
    pub(super) kind: ExprKind,
    pub(super) span: ExprSpan,
    /// Length of the longest path to a leaf; bounded, so that evaluation cannot exhaust the stack.
    pub(super) depth: u16,
    /// Whether the operation is in parentheses, which JavaScript requires to mix `??` with `||`.
    pub(super) parenthesized: bool,
}

impl ExprNode {
    /// Returns the operands in source order, including those of callbacks.
    pub(super) fn children(&self) -> Vec<&ExprNode> {
        match &self.kind {
            ExprKind::Undefined
            | ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Num(_)
            | ExprKind::Str(_)
            | ExprKind::Root(_)
            | ExprKind::Local(_) => Vec::new(),
            ExprKind::Template { parts: nodes, .. } | ExprKind::BuiltinCall { args: nodes, .. } => {
                nodes.iter().collect()
            }
            ExprKind::Array(items) => items.iter().map(ArrayLiteralItem::node).collect(),
            ExprKind::Object(entries) => {
                entries.iter().flat_map(ObjectLiteralEntry::nodes).collect()
            }
            ExprKind::Member { object, .. } | ExprKind::TextMatches { subject: object, .. } => {
                vec![object]
            }
            ExprKind::Index { object, key, .. } => vec![object, key],
            ExprKind::MethodCall { object, args, .. } => {
                std::iter::once(&**object).chain(args).collect()
            }
            ExprKind::CallbackCall { object, callback, initial, .. } => {
                let body = match &**callback {
                    ExprCallback::Arrow { body, .. } => Some(body),
                    ExprCallback::Convert(_) => None,
                };
                std::iter::once(&**object).chain(body).chain(initial.as_deref()).collect()
            }
            ExprKind::Chain(inner) | ExprKind::Unary { operand: inner, .. } => vec![inner],
            ExprKind::Binary { left, right, .. } | ExprKind::Logical { left, right, .. } => {
                vec![left, right]
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                vec![condition, then, otherwise]
            }
        }
    }
}

/// Kind of an operation, with its operands.
#[derive(Debug)]
pub(super) enum ExprKind {
    Undefined,
    Null,
    Bool(bool),
    Num(f64),
    Str(Arc<str>),
    /// `chunks` has one element more than `parts`.
    Template {
        chunks: Vec<Box<str>>,
        parts: Vec<ExprNode>,
    },
    Array(Vec<ArrayLiteralItem>),
    Object(Vec<ObjectLiteralEntry>),
    Root(usize),
    Local(usize),
    Member {
        object: Box<ExprNode>,
        name: Box<str>,
        optional: bool,
    },
    Index {
        object: Box<ExprNode>,
        key: Box<ExprNode>,
        optional: bool,
    },
    MethodCall {
        object: Box<ExprNode>,
        method: BuiltinMethod,
        args: Vec<ExprNode>,
        optional: bool,
    },
    CallbackCall {
        object: Box<ExprNode>,
        method: CallbackMethod,
        callback: Box<ExprCallback>,
        initial: Option<Box<ExprNode>>,
        optional: bool,
    },
    BuiltinCall {
        builtin: BuiltinFunction,
        args: Vec<ExprNode>,
    },
    /// `Text.matches`, whose pattern is compiled together with the expression.
    TextMatches {
        subject: Box<ExprNode>,
        pattern: Box<Regex>,
    },
    /// A complete chain that contains `?.`; a short circuit ends here.
    Chain(Box<ExprNode>),
    Unary {
        op: UnaryOp,
        operand: Box<ExprNode>,
    },
    Binary {
        op: BinaryOp,
        left: Box<ExprNode>,
        right: Box<ExprNode>,
    },
    Logical {
        op: LogicalOp,
        left: Box<ExprNode>,
        right: Box<ExprNode>,
    },
    Conditional {
        condition: Box<ExprNode>,
        then: Box<ExprNode>,
        otherwise: Box<ExprNode>,
    },
}

/// One item of an array literal.
#[derive(Debug)]
pub(super) enum ArrayLiteralItem {
    Element(ExprNode),
    /// Elements of another list: `...list`.
    Spread(ExprNode),
}

/// One entry of an object literal.
#[derive(Debug)]
pub(super) enum ObjectLiteralEntry {
    /// `name: value`, or `name` alone.
    Named(Arc<str>, ExprNode),
    /// Field with a computed name: `[key]: value`.
    Computed(ExprNode, ExprNode),
    /// Fields of another object: `...object`.
    Spread(ExprNode),
}

impl ArrayLiteralItem {
    pub(super) fn node(&self) -> &ExprNode {
        let (Self::Element(node) | Self::Spread(node)) = self;
        node
    }
}

impl ObjectLiteralEntry {
    /// Returns the nodes to evaluate for this entry, in order.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &ExprNode> {
        let (first, second) = match self {
            Self::Named(_, value) | Self::Spread(value) => (value, None),
            Self::Computed(key, value) => (key, Some(value)),
        };
        std::iter::once(first).chain(second)
    }
}

/// Function that a method calls for each element.
#[derive(Debug)]
pub(super) enum ExprCallback {
    Arrow { params: Vec<ParamPattern>, body: ExprNode },
    Convert(ConversionFunction),
}

/// Parameter of an arrow function; numbers are local slots.
#[derive(Debug)]
pub(super) enum ParamPattern {
    Name(usize),
    List { slots: Vec<Option<usize>>, span: ExprSpan },
    Fields { fields: Vec<ParamPatternField>, span: ExprSpan },
}

/// One name in a destructured parameter `({a, b})`.
#[derive(Debug)]
pub(super) struct ParamPatternField {
    pub(super) name: Box<str>,
    pub(super) slot: usize,
    pub(super) span: ExprSpan,
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
