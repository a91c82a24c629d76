//! Static analysis: the possible values of an expression, from what is known about its roots.
//!
//! The result is for analysis only and has no effect on evaluation. It contains every value that an
//! evaluation can produce; an evaluation that fails produces none.

use std::ops::Range;

use super::abstract_ops::{
    any_nullish, apply_binary, apply_builtin, apply_unary, compute_lengths, may_be_nullish,
    number_at_least,
};
use super::abstract_value::{AbstractValue, NumberSet, PlainValue, StringSet};
use super::ast::{
    ArrayLiteralItem, BinaryOp, ExprCallback, ExprKind, ExprNode, LogicalOp, ObjectLiteralEntry,
    ParamPattern,
};
use super::narrowing::NarrowingFacts;
use super::read_paths::ReadStep;
use super::vocabulary::{BuiltinMethod, CallbackMethod};

/// Returns what is known about the value at a path of a root. The arguments are the root's slot and
/// the steps.
pub type TypeEnv<'k> = &'k dyn Fn(usize, &[ReadStep]) -> AbstractValue;

/// Result of analyzing an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Possible values of the expression.
    pub value: AbstractValue,
    /// Comparisons that are false for every value of the roots, at most 100.
    pub unsatisfiable: Vec<UnsatisfiableComparison>,
}

/// Comparison that can never be true.
#[derive(Debug, Clone, PartialEq)]
pub struct UnsatisfiableComparison {
    /// Byte range of the comparison in the source.
    pub span: Range<usize>,
    /// Byte range of its left side.
    pub left_span: Range<usize>,
    /// Byte range of its right side.
    pub right_span: Range<usize>,
    /// Possible values of its left side.
    pub left: AbstractValue,
    /// Possible values of its right side.
    pub right: AbstractValue,
}

/// Maximum number of visited operations, including repeated visits. Later ones may have any value.
const MAX_STEPS: usize = 20_000;

/// Maximum number of unsatisfiable comparisons that are reported.
const MAX_UNSATISFIABLE: usize = 100;

/// Analyzes an expression with `locals` local slots.
pub(super) fn analyze_expr(root: &ExprNode, locals: usize, known: TypeEnv<'_>) -> Analysis {
    let locals = vec![AnalyzedValue::new(AbstractValue::any()); locals];
    let narrowing = NarrowingFacts::default();
    let mut walk =
        ExprAnalyzer { type_env: known, locals, narrowing, unsatisfiable: Vec::new(), steps: 0 };
    let may = walk.analyze_node(root).value;
    Analysis { value: may, unsatisfiable: walk.unsatisfiable }
}

pub(super) struct ExprAnalyzer<'k> {
    type_env: TypeEnv<'k>,
    locals: Vec<AnalyzedValue>,
    pub(super) narrowing: NarrowingFacts,
    unsatisfiable: Vec<UnsatisfiableComparison>,
    steps: usize,
}

/// Value under analysis: its possible values, its path, and its possible elements.
#[derive(Debug, Clone)]
pub(super) struct AnalyzedValue {
    pub(super) value: AbstractValue,
    path: Option<(usize, Vec<ReadStep>)>,
    element: Option<Box<AnalyzedValue>>,
}

impl AnalyzedValue {
    fn new(value: AbstractValue) -> Self {
        Self { value, path: None, element: None }
    }
}

impl ExprAnalyzer<'_> {
    pub(super) fn analyze_node(&mut self, node: &ExprNode) -> AnalyzedValue {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return AnalyzedValue::new(AbstractValue::any());
        }
        let mut seen = self.analyze_kind(node);
        self.narrowing.narrow_node(node, &mut seen.value);
        seen
    }

    fn read_path(&self, slot: usize, steps: Vec<ReadStep>) -> AnalyzedValue {
        AnalyzedValue {
            value: (self.type_env)(slot, &steps),
            path: Some((slot, steps)),
            element: None,
        }
    }

    fn analyze_kind(&mut self, node: &ExprNode) -> AnalyzedValue {
        match &node.kind {
            ExprKind::Undefined => {
                AnalyzedValue::new(AbstractValue::from_plain(PlainValue::Undefined))
            }
            ExprKind::Null => AnalyzedValue::new(AbstractValue::from_plain(PlainValue::Null)),
            ExprKind::Bool(truth) => {
                AnalyzedValue::new(AbstractValue::from_booleans(*truth, !truth))
            }
            ExprKind::Num(number) => AnalyzedValue::new(AbstractValue {
                numbers: NumberSet::from_number(*number),
                ..AbstractValue::default()
            }),
            ExprKind::Str(text) => AnalyzedValue::new(AbstractValue {
                strings: StringSet::OneOf([text.to_string()].into()),
                ..AbstractValue::default()
            }),
            ExprKind::Template { parts, .. } => {
                for part in parts {
                    self.analyze_node(part);
                }
                AnalyzedValue::new(AbstractValue::any_string())
            }
            ExprKind::Array(items) => self.analyze_array(items),
            // Fields of created objects are not tracked: reading one may produce any value.
            ExprKind::Object(entries) => {
                for node in entries.iter().flat_map(ObjectLiteralEntry::nodes) {
                    self.analyze_node(node);
                }
                AnalyzedValue::new(AbstractValue::from_plain(PlainValue::Object))
            }
            ExprKind::TextMatches { subject, .. } => {
                self.analyze_node(subject);
                AnalyzedValue::new(AbstractValue::from_booleans(true, true))
            }
            ExprKind::Root(slot) => self.read_path(*slot, Vec::new()),
            ExprKind::Local(slot) => self.locals[*slot].clone(),
            ExprKind::Member { object, name, optional } => {
                let object = self.analyze_node(object);
                self.analyze_member(&object, name, *optional)
            }
            ExprKind::Index { object, key, optional } => {
                let object = self.analyze_node(object);
                match &key.kind {
                    ExprKind::Str(name) => self.analyze_member(&object, name, *optional),
                    _ => {
                        self.analyze_node(key);
                        self.analyze_index(&object, *optional)
                    }
                }
            }
            ExprKind::MethodCall { object, method, args, .. } => {
                let object = self.analyze_node(object);
                let args: Vec<AnalyzedValue> =
                    args.iter().map(|arg| self.analyze_node(arg)).collect();
                self.analyze_method(&object, *method, &args)
            }
            ExprKind::CallbackCall { object, method: each, callback, initial, .. } => {
                let list = self.analyze_node(object);
                if let Some(initial) = initial {
                    self.analyze_node(initial);
                }
                self.analyze_callback_method(&list, *each, callback)
            }
            ExprKind::BuiltinCall { builtin, args } => {
                let args: Vec<AnalyzedValue> =
                    args.iter().map(|arg| self.analyze_node(arg)).collect();
                AnalyzedValue::new(apply_builtin(*builtin, args.first().map(|arg| &arg.value)))
            }
            // A short circuit anywhere in the chain makes its value undefined.
            ExprKind::Chain(inner) => {
                let mut seen = self.analyze_node(inner);
                seen.value = seen.value.union(&AbstractValue::from_plain(PlainValue::Undefined));
                seen
            }
            ExprKind::Unary { op, operand } => {
                let may = self.analyze_node(operand).value;
                AnalyzedValue::new(apply_unary(*op, &may))
            }
            ExprKind::Binary { op, left, right } => {
                AnalyzedValue::new(self.analyze_binary(node, *op, left, right))
            }
            ExprKind::Logical { op, left, right } => self.analyze_logical(*op, left, right),
            ExprKind::Conditional { condition, then, otherwise } => {
                let decided = self.analyze_node(condition).value;
                let mut all = AbstractValue::default();
                for (truth, branch) in [(true, then), (false, otherwise)] {
                    if !decided.filter_truthiness(truth).is_never() {
                        let may = self.analyze_assuming(condition, truth, branch).value;
                        all = all.union(&may);
                    }
                }
                AnalyzedValue::new(all)
            }
        }
    }

    /// Analyzes a node under the assumption that `condition` is truthy or falsy.
    fn analyze_assuming(
        &mut self,
        condition: &ExprNode,
        truth: bool,
        node: &ExprNode,
    ) -> AnalyzedValue {
        let before = self.narrowing.depth();
        self.assume_truth(condition, truth);
        let seen = self.analyze_node(node);
        self.narrowing.restore_depth(before);
        seen
    }

    fn analyze_array(&mut self, items: &[ArrayLiteralItem]) -> AnalyzedValue {
        let (mut least, mut most) = (0_usize, 0_usize);
        let mut element = AbstractValue::default();
        for item in items {
            let (from, to, held) = match item {
                ArrayLiteralItem::Element(node) => (1, 1, self.analyze_node(node).value),
                ArrayLiteralItem::Spread(node) => self.analyze_spread(node),
            };
            least = least.saturating_add(from);
            most = most.saturating_add(to);
            element = element.union(&held);
        }
        let may = AbstractValue::list_of_length(least, most);
        AnalyzedValue {
            value: may,
            path: None,
            element: Some(Box::new(AnalyzedValue::new(element))),
        }
    }

    /// Returns the minimum and maximum number of elements of a spread, and their possible values.
    fn analyze_spread(&mut self, node: &ExprNode) -> (usize, usize, AbstractValue) {
        let seen = self.analyze_node(node);
        match seen.value.list_lengths {
            // A string is split into its characters; spreading any other value fails.
            Some((least, most)) if seen.value.strings == StringSet::Empty => {
                (least, most, self.analyze_element(&seen).value)
            }
            _ => (0, usize::MAX, AbstractValue::any()),
        }
    }

    fn analyze_member(&self, object: &AnalyzedValue, name: &str, optional: bool) -> AnalyzedValue {
        let held = &object.value;
        let mut may = AbstractValue::default();
        if name == "length" {
            may.numbers = compute_lengths(held);
        }
        let mut path = None;
        if held.has_plain(PlainValue::Object) {
            if let Some((slot, steps)) = &object.path {
                let mut steps = steps.clone();
                steps.push(ReadStep::Field(name.to_owned()));
                may = may.union(&(self.type_env)(*slot, &steps));
                path = Some((*slot, steps));
            } else {
                may = may.union(&AbstractValue::any());
            }
        }
        let scalar = held.has_plain(PlainValue::True) || held.has_plain(PlainValue::False);
        let scalar = scalar || held.numbers != NumberSet::Empty;
        let worded = held.strings != StringSet::Empty || held.list_lengths.is_some();
        if scalar || (worded && name != "length") || (optional && may_be_nullish(held)) {
            may = may.union(&AbstractValue::from_plain(PlainValue::Undefined));
        }
        // `list['0']` is an element, and a string has characters.
        if worded && name.parse::<usize>().is_ok() {
            may = AbstractValue::any();
        }
        AnalyzedValue { value: may, path, element: None }
    }

    fn analyze_index(&self, object: &AnalyzedValue, optional: bool) -> AnalyzedValue {
        let held = &object.value;
        if held.has_plain(PlainValue::Object) || held.strings != StringSet::Empty {
            let may = AbstractValue::any();
            return AnalyzedValue { value: may, path: Self::element_path(object), element: None };
        }
        let mut seen = self.analyze_element(object);
        if held.list_lengths.is_none() {
            seen.value = AbstractValue::default();
        }
        let scalar = held.has_plain(PlainValue::True) || held.has_plain(PlainValue::False);
        let absent = held.list_lengths.is_some() || scalar || held.numbers != NumberSet::Empty;
        if absent || (optional && may_be_nullish(held)) {
            seen.value = seen.value.union(&AbstractValue::from_plain(PlainValue::Undefined));
        }
        seen
    }

    fn element_path(object: &AnalyzedValue) -> Option<(usize, Vec<ReadStep>)> {
        object.path.clone().map(|(slot, mut steps)| {
            steps.push(ReadStep::Element);
            (slot, steps)
        })
    }

    /// Returns the abstract value of an element of a list.
    fn analyze_element(&self, list: &AnalyzedValue) -> AnalyzedValue {
        match (&list.element, Self::element_path(list)) {
            (Some(element), _) => (**element).clone(),
            (None, Some((slot, steps))) => self.read_path(slot, steps),
            (None, None) => AnalyzedValue::new(AbstractValue::any()),
        }
    }

    pub(super) fn analyze_list_elements(&mut self, node: &ExprNode) -> Option<AbstractValue> {
        let seen = self.analyze_node(node);
        let only_a_list = AbstractValue { list_lengths: None, ..seen.value.clone() }.is_never();
        (only_a_list && seen.value.list_lengths.is_some())
            .then(|| self.analyze_element(&seen).value)
    }

    fn analyze_method(
        &self,
        object: &AnalyzedValue,
        method: BuiltinMethod,
        args: &[AnalyzedValue],
    ) -> AnalyzedValue {
        let (lists, texts) = (object.value.list_lengths, object.value.strings != StringSet::Empty);
        if method == BuiltinMethod::ToString {
            let some =
                object.value.clone().without_plain(&[PlainValue::Undefined, PlainValue::Null]);
            return AnalyzedValue::new(if some.is_never() {
                AbstractValue::default()
            } else {
                AbstractValue::any_string()
            });
        }
        if lists.is_none() && !texts {
            return AnalyzedValue::new(AbstractValue::default());
        }
        match method {
            BuiltinMethod::Includes if !texts => {
                let element = self.analyze_element(object).value;
                let yes =
                    args.first().is_none_or(|arg| !element.intersection(&arg.value).is_never());
                AnalyzedValue::new(AbstractValue::from_booleans(
                    yes && lists.is_some_and(|(_, most)| most > 0),
                    true,
                ))
            }
            BuiltinMethod::Includes | BuiltinMethod::StartsWith | BuiltinMethod::EndsWith => {
                AnalyzedValue::new(AbstractValue::from_booleans(true, true))
            }
            BuiltinMethod::Concat => {
                let lists = lists.map_or_else(AbstractValue::default, |(least, _)| {
                    AbstractValue::list_of_length(least, usize::MAX)
                });
                AnalyzedValue::new(if texts {
                    lists.union(&AbstractValue::any_string())
                } else {
                    lists
                })
            }
            BuiltinMethod::ToReversed => AnalyzedValue {
                value: lists.map_or_else(AbstractValue::default, |(least, most)| {
                    AbstractValue::list_of_length(least, most)
                }),
                path: None,
                element: Some(Box::new(self.analyze_element(object))),
            },
            BuiltinMethod::IndexOf | BuiltinMethod::LastIndexOf => {
                AnalyzedValue::new(number_at_least(-1.0))
            }
            BuiltinMethod::At => {
                let mut seen = self.analyze_element(object);
                let more =
                    if texts { AbstractValue::any_string() } else { AbstractValue::default() };
                seen.value = seen
                    .value
                    .union(&AbstractValue::from_plain(PlainValue::Undefined))
                    .union(&more);
                seen
            }
            BuiltinMethod::Slice => {
                let mut seen = object.clone();
                seen.value = lists.map_or_else(AbstractValue::default, |(_, most)| {
                    AbstractValue::list_of_length(0, most)
                });
                if texts {
                    seen.value = seen.value.union(&AbstractValue::any_string());
                }
                seen
            }
            BuiltinMethod::Split => AnalyzedValue {
                value: AbstractValue::list_of_length(0, usize::MAX),
                path: None,
                element: Some(Box::new(AnalyzedValue::new(AbstractValue::any_string()))),
            },
            BuiltinMethod::Join
            | BuiltinMethod::Replace
            | BuiltinMethod::ReplaceAll
            | BuiltinMethod::ToLowerCase
            | BuiltinMethod::ToString
            | BuiltinMethod::ToUpperCase
            | BuiltinMethod::Trim => AnalyzedValue::new(AbstractValue::any_string()),
        }
    }

    fn analyze_callback_method(
        &mut self,
        list: &AnalyzedValue,
        each: CallbackMethod,
        callback: &ExprCallback,
    ) -> AnalyzedValue {
        let Some((least, most)) = list.value.list_lengths else {
            return AnalyzedValue::new(AbstractValue::default());
        };
        let element = self.analyze_element(list);
        let (result, kept) = self.analyze_callback(list, &element, each, callback);
        let (holds, fails) = (
            !result.value.filter_truthiness(true).is_never(),
            !result.value.filter_truthiness(false).is_never(),
        );
        let made = |may: AbstractValue, element: AnalyzedValue| AnalyzedValue {
            value: may,
            path: None,
            element: Some(Box::new(element)),
        };
        match each {
            CallbackMethod::Some => AnalyzedValue::new(AbstractValue::from_booleans(
                most > 0 && holds,
                least == 0 || fails,
            )),
            CallbackMethod::Every => AnalyzedValue::new(AbstractValue::from_booleans(
                least == 0 || holds,
                most > 0 && fails,
            )),
            CallbackMethod::Find => {
                let mut seen = kept;
                if !holds || most == 0 {
                    seen = AnalyzedValue::new(AbstractValue::default());
                }
                seen.value = seen.value.union(&AbstractValue::from_plain(PlainValue::Undefined));
                seen
            }
            CallbackMethod::Filter => {
                made(AbstractValue::list_of_length(0, if holds { most } else { 0 }), kept)
            }
            CallbackMethod::Map => made(AbstractValue::list_of_length(least, most), result),
            CallbackMethod::FlatMap => {
                AnalyzedValue::new(AbstractValue::list_of_length(0, usize::MAX))
            }
            CallbackMethod::FindIndex => AnalyzedValue::new(number_at_least(-1.0)),
            CallbackMethod::Reduce => AnalyzedValue::new(AbstractValue::any()),
            CallbackMethod::ToSorted => made(AbstractValue::list_of_length(least, most), element),
        }
    }

    /// Returns the result of a callback, and the element for which the result is truthy.
    fn analyze_callback(
        &mut self,
        list: &AnalyzedValue,
        element: &AnalyzedValue,
        each: CallbackMethod,
        callback: &ExprCallback,
    ) -> (AnalyzedValue, AnalyzedValue) {
        let ExprCallback::Arrow { params, body } = callback else {
            return (AnalyzedValue::new(AbstractValue::any()), element.clone());
        };
        let before = self.narrowing.depth();
        let unknown = AnalyzedValue::new(AbstractValue::any());
        let order: [&AnalyzedValue; 4] = match each {
            CallbackMethod::Reduce => [&unknown, element, &unknown, list],
            CallbackMethod::ToSorted => [element, element, &unknown, &unknown],
            _ => [element, &unknown, list, &unknown],
        };
        for (param, seen) in params.iter().zip(order) {
            self.bind_param(param, seen);
        }
        let result = self.analyze_node(body);
        let mut kept = element.clone();
        if let (Some(ParamPattern::Name(slot)), CallbackMethod::Find | CallbackMethod::Filter) =
            (params.first(), each)
        {
            self.assume_truth(body, true);
            self.narrowing.narrow_local(*slot, &mut kept.value);
        }
        self.narrowing.restore_depth(before);
        (result, kept)
    }

    fn bind_param(&mut self, param: &ParamPattern, seen: &AnalyzedValue) {
        match param {
            ParamPattern::Name(slot) => self.locals[*slot] = seen.clone(),
            ParamPattern::List { slots, .. } => {
                for slot in slots.iter().flatten() {
                    self.locals[*slot] = AnalyzedValue::new(AbstractValue::any());
                }
            }
            ParamPattern::Fields { fields, .. } => {
                for field in fields {
                    self.locals[field.slot] = self.analyze_member(seen, &field.name, false);
                }
            }
        }
    }

    fn analyze_logical(
        &mut self,
        op: LogicalOp,
        left: &ExprNode,
        right: &ExprNode,
    ) -> AnalyzedValue {
        let seen = self.analyze_node(left);
        let goes_on = match op {
            LogicalOp::And => seen.value.filter_truthiness(true),
            LogicalOp::Or => seen.value.filter_truthiness(false),
            LogicalOp::Coalesce => seen.value.intersection(&any_nullish()),
        };
        let stays = match op {
            LogicalOp::And => seen.value.filter_truthiness(false),
            LogicalOp::Or => seen.value.filter_truthiness(true),
            LogicalOp::Coalesce => {
                seen.value.clone().without_plain(&[PlainValue::Undefined, PlainValue::Null])
            }
        };
        if goes_on.is_never() {
            return AnalyzedValue { value: stays, ..seen };
        }
        let right = match op {
            LogicalOp::And => self.analyze_assuming(left, true, right),
            LogicalOp::Or => self.analyze_assuming(left, false, right),
            LogicalOp::Coalesce => self.analyze_node(right),
        };
        if stays.is_never() {
            return right;
        }
        // If both sides may be lists, an element of either; otherwise an element of the one that
        // may be.
        let may = stays.clone().union(&right.value);
        let element = match (stays.list_lengths.is_some(), right.value.list_lengths.is_some()) {
            (true, true) => Some(AnalyzedValue::new(
                self.analyze_element(&seen).value.union(&self.analyze_element(&right).value),
            )),
            (true, false) => Some(self.analyze_element(&seen)),
            (false, true) => Some(self.analyze_element(&right)),
            (false, false) => None,
        };
        AnalyzedValue { value: may, path: None, element: element.map(Box::new) }
    }

    fn analyze_binary(
        &mut self,
        node: &ExprNode,
        op: BinaryOp,
        left: &ExprNode,
        right: &ExprNode,
    ) -> AbstractValue {
        let (left_span, right_span) = (left.span.range(), right.span.range());
        let (left, right) = (self.analyze_node(left), self.analyze_node(right));
        if left.value.is_never() || right.value.is_never() {
            return AbstractValue::default();
        }
        let may = match op {
            BinaryOp::In => self.analyze_in(&left.value, &right),
            _ => apply_binary(op, &left.value, &right.value),
        };
        if !may.has_plain(PlainValue::True) && may.has_plain(PlainValue::False) {
            let span = node.span.range();
            let few = self.unsatisfiable.len() < MAX_UNSATISFIABLE;
            if few && !self.unsatisfiable.iter().any(|reported| reported.span == span) {
                let (left, right) = (left.value, right.value);
                let never = UnsatisfiableComparison { span, left_span, right_span, left, right };
                self.unsatisfiable.push(never);
            }
        }
        may
    }

    fn analyze_in(&self, name: &AbstractValue, object: &AnalyzedValue) -> AbstractValue {
        let held = &object.value;
        if !held.has_plain(PlainValue::Object) && held.list_lengths.is_none() {
            return AbstractValue::default();
        }
        let StringSet::OneOf(names) = &name.strings else {
            return AbstractValue::from_booleans(true, true);
        };
        let others = AbstractValue { strings: StringSet::Empty, ..name.clone() };
        let known = others.is_never() && held.list_lengths.is_none();
        let may_be_there = |name: &String| {
            let field = self.analyze_member(object, name, false).value;
            !field.without_plain(&[PlainValue::Undefined]).is_never()
        };
        AbstractValue::from_booleans(!known || names.iter().any(may_be_there), true)
    }
}
