//! What a condition that held tells of the paths it compares: `a === 'x' && …` goes on with `a` as `'x'`.

use super::ast::{BinaryOp, Kind, LogicalOp, Node, UnaryOp};
use super::may::{May, Numbers, Plain};
use super::outlook::Walk;
use super::set_ops::{as_numbers, nullish, typed, worded};
use super::vocabulary::Method;

/// What holds of paths at the moment, in the order it was learnt.
#[derive(Debug, Default)]
pub(super) struct Narrowing {
    learnt: Vec<(Key, May)>,
}

/// A path as it is written: the same text means the same value wherever both are in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    base: Base,
    steps: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root(usize),
    Local(usize),
}

impl Key {
    fn of(node: &Node) -> Option<Self> {
        let step = |object: &Node, step: String| {
            let mut key = Self::of(object)?;
            key.steps.push(step);
            Some(key)
        };
        match &node.kind {
            Kind::Root(slot) => Some(Self { base: Base::Root(*slot), steps: Vec::new() }),
            Kind::Local(slot) => Some(Self { base: Base::Local(*slot), steps: Vec::new() }),
            Kind::Chain(inner) => Self::of(inner),
            Kind::Member { object, name, .. } => step(object, name.to_string()),
            Kind::Index { object, key, .. } => match &key.kind {
                Kind::Str(name) => step(object, name.to_string()),
                Kind::Num(number) => step(object, number.to_string()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Narrowing {
    pub(super) fn depth(&self) -> usize {
        self.learnt.len()
    }

    /// Forgets what was learnt since.
    pub(super) fn back_to(&mut self, depth: usize) {
        self.learnt.truncate(depth);
    }

    /// Narrows what a node may be to what is known of its path.
    pub(super) fn apply(&self, node: &Node, may: &mut May) {
        if let Some(key) = (!self.learnt.is_empty()).then(|| Key::of(node)).flatten() {
            self.apply_to(&key, may);
        }
    }

    /// The same for a parameter itself.
    pub(super) fn apply_to_local(&self, slot: usize, may: &mut May) {
        self.apply_to(&Key { base: Base::Local(slot), steps: Vec::new() }, may);
    }

    fn apply_to(&self, key: &Key, may: &mut May) {
        for (_, learnt) in self.learnt.iter().filter(|(known, _)| known == key) {
            *may = may.and(learnt);
        }
    }

    fn learn(&mut self, node: &Node, may: May) {
        self.learnt.extend(Key::of(node).map(|key| (key, may)));
    }
}

impl Walk<'_> {
    /// Learns from a condition that it counted as true, or as false.
    pub(super) fn assume(&mut self, node: &Node, truth: bool) {
        match &node.kind {
            Kind::Unary { op: UnaryOp::Not, operand } => self.assume(operand, !truth),
            Kind::Logical { op: LogicalOp::And, left, right } if truth => {
                self.assume(left, true);
                self.assume(right, true);
            }
            Kind::Logical { op: LogicalOp::Or, left, right } if !truth => {
                self.assume(left, false);
                self.assume(right, false);
            }
            Kind::Binary { op, left, right } => self.assume_compared(*op, left, right, truth),
            Kind::Method { object, method: Method::Includes, args, .. } if truth => {
                if let (Some(elements), [arg]) = (self.elements_of(object), args.as_slice()) {
                    self.narrowing.learn(arg, elements);
                }
            }
            Kind::Chain(_)
            | Kind::Member { .. }
            | Kind::Index { .. }
            | Kind::Root(_)
            | Kind::Local(_) => {
                let may = self.see(node).may.counting_as(truth);
                self.narrowing.learn(node, may);
            }
            _ => {}
        }
    }

    fn assume_compared(&mut self, op: BinaryOp, left: &Node, right: &Node, truth: bool) {
        use BinaryOp::{
            Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, StrictEqual,
            StrictNotEqual,
        };
        let (seen_left, seen_right) = (self.see(left).may, self.see(right).may);
        let equal =
            matches!((op, truth), (StrictEqual | Equal, true) | (StrictNotEqual | NotEqual, false));
        for (one, other) in [(left, right), (right, left)] {
            if let (Kind::Unary { op: UnaryOp::TypeOf, operand }, Kind::Str(name), true) =
                (&one.kind, &other.kind, equal)
                && let Some(kind) = typed(name)
            {
                let seen = self.see(operand).may.and(&kind);
                self.narrowing.learn(operand, seen);
            }
        }
        match (op, truth) {
            (StrictEqual, true) | (StrictNotEqual, false) => {
                let both = seen_left.and(&seen_right);
                self.narrowing.learn(left, both.clone());
                self.narrowing.learn(right, both);
            }
            (StrictEqual, false) | (StrictNotEqual, true) => {
                if let Some(one) = seen_right.single() {
                    self.narrowing.learn(left, seen_left.minus(&one));
                } else if let Some(one) = seen_left.single() {
                    self.narrowing.learn(right, seen_right.minus(&one));
                }
            }
            (Equal | NotEqual, _) => {
                let equal = (op == Equal) == truth;
                for (node, seen, other) in
                    [(left, &seen_left, &seen_right), (right, &seen_right, &seen_left)]
                {
                    if other.and(&nullish()) == *other && !other.is_never() {
                        let rest = seen.clone().without(&[Plain::Undefined, Plain::Null]);
                        let learnt = if equal { seen.and(&nullish()) } else { rest };
                        self.narrowing.learn(node, learnt);
                    }
                }
            }
            (Less | LessOrEqual, true) => self.assume_below(left, &seen_left, right, &seen_right),
            (Greater | GreaterOrEqual, true) => {
                self.assume_below(right, &seen_right, left, &seen_left);
            }
            _ => {}
        }
    }

    /// Learns that a number is at most another one.
    fn assume_below(&mut self, low: &Node, seen_low: &May, high: &Node, seen_high: &May) {
        if worded(seen_low) || worded(seen_high) {
            return;
        }
        let (Some((from, _)), Some((_, to))) = (as_numbers(seen_low), as_numbers(seen_high)) else {
            return;
        };
        let narrowed = |seen: &May, from: f64, to: f64| {
            let range = May { numbers: Numbers::Between(from, to), ..May::default() };
            let numbers = seen.and(&range).numbers;
            May { numbers, ..seen.clone() }.without(&[Plain::Undefined])
        };
        self.narrowing.learn(low, narrowed(seen_low, f64::NEG_INFINITY, to));
        self.narrowing.learn(high, narrowed(seen_high, from, f64::INFINITY));
    }
}
