//! Conditions decided in place: what only has to be true or false need not become a value first.
//!
//! Pure speed: the answer is that of `to_boolean(eval(node))`, and the steps are paid all the same.

use serde_json::Value;

use super::ast::{BinaryOp, Kind, LogicalOp, Node, UnaryOp};
use super::coerce::to_boolean;
use super::error::Failure;
use super::eval::{Evaluation, located};
use super::property::own;
use super::value::Val;

impl<'a> Evaluation<'_, 'a> {
    /// Whether the node's value counts as true.
    pub(super) fn truth(&mut self, node: &Node) -> Result<bool, Failure> {
        match &node.kind {
            Kind::Logical { op: LogicalOp::And, left, right } => {
                self.pay(node, 1)?;
                Ok(self.truth(left)? && self.truth(right)?)
            }
            Kind::Logical { op: LogicalOp::Or, left, right } => {
                self.pay(node, 1)?;
                Ok(self.truth(left)? || self.truth(right)?)
            }
            Kind::Unary { op: UnaryOp::Not, operand } => {
                self.pay(node, 1)?;
                Ok(!self.truth(operand)?)
            }
            Kind::Binary { op, left, right } => {
                if let Some(field) = self.field_in_place(left)
                    && let Some(truth) = compare_in_place(*op, field, &right.kind)
                {
                    // The operator, the field and the name it is read from.
                    self.pay(node, 3)?;
                    return Ok(truth);
                }
                Ok(to_boolean(&self.eval(node)?))
            }
            _ => Ok(to_boolean(&self.eval(node)?)),
        }
    }

    /// The field that `t.status` reads, where `t` is an object of the state and has it.
    fn field_in_place(&self, node: &Node) -> Option<&'a Value> {
        let Kind::Member { object, name, .. } = &node.kind else { return None };
        let Kind::Local(slot) = object.kind else { return None };
        match &self.locals[slot] {
            Val::Json(Value::Object(map)) => own(map, name),
            _ => None,
        }
    }

    fn pay(&mut self, node: &Node, steps: usize) -> Result<(), Failure> {
        self.budget.work(steps).map_err(|fault| located(node, fault))
    }
}

/// Compares a field with a literal of its own kind; `None` where a conversion or a value is needed.
fn compare_in_place(op: BinaryOp, field: &Value, literal: &Kind) -> Option<bool> {
    match (field, literal) {
        (Value::String(field), Kind::Str(literal)) => match op {
            BinaryOp::StrictEqual | BinaryOp::Equal => Some(**field == **literal),
            BinaryOp::StrictNotEqual | BinaryOp::NotEqual => Some(**field != **literal),
            _ => None,
        },
        (Value::Number(field), Kind::Num(literal)) => {
            let field = field.as_f64()?;
            match op {
                BinaryOp::StrictEqual | BinaryOp::Equal => Some(field == *literal),
                BinaryOp::StrictNotEqual | BinaryOp::NotEqual => Some(field != *literal),
                BinaryOp::Less => Some(field < *literal),
                BinaryOp::LessOrEqual => Some(field <= *literal),
                BinaryOp::Greater => Some(field > *literal),
                BinaryOp::GreaterOrEqual => Some(field >= *literal),
                _ => None,
            }
        }
        _ => None,
    }
}
