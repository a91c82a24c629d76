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

impl Evaluation<'_, '_> {
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
                if let Some(seen) = self.see(left)
                    && let Some(truth) = compare_in_place(*op, &seen, &right.kind)
                {
                    // The operator and both its sides.
                    self.pay(node, 3)?;
                    return Ok(truth);
                }
                Ok(to_boolean(&self.eval(node)?))
            }
            _ => Ok(to_boolean(&self.eval(node)?)),
        }
    }

    /// The string or number that `t` or `t.status` stands for, where no conversion is needed to see it.
    fn see(&self, node: &Node) -> Option<Seen<'_>> {
        match &node.kind {
            Kind::Local(slot) => match &self.locals[*slot] {
                Val::Str(text) => Some(Seen::Text(text.as_str())),
                Val::Num(number) => Some(Seen::Number(*number)),
                _ => None,
            },
            Kind::Member { object, name, .. } => {
                let Kind::Local(slot) = object.kind else { return None };
                match own(self.locals[slot].as_object()?, name)? {
                    Value::String(text) => Some(Seen::Text(text)),
                    Value::Number(number) => number.as_f64().map(Seen::Number),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn pay(&mut self, node: &Node, steps: usize) -> Result<(), Failure> {
        self.budget.work(steps).map_err(|fault| located(node, fault))
    }
}

/// An operand seen where it lies.
enum Seen<'v> {
    Text(&'v str),
    Number(f64),
}

/// Compares an operand with a literal of its own kind; `None` where a conversion or a value is needed.
fn compare_in_place(op: BinaryOp, seen: &Seen<'_>, literal: &Kind) -> Option<bool> {
    match (seen, literal) {
        (Seen::Text(text), Kind::Str(literal)) => match op {
            BinaryOp::StrictEqual | BinaryOp::Equal => Some(**text == **literal),
            BinaryOp::StrictNotEqual | BinaryOp::NotEqual => Some(**text != **literal),
            _ => None,
        },
        (Seen::Number(number), Kind::Num(literal)) => match op {
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
