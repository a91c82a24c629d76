//! Evaluates the tree over borrowed roots. An error contains the position of the failed operation.
//!
//! The state is not copied: locals are slots, elements are references, and only the values that an
//! expression creates (a joined string, a filtered list) are allocated and charged to the budget.
//! Rare operations are not inlined: `eval` runs for every node, so its stack frame must stay small.

use serde_json::{Map, Value};

use super::ast::{BinaryOp, ExprKind, ExprNode, LogicalOp, UnaryOp};
use super::builtins;
use super::coerce::{
    append_value, compare_values, is_loosely_equal, is_strictly_equal, to_boolean, to_expr_string,
    to_integer, to_number, to_primitive,
};
use super::eval_budget::EvalBudget;
use super::expr_error::{BoxedEvalError, UnlocatedError};
use super::expr_string::ExprString;
use super::expr_value::{ArrayElements, ExprValue};
use super::js_number::to_radix_string;
use super::methods::{array_methods, string_methods};
use super::property::{self, PropertyKey, get_own_field};
use super::vocabulary::{BuiltinFunction, BuiltinMethod};

/// Value of a node, or an error with its position.
pub(super) type EvalResult<'a> = Result<ExprValue<'a>, BoxedEvalError>;

/// State of one evaluation.
pub(super) struct ExprEvaluator<'e, 'a> {
    source: &'e str,
    roots: &'e [Option<&'a Value>],
    pub(super) locals: Vec<ExprValue<'a>>,
    pub(super) budget: EvalBudget,
}

impl<'e, 'a> ExprEvaluator<'e, 'a> {
    pub(super) fn new(
        source: &'e str,
        roots: &'e [Option<&'a Value>],
        locals: usize,
    ) -> ExprEvaluator<'e, 'a> {
        let locals = vec![ExprValue::Undefined; locals];
        ExprEvaluator { source, roots, locals, budget: EvalBudget::new() }
    }

    pub(super) fn eval(&mut self, node: &ExprNode) -> EvalResult<'a> {
        self.budget.charge_steps(1).map_err(|fault| locate_error(node, fault))?;
        match &node.kind {
            ExprKind::Undefined => Ok(ExprValue::Undefined),
            ExprKind::Null => Ok(ExprValue::Null),
            ExprKind::Bool(truth) => Ok(ExprValue::Bool(*truth)),
            ExprKind::Num(number) => Ok(ExprValue::Num(*number)),
            ExprKind::Str(text) => Ok(ExprValue::Str(ExprString::Shared(text.clone()))),
            ExprKind::Local(slot) => Ok(self.locals[*slot].clone()),
            ExprKind::Root(slot) => self.eval_root(node, *slot),
            ExprKind::Member { object, name, .. } => self.eval_member(node, object, name),
            ExprKind::Index { object, key, .. } => {
                let value = self.eval(object)?;
                self.eval_index(node, &value, object, key)
            }
            ExprKind::Binary { op, left, right } => self.eval_binary(node, *op, left, right),
            ExprKind::Logical { op, left, right } => self.eval_logical(*op, left, right),
            ExprKind::Unary { op, operand } => self.eval_unary(node, *op, operand),
            ExprKind::Conditional { condition, then, otherwise } => {
                let branch = if self.eval_condition(condition)? { then } else { otherwise };
                self.eval(branch)
            }
            ExprKind::MethodCall { object, method, args, .. } => {
                let value = self.eval(object)?;
                self.eval_method(node, &value, object, *method, args)
            }
            ExprKind::CallbackCall { object, method: each, callback, initial, .. } => {
                let value = self.eval(object)?;
                self.eval_callback_method(node, &value, object, *each, callback, initial.as_deref())
            }
            ExprKind::BuiltinCall { builtin, args } => self.eval_builtin(node, *builtin, args),
            ExprKind::Chain(inner) => {
                Ok(self.eval_chain_link(inner)?.unwrap_or(ExprValue::Undefined))
            }
            ExprKind::Template { chunks, parts } => self.eval_template(node, chunks, parts),
            ExprKind::Array(items) => self.eval_array(node, items),
            ExprKind::Object(entries) => self.eval_object(node, entries),
            ExprKind::TextMatches { subject, pattern } => {
                self.eval_text_matches(node, subject, pattern)
            }
        }
    }

    #[inline(never)]
    fn eval_builtin(
        &mut self,
        node: &ExprNode,
        builtin: BuiltinFunction,
        args: &[ExprNode],
    ) -> EvalResult<'a> {
        // One argument is the most common number, and needs no allocation.
        let called = match args {
            [only] => {
                let only = [self.eval(only)?];
                builtins::call_builtin(builtin, &only, &mut self.budget)
            }
            _ => builtins::call_builtin(builtin, &self.eval_all(args)?, &mut self.budget),
        };
        called.map_err(|fault| locate_error(node, fault))
    }

    /// Evaluates one link of a chain that contains `?.`. Returns `None` if the chain
    /// short-circuits.
    #[inline(never)]
    fn eval_chain_link(
        &mut self,
        node: &ExprNode,
    ) -> Result<Option<ExprValue<'a>>, BoxedEvalError> {
        let (ExprKind::Member { object, optional, .. }
        | ExprKind::Index { object, optional, .. }
        | ExprKind::MethodCall { object, optional, .. }
        | ExprKind::CallbackCall { object, optional, .. }) = &node.kind
        else {
            return self.eval(node).map(Some);
        };
        self.budget.charge_steps(1).map_err(|fault| locate_error(node, fault))?;
        let Some(value) = self.eval_chain_link(object)? else { return Ok(None) };
        if *optional && value.is_nullish() {
            return Ok(None);
        }
        match &node.kind {
            ExprKind::Member { name, .. } => self.read_property(node, &value, object, name),
            ExprKind::Index { key, .. } => self.eval_index(node, &value, object, key),
            ExprKind::MethodCall { method, args, .. } => {
                self.eval_method(node, &value, object, *method, args)
            }
            ExprKind::CallbackCall { method: each, callback, initial, .. } => {
                self.eval_callback_method(node, &value, object, *each, callback, initial.as_deref())
            }
            _ => Ok(value),
        }
        .map(Some)
    }

    fn eval_root(&self, node: &ExprNode, slot: usize) -> EvalResult<'a> {
        if let Some(Some(value)) = self.roots.get(slot) {
            return Ok(ExprValue::from_json(value));
        }
        let name = self.source_text(node);
        Err(locate_error(node, UnlocatedError::new(format!("`{name}` has no value here"))))
    }

    fn eval_member(&mut self, node: &ExprNode, object: &ExprNode, name: &str) -> EvalResult<'a> {
        // The most common form, `t.status`, is read in place, without cloning the local.
        if let ExprKind::Local(slot) = object.kind {
            self.budget.charge_steps(1).map_err(|fault| locate_error(node, fault))?;
            let value = &self.locals[slot];
            if !value.is_nullish() {
                return property::read_named(value, name, &mut self.budget)
                    .map_err(|fault| locate_error(node, fault));
            }
            return Err(self.nullish_read_error(node, &value.clone(), object, name));
        }
        // `reply.patch.ops` needs no value for each link.
        if matches!(object.kind, ExprKind::Root(_) | ExprKind::Member { .. })
            && let Some((parent, links)) = self.find_json_object(object)
            && let Some(found) = get_own_field(parent, name)
        {
            self.budget.charge_steps(links).map_err(|fault| locate_error(node, fault))?;
            return Ok(ExprValue::from_json(found));
        }
        let value = self.eval(object)?;
        self.read_property(node, &value, object, name)
    }

    /// Follows a path of fields from a root. Returns the object at its end and the number of links,
    /// or `None` if a link is anything but an own field that holds an object.
    fn find_json_object(&self, node: &ExprNode) -> Option<(&'a Map<String, Value>, usize)> {
        let (value, links) = match &node.kind {
            ExprKind::Root(slot) => (self.roots.get(*slot).copied().flatten()?, 1),
            ExprKind::Member { object, name, .. } => {
                let (parent, links) = self.find_json_object(object)?;
                (get_own_field(parent, name)?, links + 1)
            }
            _ => return None,
        };
        value.as_object().map(|object| (object, links))
    }

    fn read_property(
        &mut self,
        node: &ExprNode,
        value: &ExprValue<'a>,
        object: &ExprNode,
        name: &str,
    ) -> EvalResult<'a> {
        if value.is_nullish() {
            return Err(self.nullish_read_error(node, value, object, name));
        }
        property::read_named(value, name, &mut self.budget)
            .map_err(|fault| locate_error(node, fault))
    }

    fn eval_index(
        &mut self,
        node: &ExprNode,
        value: &ExprValue<'a>,
        object: &ExprNode,
        key: &ExprNode,
    ) -> EvalResult<'a> {
        let key_value = self.eval(key)?;
        if value.is_nullish() {
            return Err(self.nullish_read_error(node, value, object, self.source_text(key)));
        }
        PropertyKey::from_value(&key_value, &mut self.budget)
            .and_then(|key| property::read_keyed(value, &key, &mut self.budget))
            .map_err(|fault| locate_error(node, fault))
    }

    #[inline(never)]
    fn eval_method(
        &mut self,
        node: &ExprNode,
        value: &ExprValue<'a>,
        object: &ExprNode,
        method: BuiltinMethod,
        args: &[ExprNode],
    ) -> EvalResult<'a> {
        if value.is_nullish() {
            return Err(self.missing_method_error(node, value, object, method.name()));
        }
        let (only, list);
        let args: &[ExprValue<'a>] = match args {
            [arg] => {
                only = [self.eval(arg)?];
                &only
            }
            _ => {
                list = self.eval_all(args)?;
                &list
            }
        };
        let budget = &mut self.budget;
        let called = match (ArrayElements::from_value(value), value) {
            _ if method == BuiltinMethod::ToString => call_to_string(value, args, budget).map(Some),
            (Some(elements), _) => {
                array_methods::call_array_method(&elements, method, args, budget)
            }
            (None, ExprValue::Str(text)) => {
                string_methods::call_string_method(text, method, args, budget)
            }
            _ => Ok(None),
        };
        match called {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(self.missing_method_error(node, value, object, method.name())),
            Err(fault) => Err(locate_error(node, fault)),
        }
    }

    fn eval_binary(
        &mut self,
        node: &ExprNode,
        op: BinaryOp,
        left: &ExprNode,
        right: &ExprNode,
    ) -> EvalResult<'a> {
        let left = self.eval(left)?;
        // A literal is compared in place, without incrementing a reference count.
        if let (ExprKind::Str(literal), BinaryOp::StrictEqual | BinaryOp::StrictNotEqual) =
            (&right.kind, op)
        {
            let equal = matches!(&left, ExprValue::Str(text) if text.as_str() == &**literal);
            return Ok(ExprValue::Bool(equal == (op == BinaryOp::StrictEqual)));
        }
        let right = self.eval(right)?;
        if let (ExprValue::Num(left), ExprValue::Num(right)) = (&left, &right)
            && let Some(sum) = apply_arithmetic(op, *left, *right)
        {
            return Ok(ExprValue::Num(sum));
        }
        apply_operator(op, &left, &right, &mut self.budget)
            .map_err(|fault| locate_error(node, fault))
    }

    fn eval_logical(&mut self, op: LogicalOp, left: &ExprNode, right: &ExprNode) -> EvalResult<'a> {
        let left = self.eval(left)?;
        let decided = match op {
            LogicalOp::And => !to_boolean(&left),
            LogicalOp::Or => to_boolean(&left),
            LogicalOp::Coalesce => !left.is_nullish(),
        };
        if decided { Ok(left) } else { self.eval(right) }
    }

    #[inline(never)]
    fn eval_unary(&mut self, node: &ExprNode, op: UnaryOp, operand: &ExprNode) -> EvalResult<'a> {
        let value = self.eval(operand)?;
        let number = match op {
            UnaryOp::Not => return Ok(ExprValue::Bool(!to_boolean(&value))),
            UnaryOp::TypeOf => {
                return Ok(ExprValue::Str(ExprString::Borrowed(typeof_name(&value))));
            }
            UnaryOp::Plus | UnaryOp::Minus => to_number(&value, &mut self.budget),
        };
        let number = number.map_err(|fault| locate_error(node, fault))?;
        Ok(ExprValue::Num(if op == UnaryOp::Minus { -number } else { number }))
    }

    #[inline(never)]
    fn eval_template(
        &mut self,
        node: &ExprNode,
        chunks: &[Box<str>],
        parts: &[ExprNode],
    ) -> EvalResult<'a> {
        let mut out = String::new();
        for (index, chunk) in chunks.iter().enumerate() {
            self.budget.charge_bytes(chunk.len()).map_err(|fault| locate_error(node, fault))?;
            out.push_str(chunk);
            if let Some(part) = parts.get(index) {
                let value = self.eval(part)?;
                append_value(&value, &mut out, &mut self.budget, 0)
                    .map_err(|fault| locate_error(part, fault))?;
            }
        }
        Ok(ExprValue::Str(out.into()))
    }

    fn eval_all(&mut self, nodes: &[ExprNode]) -> Result<Vec<ExprValue<'a>>, BoxedEvalError> {
        nodes.iter().map(|node| self.eval(node)).collect()
    }

    fn source_text(&self, node: &ExprNode) -> &'e str {
        self.source.get(node.span.range()).unwrap_or_default()
    }

    #[cold]
    fn nullish_read_error(
        &self,
        node: &ExprNode,
        value: &ExprValue<'_>,
        object: &ExprNode,
        name: &str,
    ) -> BoxedEvalError {
        let path = self.source_text(object);
        let found = value.describe();
        locate_error(
            node,
            UnlocatedError::new(format!("`{path}` is {found}, so `{name}` cannot be read from it")),
        )
    }

    #[cold]
    pub(super) fn missing_method_error(
        &self,
        node: &ExprNode,
        value: &ExprValue<'_>,
        object: &ExprNode,
        name: &str,
    ) -> BoxedEvalError {
        let path = self.source_text(object);
        let found = value.describe();
        locate_error(
            node,
            UnlocatedError::new(format!("`{path}` is {found}, so `{name}` cannot be called on it")),
        )
    }
}

/// Returns the result of `typeof`.
pub(super) fn typeof_name(value: &ExprValue<'_>) -> &'static str {
    match value {
        ExprValue::Undefined => "undefined",
        ExprValue::Bool(_) => "boolean",
        ExprValue::Num(_) => "number",
        ExprValue::Str(_) => "string",
        ExprValue::Null | ExprValue::Json(_) | ExprValue::List(_) | ExprValue::Object(_) => {
            "object"
        }
    }
}

/// Evaluates `value.toString()`; for a number also with a base.
fn call_to_string<'a>(
    value: &ExprValue<'a>,
    args: &[ExprValue<'a>],
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    if let (ExprValue::Num(number), Some(base)) = (value, args.first())
        && !matches!(base, ExprValue::Undefined)
    {
        let base = to_integer(base, budget)?;
        return ExprValue::new_string(to_radix_string(*number, base)?, budget);
    }
    Ok(ExprValue::Str(to_expr_string(value, budget)?))
}

/// Adds the position of the node to an error.
#[cold]
pub(super) fn locate_error(node: &ExprNode, fault: UnlocatedError) -> BoxedEvalError {
    fault.with_span(node.span.range())
}

#[inline(never)]
fn apply_operator<'a>(
    op: BinaryOp,
    left: &ExprValue<'a>,
    right: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    Ok(match op {
        BinaryOp::StrictEqual => ExprValue::Bool(compare_strictly(left, right, budget)?),
        BinaryOp::StrictNotEqual => ExprValue::Bool(!compare_strictly(left, right, budget)?),
        BinaryOp::Equal => ExprValue::Bool(is_loosely_equal(left, right, budget)?),
        BinaryOp::NotEqual => ExprValue::Bool(!is_loosely_equal(left, right, budget)?),
        BinaryOp::Less => ExprValue::Bool(
            compare_values(left, right, budget)?.is_some_and(std::cmp::Ordering::is_lt),
        ),
        BinaryOp::LessOrEqual => ExprValue::Bool(
            compare_values(left, right, budget)?.is_some_and(std::cmp::Ordering::is_le),
        ),
        BinaryOp::Greater => ExprValue::Bool(
            compare_values(left, right, budget)?.is_some_and(std::cmp::Ordering::is_gt),
        ),
        BinaryOp::GreaterOrEqual => ExprValue::Bool(
            compare_values(left, right, budget)?.is_some_and(std::cmp::Ordering::is_ge),
        ),
        BinaryOp::In => match right {
            ExprValue::Json(_) | ExprValue::List(_) | ExprValue::Object(_) => ExprValue::Bool(
                property::has_property(right, &PropertyKey::from_value(left, budget)?),
            ),
            _ => {
                let found = right.describe();
                return Err(UnlocatedError::new(format!(
                    "`in` needs an object or an array on its right, found {found}"
                )));
            }
        },
        BinaryOp::Add => add_values(left, right, budget)?,
        BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            let (left, right) = (to_number(left, budget)?, to_number(right, budget)?);
            ExprValue::Num(apply_arithmetic(op, left, right).unwrap_or(f64::NAN))
        }
    })
}

/// Applies arithmetic to two numbers. Returns `None` if the operator is not arithmetic.
fn apply_arithmetic(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    match op {
        BinaryOp::Add => Some(left + right),
        BinaryOp::Subtract => Some(left - right),
        BinaryOp::Multiply => Some(left * right),
        BinaryOp::Divide => Some(left / right),
        BinaryOp::Remainder => Some(left % right),
        _ => None,
    }
}

fn compare_strictly(
    left: &ExprValue<'_>,
    right: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<bool, UnlocatedError> {
    if let ExprValue::Str(text) = left {
        budget.charge_scan(text.as_str().len())?;
    }
    Ok(is_strictly_equal(left, right))
}

fn add_values<'a>(
    left: &ExprValue<'a>,
    right: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let left = to_primitive(left, budget)?;
    let right = to_primitive(right, budget)?;
    if matches!(left, ExprValue::Str(_)) || matches!(right, ExprValue::Str(_)) {
        let mut out = String::new();
        append_value(&left, &mut out, budget, 0)?;
        append_value(&right, &mut out, budget, 0)?;
        return Ok(ExprValue::Str(out.into()));
    }
    Ok(ExprValue::Num(to_number(&left, budget)? + to_number(&right, budget)?))
}
