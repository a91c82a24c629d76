//! Paths of the roots that an expression reads, as far as the source shows them without evaluation.
//!
//! The result is for analysis only and has no effect on evaluation. A path ends where a name is
//! computed or a value is created; the callback of a method continues with an element of the list
//! that the method visits.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::ast::{
    ArrayLiteralItem, ExprCallback, ExprKind, ExprNode, LogicalOp, ObjectLiteralEntry, ParamPattern,
};
use super::vocabulary::{BuiltinFunction, BuiltinMethod, CallbackMethod};

/// One path that an expression reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPath {
    /// Slot of the root variable in the names that the expression was compiled with.
    pub slot: usize,
    /// Steps from the root to the value.
    pub steps: Vec<ReadStep>,
    /// Byte range in the source where the path is read.
    pub span: Range<usize>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadStep {
    /// A field with this name.
    Field(String),
    /// Any element of an array, or any field of an object.
    Element,
}

/// Formats the steps after the root, each after a slash, with `*` for an element:
/// `/tasks/*/status`.
impl fmt::Display for ReadPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| match step {
            ReadStep::Field(name) => write!(out, "/{name}"),
            ReadStep::Element => out.write_str("/*"),
        })
    }
}

/// What is known statically about a value.
#[derive(Debug, Clone, PartialEq)]
enum ValueOrigin {
    Unknown,
    /// The value at this path; for a list, one with the elements of the list at this path.
    AtPath(usize, Vec<ReadStep>),
    /// A list created by the expression, with elements of this origin.
    ListOf(Box<ValueOrigin>),
    /// A `[key, value]` pair of `Object.entries`.
    Entry(Box<ValueOrigin>),
}

/// Returns every path that the tree reads.
pub(super) fn collect_read_paths(root: &ExprNode, locals: usize) -> Vec<ReadPath> {
    let by_span = BTreeMap::new();
    let mut walk = ReadPathCollector {
        paths: Vec::new(),
        by_span,
        locals: vec![ValueOrigin::Unknown; locals],
    };
    walk.read_node(root);
    walk.paths
}

struct ReadPathCollector {
    paths: Vec<ReadPath>,
    /// Indices of the paths that are read at each span of the source.
    by_span: BTreeMap<(usize, usize), Vec<usize>>,
    locals: Vec<ValueOrigin>,
}

impl ReadPathCollector {
    /// Follows a value that is itself used, not only as a step towards a field.
    fn read_node(&mut self, node: &ExprNode) -> ValueOrigin {
        let shape = self.follow_node(node);
        if let ValueOrigin::AtPath(slot, steps) = &shape
            && is_path(node)
        {
            self.record_path(*slot, steps.clone(), node.span.range());
        }
        shape
    }

    fn record_path(&mut self, slot: usize, steps: Vec<ReadStep>, span: Range<usize>) {
        let path = ReadPath { slot, steps, span };
        let here = self.by_span.entry((path.span.start, path.span.end)).or_default();
        if !here.iter().any(|known| self.paths[*known] == path) {
            here.push(self.paths.len());
            self.paths.push(path);
        }
    }

    fn follow_node(&mut self, node: &ExprNode) -> ValueOrigin {
        match &node.kind {
            ExprKind::Root(slot) => ValueOrigin::AtPath(*slot, Vec::new()),
            ExprKind::Local(slot) => self.locals[*slot].clone(),
            ExprKind::Chain(inner) => self.follow_node(inner),
            // A length is not a field: the read path is that of its object.
            ExprKind::Member { object, name, .. } if &**name == "length" => {
                self.read_node(object);
                ValueOrigin::Unknown
            }
            ExprKind::Member { object, name, .. } => {
                let object = self.follow_object(object);
                object.with_step(ReadStep::Field((**name).to_owned()))
            }
            ExprKind::Index { object, key, .. } => self.follow_index(object, key),
            ExprKind::CallbackCall { object, method: each, callback, initial, .. } => {
                self.follow_callback_method(object, *each, callback, initial.as_deref())
            }
            ExprKind::MethodCall { object, method, args, .. } => {
                let object = self.read_node(object);
                self.read_nodes(args);
                match method {
                    BuiltinMethod::At => object.into_element(),
                    BuiltinMethod::Slice | BuiltinMethod::ToReversed => object,
                    _ => ValueOrigin::Unknown,
                }
            }
            ExprKind::BuiltinCall { builtin, args } => self.follow_builtin(*builtin, args),
            ExprKind::Logical { op, left, right } => self.follow_logical(*op, left, right),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.read_node(condition);
                let (then, otherwise) = (self.read_node(then), self.read_node(otherwise));
                then.merge(otherwise)
            }
            ExprKind::Unary { operand, .. } => {
                self.read_node(operand);
                ValueOrigin::Unknown
            }
            ExprKind::Binary { left, right, .. } => {
                self.read_node(left);
                self.read_node(right);
                ValueOrigin::Unknown
            }
            ExprKind::Template { parts, .. } => {
                self.read_nodes(parts);
                ValueOrigin::Unknown
            }
            ExprKind::Array(items) => {
                let shape = |item: &ArrayLiteralItem| match item {
                    ArrayLiteralItem::Element(node) => self.read_node(node),
                    ArrayLiteralItem::Spread(list) => self.read_node(list).into_element(),
                };
                let shapes: Vec<ValueOrigin> = items.iter().map(shape).collect();
                let common = shapes.into_iter().reduce(ValueOrigin::merge);
                ValueOrigin::ListOf(Box::new(common.unwrap_or(ValueOrigin::Unknown)))
            }
            // An object created here is not at any path.
            ExprKind::Object(entries) => {
                for node in entries.iter().flat_map(ObjectLiteralEntry::nodes) {
                    self.read_node(node);
                }
                ValueOrigin::Unknown
            }
            ExprKind::TextMatches { subject, .. } => {
                self.read_node(subject);
                ValueOrigin::Unknown
            }
            ExprKind::Undefined
            | ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Num(_)
            | ExprKind::Str(_) => ValueOrigin::Unknown,
        }
    }

    /// Follows the object of a field: as a step if it is a path itself, otherwise as a full read.
    fn follow_object(&mut self, object: &ExprNode) -> ValueOrigin {
        if is_path(object) { self.follow_node(object) } else { self.read_node(object) }
    }

    fn follow_index(&mut self, object: &ExprNode, key: &ExprNode) -> ValueOrigin {
        let object = self.follow_object(object);
        match &key.kind {
            ExprKind::Str(name) => object.with_step(ReadStep::Field(name.to_string())),
            ExprKind::Num(number) => match object {
                ValueOrigin::Entry(value) if *number == 1.0 => *value,
                ValueOrigin::Entry(_) => ValueOrigin::Unknown,
                other => other.into_element(),
            },
            _ => {
                self.read_node(key);
                object.into_element()
            }
        }
    }

    fn follow_callback_method(
        &mut self,
        object: &ExprNode,
        each: CallbackMethod,
        callback: &ExprCallback,
        initial: Option<&ExprNode>,
    ) -> ValueOrigin {
        let list = self.read_node(object);
        if let Some(initial) = initial {
            self.read_node(initial);
        }
        let element = list.clone().into_element();
        let ExprCallback::Arrow { params, body } = callback else {
            return match each {
                CallbackMethod::Filter => list,
                CallbackMethod::Find => element,
                _ => ValueOrigin::Unknown,
            };
        };
        let order: &[&ValueOrigin] = match each {
            CallbackMethod::Reduce => {
                &[&ValueOrigin::Unknown, &element, &ValueOrigin::Unknown, &list]
            }
            CallbackMethod::ToSorted => &[&element, &element],
            _ => &[&element, &ValueOrigin::Unknown, &list],
        };
        for (param, shape) in params.iter().zip(order) {
            self.bind_param(param, shape);
        }
        let result = self.read_node(body);
        match each {
            CallbackMethod::Filter | CallbackMethod::ToSorted => list,
            CallbackMethod::Find => element,
            CallbackMethod::Map => ValueOrigin::ListOf(Box::new(result)),
            CallbackMethod::FlatMap => ValueOrigin::ListOf(Box::new(result.into_element())),
            CallbackMethod::Some
            | CallbackMethod::Every
            | CallbackMethod::FindIndex
            | CallbackMethod::Reduce => ValueOrigin::Unknown,
        }
    }

    fn bind_param(&mut self, param: &ParamPattern, shape: &ValueOrigin) {
        match param {
            ParamPattern::Name(slot) => self.locals[*slot] = shape.clone(),
            ParamPattern::List { slots, .. } => {
                for (index, slot) in slots.iter().enumerate() {
                    let Some(slot) = slot else { continue };
                    self.locals[*slot] = match shape {
                        ValueOrigin::Entry(value) if index == 1 => (**value).clone(),
                        ValueOrigin::Entry(_) => ValueOrigin::Unknown,
                        other => other.clone().into_element(),
                    };
                }
            }
            ParamPattern::Fields { fields, .. } => {
                for field in fields {
                    let inner = shape.clone().with_step(ReadStep::Field((*field.name).to_owned()));
                    if let ValueOrigin::AtPath(slot, steps) = &inner {
                        self.record_path(*slot, steps.clone(), field.span.range());
                    }
                    self.locals[field.slot] = inner;
                }
            }
        }
    }

    fn follow_builtin(&mut self, builtin: BuiltinFunction, args: &[ExprNode]) -> ValueOrigin {
        let shapes = self.read_nodes(args);
        let element = shapes.into_iter().next().unwrap_or(ValueOrigin::Unknown).into_element();
        match builtin {
            BuiltinFunction::Values => ValueOrigin::ListOf(Box::new(element)),
            BuiltinFunction::Entries => {
                ValueOrigin::ListOf(Box::new(ValueOrigin::Entry(Box::new(element))))
            }
            _ => ValueOrigin::Unknown,
        }
    }

    fn follow_logical(&mut self, op: LogicalOp, left: &ExprNode, right: &ExprNode) -> ValueOrigin {
        let (left, right) = (self.read_node(left), self.read_node(right));
        // A field can be read from `a && b` only if its value is `b`.
        if op == LogicalOp::And { right } else { left.merge(right) }
    }

    fn read_nodes(&mut self, nodes: &[ExprNode]) -> Vec<ValueOrigin> {
        nodes.iter().map(|node| self.read_node(node)).collect()
    }
}

/// Returns whether the node spells a path, rather than choosing or creating a value.
fn is_path(node: &ExprNode) -> bool {
    match &node.kind {
        ExprKind::Chain(inner) => is_path(inner),
        ExprKind::Member { .. }
        | ExprKind::Index { .. }
        | ExprKind::Root(_)
        | ExprKind::Local(_) => true,
        _ => false,
    }
}

impl ValueOrigin {
    fn with_step(self, step: ReadStep) -> Self {
        match self {
            Self::AtPath(slot, mut steps) => {
                steps.push(step);
                Self::AtPath(slot, steps)
            }
            _ => Self::Unknown,
        }
    }

    fn into_element(self) -> Self {
        match self {
            Self::AtPath(..) => self.with_step(ReadStep::Element),
            Self::ListOf(element) => *element,
            Self::Entry(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// Merges the origins of two alternatives: their common origin, or the one that is known.
    fn merge(self, other: Self) -> Self {
        let empty = Self::ListOf(Box::new(Self::Unknown));
        match (self, other) {
            (left, right) if left == right => left,
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (left, right) if left == empty => right,
            (left, right) if right == empty => left,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Expr;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let names = ["reply", "state"];
        let expr = Expr::compile(source, &names).unwrap();
        let found: Vec<String> = expr
            .read_paths()
            .iter()
            .map(|read| format!("{}{read} {}", names[read.slot], &source[read.span.clone()]))
            .collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn constant_paths_are_found() {
        check("state.a.b === reply.c", &["state/a/b state.a.b", "reply/c reply.c"]);
        check("state['a b']?.c", &["state/a b/c state['a b']?.c"]);
        check("state", &["state state"]);
        check("state.tasks.length > 0", &["state/tasks state.tasks"]);
        check("state.tasks[0].id", &["state/tasks/*/id state.tasks[0].id"]);
        check("state.by[reply.id].x", &["reply/id reply.id", "state/by/*/x state.by[reply.id].x"]);
        check("(state.a ?? []).length", &["state/a state.a"]);
        check("1 + 1", &[]);
        check(
            "{a: state.x, [reply.k]: 1, ...state.o}.a",
            &["state/x state.x", "reply/k reply.k", "state/o state.o"],
        );
        check("Text.matches(state.a, 'x')", &["state/a state.a"]);
        check("Pointer.get(state.d, reply.p).x", &["state/d state.d", "reply/p reply.p"]);
    }

    #[test]
    fn callbacks_go_on_with_an_element() {
        check(
            "state.tasks.some(t => t.status !== 'done')",
            &["state/tasks state.tasks", "state/tasks/*/status t.status"],
        );
        check(
            "state.tasks.filter(t => t.on).map(({id}) => id).includes(reply.id)",
            &[
                "state/tasks state.tasks",
                "state/tasks/*/on t.on",
                "state/tasks/*/id id",
                "state/tasks/*/id id",
                "reply/id reply.id",
            ],
        );
        check(
            "Object.entries(state.by).every(([key, value]) => value.n > 0)",
            &["state/by state.by", "state/by/*/n value.n"],
        );
        check(
            "state.a.reduce((sum, item) => sum + item.n, 0) === state.a.find(i => i.x)?.n",
            &[
                "state/a state.a",
                "state/a/*/n item.n",
                "state/a state.a",
                "state/a/*/x i.x",
                "state/a/*/n state.a.find(i => i.x)?.n",
            ],
        );
        check(
            "[...state.a, ...state.a].toSorted((x, y) => x.n - y.n).toReversed().map(z => ({m: z.m}))",
            &[
                "state/a state.a",
                "state/a state.a",
                "state/a/*/n x.n",
                "state/a/*/n y.n",
                "state/a/*/m z.m",
            ],
        );
        check(
            "state.a.flatMap(x => x.tags).some(t => t.name === 'x')",
            &["state/a state.a", "state/a/*/tags x.tags", "state/a/*/tags/*/name t.name"],
        );
    }
}
