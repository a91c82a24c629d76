//! Narrowing: what a condition implies for the paths it compares. After `a === 'x' && …`, `a` is
//! `'x'`.

use super::abstract_ops::{any_nullish, may_become_string, parse_typeof_name, to_numeric_bounds};
use super::abstract_value::{AbstractValue, NumberSet, PlainValue};
use super::analysis::ExprAnalyzer;
use super::ast::{BinaryOp, ExprKind, ExprNode, LogicalOp, UnaryOp};
use super::vocabulary::BuiltinMethod;

/// Facts that currently hold for paths, in the order they were added.
#[derive(Debug, Default)]
pub(super) struct NarrowingFacts {
    facts: Vec<(NarrowedPath, AbstractValue)>,
}

/// Path as written in the source: two equal paths in the same scope have the same value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NarrowedPath {
    base: NarrowedPathBase,
    steps: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NarrowedPathBase {
    Root(usize),
    Local(usize),
}

impl NarrowedPath {
    fn from_node(node: &ExprNode) -> Option<Self> {
        let step = |object: &ExprNode, step: String| {
            let mut key = Self::from_node(object)?;
            key.steps.push(step);
            Some(key)
        };
        match &node.kind {
            ExprKind::Root(slot) => {
                Some(Self { base: NarrowedPathBase::Root(*slot), steps: Vec::new() })
            }
            ExprKind::Local(slot) => {
                Some(Self { base: NarrowedPathBase::Local(*slot), steps: Vec::new() })
            }
            ExprKind::Chain(inner) => Self::from_node(inner),
            ExprKind::Member { object, name, .. } => step(object, name.to_string()),
            ExprKind::Index { object, key, .. } => match &key.kind {
                ExprKind::Str(name) => step(object, name.to_string()),
                ExprKind::Num(number) => step(object, number.to_string()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl NarrowingFacts {
    pub(super) fn depth(&self) -> usize {
        self.facts.len()
    }

    /// Removes the facts added since the given depth.
    pub(super) fn restore_depth(&mut self, depth: usize) {
        self.facts.truncate(depth);
    }

    /// Narrows the possible values of a node by the facts about its path.
    pub(super) fn narrow_node(&self, node: &ExprNode, may: &mut AbstractValue) {
        if let Some(key) = (!self.facts.is_empty()).then(|| NarrowedPath::from_node(node)).flatten()
        {
            self.narrow_path(&key, may);
        }
    }

    /// Narrows the possible values of a parameter by the facts about it.
    pub(super) fn narrow_local(&self, slot: usize, may: &mut AbstractValue) {
        self.narrow_path(
            &NarrowedPath { base: NarrowedPathBase::Local(slot), steps: Vec::new() },
            may,
        );
    }

    fn narrow_path(&self, key: &NarrowedPath, may: &mut AbstractValue) {
        for (_, learnt) in self.facts.iter().filter(|(known, _)| known == key) {
            *may = may.intersection(learnt);
        }
    }

    fn add_fact(&mut self, node: &ExprNode, may: AbstractValue) {
        self.facts.extend(NarrowedPath::from_node(node).map(|key| (key, may)));
    }
}

impl ExprAnalyzer<'_> {
    /// Adds the facts that follow from a condition being truthy or falsy.
    pub(super) fn assume_truth(&mut self, node: &ExprNode, truth: bool) {
        match &node.kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.assume_truth(operand, !truth),
            ExprKind::Logical { op: LogicalOp::And, left, right } if truth => {
                self.assume_truth(left, true);
                self.assume_truth(right, true);
            }
            ExprKind::Logical { op: LogicalOp::Or, left, right } if !truth => {
                self.assume_truth(left, false);
                self.assume_truth(right, false);
            }
            ExprKind::Binary { op, left, right } => self.assume_comparison(*op, left, right, truth),
            ExprKind::MethodCall { object, method: BuiltinMethod::Includes, args, .. } if truth => {
                if let (Some(elements), [arg]) =
                    (self.analyze_list_elements(object), args.as_slice())
                {
                    self.narrowing.add_fact(arg, elements);
                }
            }
            ExprKind::Chain(_)
            | ExprKind::Member { .. }
            | ExprKind::Index { .. }
            | ExprKind::Root(_)
            | ExprKind::Local(_) => {
                let may = self.analyze_node(node).value.filter_truthiness(truth);
                self.narrowing.add_fact(node, may);
            }
            _ => {}
        }
    }

    fn assume_comparison(&mut self, op: BinaryOp, left: &ExprNode, right: &ExprNode, truth: bool) {
        use BinaryOp::{
            Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, StrictEqual,
            StrictNotEqual,
        };
        let (seen_left, seen_right) =
            (self.analyze_node(left).value, self.analyze_node(right).value);
        let equal =
            matches!((op, truth), (StrictEqual | Equal, true) | (StrictNotEqual | NotEqual, false));
        for (one, other) in [(left, right), (right, left)] {
            if let (ExprKind::Unary { op: UnaryOp::TypeOf, operand }, ExprKind::Str(name), true) =
                (&one.kind, &other.kind, equal)
                && let Some(kind) = parse_typeof_name(name)
            {
                let seen = self.analyze_node(operand).value.intersection(&kind);
                self.narrowing.add_fact(operand, seen);
            }
        }
        match (op, truth) {
            (StrictEqual, true) | (StrictNotEqual, false) => {
                let both = seen_left.intersection(&seen_right);
                self.narrowing.add_fact(left, both.clone());
                self.narrowing.add_fact(right, both);
            }
            (StrictEqual, false) | (StrictNotEqual, true) => {
                if let Some(one) = seen_right.as_single() {
                    self.narrowing.add_fact(left, seen_left.without_single(&one));
                } else if let Some(one) = seen_left.as_single() {
                    self.narrowing.add_fact(right, seen_right.without_single(&one));
                }
            }
            (Equal | NotEqual, _) => {
                let equal = (op == Equal) == truth;
                for (node, seen, other) in
                    [(left, &seen_left, &seen_right), (right, &seen_right, &seen_left)]
                {
                    if other.intersection(&any_nullish()) == *other && !other.is_never() {
                        let rest =
                            seen.clone().without_plain(&[PlainValue::Undefined, PlainValue::Null]);
                        let learnt = if equal { seen.intersection(&any_nullish()) } else { rest };
                        self.narrowing.add_fact(node, learnt);
                    }
                }
            }
            (Less | LessOrEqual, true) => self.assume_at_most(left, &seen_left, right, &seen_right),
            (Greater | GreaterOrEqual, true) => {
                self.assume_at_most(right, &seen_right, left, &seen_left);
            }
            _ => {}
        }
    }

    /// Adds the facts that follow from `low` being at most `high`.
    fn assume_at_most(
        &mut self,
        low: &ExprNode,
        seen_low: &AbstractValue,
        high: &ExprNode,
        seen_high: &AbstractValue,
    ) {
        if may_become_string(seen_low) || may_become_string(seen_high) {
            return;
        }
        let (Some((from, _)), Some((_, to))) =
            (to_numeric_bounds(seen_low), to_numeric_bounds(seen_high))
        else {
            return;
        };
        let narrowed = |seen: &AbstractValue, from: f64, to: f64| {
            let range =
                AbstractValue { numbers: NumberSet::Between(from, to), ..AbstractValue::default() };
            let numbers = seen.intersection(&range).numbers;
            AbstractValue { numbers, ..seen.clone() }.without_plain(&[PlainValue::Undefined])
        };
        self.narrowing.add_fact(low, narrowed(seen_low, f64::NEG_INFINITY, to));
        self.narrowing.add_fact(high, narrowed(seen_high, from, f64::INFINITY));
    }
}
