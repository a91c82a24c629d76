//! Evaluates conditions in place, without creating a value that is only tested for truth.
//!
//! This is an optimization only: the result equals `to_boolean(eval(node))`, and the budget is
//! charged for the same steps.

use serde_json::Value;

use super::ast::{BinaryOp, ExprKind, ExprNode, LogicalOp, UnaryOp};
use super::coerce::to_boolean;
use super::eval::{ExprEvaluator, locate_error};
use super::expr_error::BoxedEvalError;
use super::expr_value::ExprValue;
use super::property::get_own_field;

impl ExprEvaluator<'_, '_> {
    /// Returns whether the value of the node is truthy.
    pub(super) fn eval_condition(&mut self, node: &ExprNode) -> Result<bool, BoxedEvalError> {
        match &node.kind {
            ExprKind::Logical { op: LogicalOp::And, left, right } => {
                self.charge_node(node, 1)?;
                Ok(self.eval_condition(left)? && self.eval_condition(right)?)
            }
            ExprKind::Logical { op: LogicalOp::Or, left, right } => {
                self.charge_node(node, 1)?;
                Ok(self.eval_condition(left)? || self.eval_condition(right)?)
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.charge_node(node, 1)?;
                Ok(!self.eval_condition(operand)?)
            }
            ExprKind::Binary { op, left, right } => {
                if let Some(seen) = self.peek_scalar(left)
                    && let Some(truth) = compare_in_place(*op, &seen, &right.kind)
                {
                    // The operator and both operands.
                    self.charge_node(node, 3)?;
                    return Ok(truth);
                }
                Ok(to_boolean(&self.eval(node)?))
            }
            _ => Ok(to_boolean(&self.eval(node)?)),
        }
    }

    /// Returns the string or number of `t` or `t.status`, if it needs no conversion.
    fn peek_scalar(&self, node: &ExprNode) -> Option<ScalarOperand<'_>> {
        match &node.kind {
            ExprKind::Local(slot) => match &self.locals[*slot] {
                ExprValue::Str(text) => Some(ScalarOperand::Text(text.as_str())),
                ExprValue::Num(number) => Some(ScalarOperand::Number(*number)),
                _ => None,
            },
            ExprKind::Member { object, name, .. } => {
                let ExprKind::Local(slot) = object.kind else { return None };
                match get_own_field(self.locals[slot].as_object()?, name)? {
                    Value::String(text) => Some(ScalarOperand::Text(text)),
                    Value::Number(number) => number.as_f64().map(ScalarOperand::Number),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn charge_node(&mut self, node: &ExprNode, steps: usize) -> Result<(), BoxedEvalError> {
        self.budget.charge_steps(steps).map_err(|fault| locate_error(node, fault))
    }
}

/// Operand that is read in place.
enum ScalarOperand<'v> {
    Text(&'v str),
    Number(f64),
}

/// Compares an operand with a literal of the same type. Returns `None` if a conversion or a value
/// is needed.
fn compare_in_place(op: BinaryOp, seen: &ScalarOperand<'_>, literal: &ExprKind) -> Option<bool> {
    match (seen, literal) {
        (ScalarOperand::Text(text), ExprKind::Str(literal)) => match op {
            BinaryOp::StrictEqual | BinaryOp::Equal => Some(**text == **literal),
            BinaryOp::StrictNotEqual | BinaryOp::NotEqual => Some(**text != **literal),
            _ => None,
        },
        (ScalarOperand::Number(number), ExprKind::Num(literal)) => match op {
            BinaryOp::StrictEqual | BinaryOp::Equal => Some(number == literal),
            BinaryOp::StrictNotEqual | BinaryOp::NotEqual => Some(number != literal),
            BinaryOp::Less => Some(number < literal),
            BinaryOp::LessOrEqual => Some(number <= literal),
            BinaryOp::Greater => Some(number > literal),
            BinaryOp::GreaterOrEqual => Some(number >= literal),
            _ => None,
        },
        _ => None,
    }
}
