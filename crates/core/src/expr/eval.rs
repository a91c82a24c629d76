//! Walks the tree over borrowed roots and gives a value or says where there is none.
//!
//! Nothing of the state is copied: locals are slots, elements are references, and only what an
//! expression makes anew (a joined string, a filtered list) is allocated, and paid for.
//! Rare operations are kept out of line: `eval` runs for every node, so its frame must stay small.

use serde_json::Value;

use super::ast::{BinaryOp, Kind, LogicalOp, Node, UnaryOp};
use super::budget::Budget;
use super::builtins;
use super::coerce::{
    loose_equal, order, strict_equal, to_boolean, to_integer, to_number, to_primitive, to_text,
    write_text,
};
use super::error::{Failure, Fault};
use super::methods::{array, string};
use super::number::in_base;
use super::property::{self, Key};
use super::text::Text;
use super::value::{Elements, Val};
use super::vocabulary::{Builtin, Method};

/// A value, or where and why there is none.
pub(super) type Outcome<'a> = Result<Val<'a>, Failure>;

/// One evaluation under way.
pub(super) struct Evaluation<'e, 'a> {
    source: &'e str,
    roots: &'e [Option<&'a Value>],
    pub(super) locals: Vec<Val<'a>>,
    pub(super) budget: Budget,
}

impl<'e, 'a> Evaluation<'e, 'a> {
    pub(super) fn new(
        source: &'e str,
        roots: &'e [Option<&'a Value>],
        locals: usize,
    ) -> Evaluation<'e, 'a> {
        let locals = vec![Val::Undefined; locals];
        Evaluation { source, roots, locals, budget: Budget::full() }
    }

    pub(super) fn eval(&mut self, node: &Node) -> Outcome<'a> {
        self.budget.work(1).map_err(|fault| located(node, fault))?;
        match &node.kind {
            Kind::Undefined => Ok(Val::Undefined),
            Kind::Null => Ok(Val::Null),
            Kind::Bool(truth) => Ok(Val::Bool(*truth)),
            Kind::Num(number) => Ok(Val::Num(*number)),
            Kind::Str(text) => Ok(Val::Str(Text::Shared(text.clone()))),
            Kind::Local(slot) => Ok(self.locals[*slot].clone()),
            Kind::Root(slot) => self.root(node, *slot),
            Kind::Member { object, name, .. } => self.member(node, object, name),
            Kind::Index { object, key, .. } => {
                let value = self.eval(object)?;
                self.index(node, &value, object, key)
            }
            Kind::Binary { op, left, right } => self.binary(node, *op, left, right),
            Kind::Logical { op, left, right } => self.logical(*op, left, right),
            Kind::Unary { op, operand } => self.unary(node, *op, operand),
            Kind::Conditional { condition, then, otherwise } => {
                let branch = if self.truth(condition)? { then } else { otherwise };
                self.eval(branch)
            }
            Kind::Method { object, method, args, .. } => {
                let value = self.eval(object)?;
                self.method(node, &value, object, *method, args)
            }
            Kind::Each { object, each, callback, initial, .. } => {
                let value = self.eval(object)?;
                self.each(node, &value, object, *each, callback, initial.as_deref())
            }
            Kind::Builtin { builtin, args } => self.builtin(node, *builtin, args),
            Kind::Chain(inner) => Ok(self.link(inner)?.unwrap_or(Val::Undefined)),
            Kind::Template { chunks, parts } => self.template(node, chunks, parts),
            Kind::Array(items) => self.array(node, items),
            Kind::Object(entries) => self.object(node, entries),
            Kind::Matches { subject, pattern } => self.matches(node, subject, pattern),
        }
    }

    #[inline(never)]
    fn builtin(&mut self, node: &Node, builtin: Builtin, args: &[Node]) -> Outcome<'a> {
        let args = self.all(args)?;
        builtins::call(builtin, &args, &mut self.budget).map_err(|fault| located(node, fault))
    }

    /// Evaluates one link of a chain with `?.` in it; `None` when the chain was cut short.
    #[inline(never)]
    fn link(&mut self, node: &Node) -> Result<Option<Val<'a>>, Failure> {
        let (Kind::Member { object, optional, .. }
        | Kind::Index { object, optional, .. }
        | Kind::Method { object, optional, .. }
        | Kind::Each { object, optional, .. }) = &node.kind
        else {
            return self.eval(node).map(Some);
        };
        self.budget.work(1).map_err(|fault| located(node, fault))?;
        let Some(value) = self.link(object)? else { return Ok(None) };
        if *optional && value.is_nullish() {
            return Ok(None);
        }
        match &node.kind {
            Kind::Member { name, .. } => self.named(node, &value, object, name),
            Kind::Index { key, .. } => self.index(node, &value, object, key),
            Kind::Method { method, args, .. } => self.method(node, &value, object, *method, args),
            Kind::Each { each, callback, initial, .. } => {
                self.each(node, &value, object, *each, callback, initial.as_deref())
            }
            _ => Ok(value),
        }
        .map(Some)
    }

    fn root(&self, node: &Node, slot: usize) -> Outcome<'a> {
        if let Some(Some(value)) = self.roots.get(slot) {
            return Ok(Val::from_json(value));
        }
        let name = self.text_of(node);
        Err(located(node, Fault::new(format!("`{name}` has no value here"))))
    }

    fn member(&mut self, node: &Node, object: &Node, name: &str) -> Outcome<'a> {
        // The most common shape, `t.status`, is read in place: no clone of the local.
        if let Kind::Local(slot) = object.kind {
            self.budget.work(1).map_err(|fault| located(node, fault))?;
            let value = &self.locals[slot];
            if !value.is_nullish() {
                return property::named(value, name, &mut self.budget)
                    .map_err(|fault| located(node, fault));
            }
            return Err(self.nothing_to_read(node, &value.clone(), object, name));
        }
        let value = self.eval(object)?;
        self.named(node, &value, object, name)
    }

    fn named(&mut self, node: &Node, value: &Val<'a>, object: &Node, name: &str) -> Outcome<'a> {
        if value.is_nullish() {
            return Err(self.nothing_to_read(node, value, object, name));
        }
        property::named(value, name, &mut self.budget).map_err(|fault| located(node, fault))
    }

    fn index(&mut self, node: &Node, value: &Val<'a>, object: &Node, key: &Node) -> Outcome<'a> {
        let key_value = self.eval(key)?;
        if value.is_nullish() {
            return Err(self.nothing_to_read(node, value, object, self.text_of(key)));
        }
        Key::of(&key_value, &mut self.budget)
            .and_then(|key| property::keyed(value, &key, &mut self.budget))
            .map_err(|fault| located(node, fault))
    }

    #[inline(never)]
    fn method(
        &mut self,
        node: &Node,
        value: &Val<'a>,
        object: &Node,
        method: Method,
        args: &[Node],
    ) -> Outcome<'a> {
        if value.is_nullish() {
            return Err(self.no_method(node, value, object, method.name()));
        }
        let args = self.all(args)?;
        let budget = &mut self.budget;
        let called = match (Elements::of(value), value) {
            _ if method == Method::ToString => to_string(value, &args, budget).map(Some),
            (Some(elements), _) => array::call(&elements, method, &args, budget),
            (None, Val::Str(text)) => string::call(text, method, &args, budget),
            _ => Ok(None),
        };
        match called {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(self.no_method(node, value, object, method.name())),
            Err(fault) => Err(located(node, fault)),
        }
    }

    fn binary(&mut self, node: &Node, op: BinaryOp, left: &Node, right: &Node) -> Outcome<'a> {
        let left = self.eval(left)?;
        // A literal is compared where it stands: no reference is counted.
        if let (Kind::Str(literal), BinaryOp::StrictEqual | BinaryOp::StrictNotEqual) =
            (&right.kind, op)
        {
            let equal = matches!(&left, Val::Str(text) if text.as_str() == &**literal);
            return Ok(Val::Bool(equal == (op == BinaryOp::StrictEqual)));
        }
        let right = self.eval(right)?;
        if let (Val::Num(left), Val::Num(right)) = (&left, &right)
            && let Some(sum) = calculate(op, *left, *right)
        {
            return Ok(Val::Num(sum));
        }
        operate(op, &left, &right, &mut self.budget).map_err(|fault| located(node, fault))
    }

    fn logical(&mut self, op: LogicalOp, left: &Node, right: &Node) -> Outcome<'a> {
        let left = self.eval(left)?;
        let decided = match op {
            LogicalOp::And => !to_boolean(&left),
            LogicalOp::Or => to_boolean(&left),
            LogicalOp::Coalesce => !left.is_nullish(),
        };
        if decided { Ok(left) } else { self.eval(right) }
    }

    #[inline(never)]
    fn unary(&mut self, node: &Node, op: UnaryOp, operand: &Node) -> Outcome<'a> {
        let value = self.eval(operand)?;
        let number = match op {
            UnaryOp::Not => return Ok(Val::Bool(!to_boolean(&value))),
            UnaryOp::TypeOf => return Ok(Val::Str(Text::Borrowed(type_name(&value)))),
            UnaryOp::Plus | UnaryOp::Minus => to_number(&value, &mut self.budget),
        };
        let number = number.map_err(|fault| located(node, fault))?;
        Ok(Val::Num(if op == UnaryOp::Minus { -number } else { number }))
    }

    #[inline(never)]
    fn template(&mut self, node: &Node, chunks: &[Box<str>], parts: &[Node]) -> Outcome<'a> {
        let mut out = String::new();
        for (index, chunk) in chunks.iter().enumerate() {
            self.budget.create(chunk.len()).map_err(|fault| located(node, fault))?;
            out.push_str(chunk);
            if let Some(part) = parts.get(index) {
                let value = self.eval(part)?;
                write_text(&value, &mut out, &mut self.budget, 0)
                    .map_err(|fault| located(part, fault))?;
            }
        }
        Ok(Val::Str(out.into()))
    }

    fn all(&mut self, nodes: &[Node]) -> Result<Vec<Val<'a>>, Failure> {
        nodes.iter().map(|node| self.eval(node)).collect()
    }

    fn text_of(&self, node: &Node) -> &'e str {
        self.source.get(node.span.range()).unwrap_or_default()
    }

    #[cold]
    fn nothing_to_read(&self, node: &Node, value: &Val<'_>, object: &Node, name: &str) -> Failure {
        let path = self.text_of(object);
        let found = value.describe();
        located(
            node,
            Fault::new(format!("`{path}` is {found}, so `{name}` cannot be read from it")),
        )
    }

    #[cold]
    pub(super) fn no_method(
        &self,
        node: &Node,
        value: &Val<'_>,
        object: &Node,
        name: &str,
    ) -> Failure {
        let path = self.text_of(object);
        let found = value.describe();
        located(
            node,
            Fault::new(format!("`{path}` is {found}, so `{name}` cannot be called on it")),
        )
    }
}

/// What `typeof` says.
pub(super) fn type_name(value: &Val<'_>) -> &'static str {
    match value {
        Val::Undefined => "undefined",
        Val::Bool(_) => "boolean",
        Val::Num(_) => "number",
        Val::Str(_) => "string",
        Val::Null | Val::Json(_) | Val::List(_) | Val::Object(_) => "object",
    }
}

/// `value.toString()`, for a number also with a base.
fn to_string<'a>(value: &Val<'a>, args: &[Val<'a>], budget: &mut Budget) -> Result<Val<'a>, Fault> {
    if let (Val::Num(number), Some(base)) = (value, args.first())
        && !matches!(base, Val::Undefined)
    {
        let base = to_integer(base, budget)?;
        return Val::string(in_base(*number, base)?, budget);
    }
    Ok(Val::Str(to_text(value, budget)?))
}

/// Says where a fault happened.
#[cold]
pub(super) fn located(node: &Node, fault: Fault) -> Failure {
    fault.at(node.span.range())
}

#[inline(never)]
fn operate<'a>(
    op: BinaryOp,
    left: &Val<'a>,
    right: &Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    Ok(match op {
        BinaryOp::StrictEqual => Val::Bool(strict(left, right, budget)?),
        BinaryOp::StrictNotEqual => Val::Bool(!strict(left, right, budget)?),
        BinaryOp::Equal => Val::Bool(loose_equal(left, right, budget)?),
        BinaryOp::NotEqual => Val::Bool(!loose_equal(left, right, budget)?),
        BinaryOp::Less => {
            Val::Bool(order(left, right, budget)?.is_some_and(std::cmp::Ordering::is_lt))
        }
        BinaryOp::LessOrEqual => {
            Val::Bool(order(left, right, budget)?.is_some_and(std::cmp::Ordering::is_le))
        }
        BinaryOp::Greater => {
            Val::Bool(order(left, right, budget)?.is_some_and(std::cmp::Ordering::is_gt))
        }
        BinaryOp::GreaterOrEqual => {
            Val::Bool(order(left, right, budget)?.is_some_and(std::cmp::Ordering::is_ge))
        }
        BinaryOp::In => match right {
            Val::Json(_) | Val::List(_) | Val::Object(_) => {
                Val::Bool(property::contains(right, &Key::of(left, budget)?))
            }
            _ => {
                let found = right.describe();
                return Err(Fault::new(format!(
                    "`in` needs an object or an array on its right, found {found}"
                )));
            }
        },
        BinaryOp::Add => add(left, right, budget)?,
        BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            let (left, right) = (to_number(left, budget)?, to_number(right, budget)?);
            Val::Num(calculate(op, left, right).unwrap_or(f64::NAN))
        }
    })
}

/// Arithmetic on two numbers; `None` for operators that are not arithmetic.
fn calculate(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    match op {
        BinaryOp::Add => Some(left + right),
        BinaryOp::Subtract => Some(left - right),
        BinaryOp::Multiply => Some(left * right),
        BinaryOp::Divide => Some(left / right),
        BinaryOp::Remainder => Some(left % right),
        _ => None,
    }
}

fn strict(left: &Val<'_>, right: &Val<'_>, budget: &mut Budget) -> Result<bool, Fault> {
    if let Val::Str(text) = left {
        budget.scan(text.as_str().len())?;
    }
    Ok(strict_equal(left, right))
}

fn add<'a>(left: &Val<'a>, right: &Val<'a>, budget: &mut Budget) -> Result<Val<'a>, Fault> {
    let left = to_primitive(left, budget)?;
    let right = to_primitive(right, budget)?;
    if matches!(left, Val::Str(_)) || matches!(right, Val::Str(_)) {
        let mut out = String::new();
        write_text(&left, &mut out, budget, 0)?;
        write_text(&right, &mut out, budget, 0)?;
        return Ok(Val::Str(out.into()));
    }
    Ok(Val::Num(to_number(&left, budget)? + to_number(&right, budget)?))
}
