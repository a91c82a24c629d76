//! Conditions decided in place: what only has to be true or false need not become a value first.
//!
//! Pure speed: the answer is that of `to_boolean(eval(build_node))`, and the steps are paid all the same.

use serde_json::Value;

use super::ast::{BinaryOp, ExprKind, ExprNode, LogicalOp, UnaryOp};
use super::coerce::to_boolean;
use super::eval::{ExprEvaluator, locate_error};
use super::expr_error::BoxedEvalError;
use super::expr_value::ExprValue;
use super::property::get_own_field;

impl ExprEvaluator<'_, '_> {
    /// Whether the node's value counts as true.
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
                    // The operator and both its sides.
                    self.charge_node(node, 3)?;
                    return Ok(truth);
                }
                Ok(to_boolean(&self.eval(node)?))
            }
            _ => Ok(to_boolean(&self.eval(node)?)),
        }
    }

    /// The string or number that `t` or `t.status` stands for, where no conversion is needed to see it.
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

/// An operand seen where it lies.
enum ScalarOperand<'v> {
    Text(&'v str),
    Number(f64),
}

/// Compares an operand with a literal of its own kind; `Empty` where a conversion or a value is needed.
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
