//! Which paths of the roots an expression reads, as far as the source tells without running it.
//!
//! For analysis only: nothing here decides what an evaluation does. A path ends where a name is
//! computed or a value is made anew; a method's callback goes on with "an element" of what it walks.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::ast::{Callback, Entry, Item, Kind, LogicalOp, Node, Pattern};
use super::vocabulary::{Builtin, Each, Method};

/// One path an expression reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPath {
    /// The root variable, as a slot into the names the expression was compiled with.
    pub slot: usize,
    /// The steps from the root down.
    pub steps: Vec<ReadStep>,
    /// Where in the source the path is read, in bytes.
    pub span: Range<usize>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadStep {
    /// A field by its name.
    Field(String),
    /// Some element of an array, or some field of an object.
    Element,
}

/// The steps after the root, each behind a slash, with `*` for an element: `/tasks/*/status`.
impl fmt::Display for ReadPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| match step {
            ReadStep::Field(name) => write!(out, "/{name}"),
            ReadStep::Element => out.write_str("/*"),
        })
    }
}

/// What is known of a value before it exists.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Unknown,
    /// The value at this path; for a list, one whose elements are those of the path.
    At(usize, Vec<ReadStep>),
    /// A list made by the expression, of such elements.
    ListOf(Box<Shape>),
    /// A `[key, value]` of `Object.entries`.
    Entry(Box<Shape>),
}

/// Finds every path the tree reads.
pub(super) fn read_paths(root: &Node, locals: usize) -> Vec<ReadPath> {
    let by_span = BTreeMap::new();
    let mut walk = Walk { paths: Vec::new(), by_span, locals: vec![Shape::Unknown; locals] };
    walk.read(root);
    walk.paths
}

struct Walk {
    paths: Vec<ReadPath>,
    /// The positions of the paths that are read at one stretch of the source.
    by_span: BTreeMap<(usize, usize), Vec<usize>>,
    locals: Vec<Shape>,
}

impl Walk {
    /// Follows a value that is used for itself, not only as a step on the way to a field.
    fn read(&mut self, node: &Node) -> Shape {
        let shape = self.follow(node);
        if let Shape::At(slot, steps) = &shape
            && is_path(node)
        {
            self.note(*slot, steps.clone(), node.span.range());
        }
        shape
    }

    fn note(&mut self, slot: usize, steps: Vec<ReadStep>, span: Range<usize>) {
        let path = ReadPath { slot, steps, span };
        let here = self.by_span.entry((path.span.start, path.span.end)).or_default();
        if !here.iter().any(|known| self.paths[*known] == path) {
            here.push(self.paths.len());
            self.paths.push(path);
        }
    }

    fn follow(&mut self, node: &Node) -> Shape {
        match &node.kind {
            Kind::Root(slot) => Shape::At(*slot, Vec::new()),
            Kind::Local(slot) => self.locals[*slot].clone(),
            Kind::Chain(inner) => self.follow(inner),
            // A length is no field: the path that has one was read.
            Kind::Member { object, name, .. } if &**name == "length" => {
                self.read(object);
                Shape::Unknown
            }
            Kind::Member { object, name, .. } => {
                let object = self.follow_part(object);
                object.step(ReadStep::Field((**name).to_owned()))
            }
            Kind::Index { object, key, .. } => self.index(object, key),
            Kind::Each { object, each, callback, initial, .. } => {
                self.each(object, *each, callback, initial.as_deref())
            }
            Kind::Method { object, method, args, .. } => {
                let object = self.read(object);
                self.read_all(args);
                match method {
                    Method::At => object.element(),
                    Method::Slice | Method::ToReversed => object,
                    _ => Shape::Unknown,
                }
            }
            Kind::Builtin { builtin, args } => self.builtin(*builtin, args),
            Kind::Logical { op, left, right } => self.logical(*op, left, right),
            Kind::Conditional { condition, then, otherwise } => {
                self.read(condition);
                let (then, otherwise) = (self.read(then), self.read(otherwise));
                then.or(otherwise)
            }
            Kind::Unary { operand, .. } => {
                self.read(operand);
                Shape::Unknown
            }
            Kind::Binary { left, right, .. } => {
                self.read(left);
                self.read(right);
                Shape::Unknown
            }
            Kind::Template { parts, .. } => {
                self.read_all(parts);
                Shape::Unknown
            }
            Kind::Array(items) => {
                let shape = |item: &Item| match item {
                    Item::One(node) => self.read(node),
                    Item::Spread(list) => self.read(list).element(),
                };
                let shapes: Vec<Shape> = items.iter().map(shape).collect();
                let common = shapes.into_iter().reduce(Shape::or);
                Shape::ListOf(Box::new(common.unwrap_or(Shape::Unknown)))
            }
            // An object made here lies at no path.
            Kind::Object(entries) => {
                for node in entries.iter().flat_map(Entry::nodes) {
                    self.read(node);
                }
                Shape::Unknown
            }
            Kind::Matches { subject, .. } => {
                self.read(subject);
                Shape::Unknown
            }
            Kind::Undefined | Kind::Null | Kind::Bool(_) | Kind::Num(_) | Kind::Str(_) => {
                Shape::Unknown
            }
        }
    }

    /// Follows the object of a field: on the way to the field when it is a path itself, else in full.
    fn follow_part(&mut self, object: &Node) -> Shape {
        if is_path(object) { self.follow(object) } else { self.read(object) }
    }

    fn index(&mut self, object: &Node, key: &Node) -> Shape {
        let object = self.follow_part(object);
        match &key.kind {
            Kind::Str(name) => object.step(ReadStep::Field(name.to_string())),
            Kind::Num(number) => match object {
                Shape::Entry(value) if *number == 1.0 => *value,
                Shape::Entry(_) => Shape::Unknown,
                other => other.element(),
            },
            _ => {
                self.read(key);
                object.element()
            }
        }
    }

    fn each(
        &mut self,
        object: &Node,
        each: Each,
        callback: &Callback,
        initial: Option<&Node>,
    ) -> Shape {
        let list = self.read(object);
        if let Some(initial) = initial {
            self.read(initial);
        }
        let element = list.clone().element();
        let Callback::Arrow { params, body } = callback else {
            return match each {
                Each::Filter => list,
                Each::Find => element,
                _ => Shape::Unknown,
            };
        };
        let order: &[&Shape] = match each {
            Each::Reduce => &[&Shape::Unknown, &element, &Shape::Unknown, &list],
            Each::ToSorted => &[&element, &element],
            _ => &[&element, &Shape::Unknown, &list],
        };
        for (param, shape) in params.iter().zip(order) {
            self.bind(param, shape);
        }
        let result = self.read(body);
        match each {
            Each::Filter | Each::ToSorted => list,
            Each::Find => element,
            Each::Map => Shape::ListOf(Box::new(result)),
            Each::FlatMap => Shape::ListOf(Box::new(result.element())),
            Each::Some | Each::Every | Each::FindIndex | Each::Reduce => Shape::Unknown,
        }
    }

    fn bind(&mut self, param: &Pattern, shape: &Shape) {
        match param {
            Pattern::Name(slot) => self.locals[*slot] = shape.clone(),
            Pattern::List { slots, .. } => {
                for (index, slot) in slots.iter().enumerate() {
                    let Some(slot) = slot else { continue };
                    self.locals[*slot] = match shape {
                        Shape::Entry(value) if index == 1 => (**value).clone(),
                        Shape::Entry(_) => Shape::Unknown,
                        other => other.clone().element(),
                    };
                }
            }
            Pattern::Fields { fields, .. } => {
                for field in fields {
                    let inner = shape.clone().step(ReadStep::Field((*field.name).to_owned()));
                    if let Shape::At(slot, steps) = &inner {
                        self.note(*slot, steps.clone(), field.span.range());
                    }
                    self.locals[field.slot] = inner;
                }
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Node]) -> Shape {
        let shapes = self.read_all(args);
        let element = shapes.into_iter().next().unwrap_or(Shape::Unknown).element();
        match builtin {
            Builtin::Values => Shape::ListOf(Box::new(element)),
            Builtin::Entries => Shape::ListOf(Box::new(Shape::Entry(Box::new(element)))),
            _ => Shape::Unknown,
        }
    }

    fn logical(&mut self, op: LogicalOp, left: &Node, right: &Node) -> Shape {
        let (left, right) = (self.read(left), self.read(right));
        // `a && b` is `b` wherever a field can be read from it.
        if op == LogicalOp::And { right } else { left.or(right) }
    }

    fn read_all(&mut self, nodes: &[Node]) -> Vec<Shape> {
        nodes.iter().map(|node| self.read(node)).collect()
    }
}

/// Whether the node spells a path, rather than choosing or making a value.
fn is_path(node: &Node) -> bool {
    match &node.kind {
        Kind::Chain(inner) => is_path(inner),
        Kind::Member { .. } | Kind::Index { .. } | Kind::Root(_) | Kind::Local(_) => true,
        _ => false,
    }
}

impl Shape {
    fn step(self, step: ReadStep) -> Self {
        match self {
            Self::At(slot, mut steps) => {
                steps.push(step);
                Self::At(slot, steps)
            }
            _ => Self::Unknown,
        }
    }

    fn element(self) -> Self {
        match self {
            Self::At(..) => self.step(ReadStep::Element),
            Self::ListOf(element) => *element,
            Self::Entry(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// Either of two values: what both are, or what one is where the other tells nothing.
    fn or(self, other: Self) -> Self {
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
            .reads()
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
