//! What an expression may come to, told from what is known of the roots without any of their values.
//!
//! For analysis only: nothing here decides what an evaluation does. Whatever an evaluation can give is
//! in the answer; an evaluation that fails gives nothing.

use std::ops::Range;

use super::ast::{BinaryOp, Callback, Entry, Item, Kind, LogicalOp, Node, Pattern};
use super::may::{May, Numbers, Plain, Texts};
use super::narrow::Narrowing;
use super::reads::ReadStep;
use super::set_ops::{at_least, builtin_gives, compared, is_nullish, lengths, nullish, unary};
use super::vocabulary::{Each, Method};

/// What is known of the value at a path of a root: slot, steps.
pub type Known<'k> = &'k dyn Fn(usize, &[ReadStep]) -> May;

/// What an expression may come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The values.
    pub may: May,
    /// Comparisons in it that hold for no value of the roots.
    pub never: Vec<NeverHolds>,
}

/// A comparison that can never hold.
#[derive(Debug, Clone, PartialEq)]
pub struct NeverHolds {
    /// Where it stands in the source, in bytes.
    pub span: Range<usize>,
    /// Where its left side stands.
    pub left_span: Range<usize>,
    /// Where its right side stands.
    pub right_span: Range<usize>,
    /// What its left side may be.
    pub left: May,
    /// What its right side may be.
    pub right: May,
}

/// How many operations are looked at, repetitions counted; what comes later may be anything.
const MOST_STEPS: usize = 20_000;

/// How many comparisons that never hold are told.
const MOST_NEVER: usize = 100;

/// Looks ahead.
pub(super) fn outlook(root: &Node, locals: usize, known: Known<'_>) -> Outlook {
    let locals = vec![Seen::of(May::anything()); locals];
    let narrowing = Narrowing::default();
    let mut walk = Walk { known, locals, narrowing, never: Vec::new(), steps: 0 };
    let may = walk.see(root).may;
    Outlook { may, never: walk.never }
}

pub(super) struct Walk<'k> {
    known: Known<'k>,
    locals: Vec<Seen>,
    pub(super) narrowing: Narrowing,
    never: Vec<NeverHolds>,
    steps: usize,
}

/// A value in sight: what it may be, where it lies, what its elements may be.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) may: May,
    path: Option<(usize, Vec<ReadStep>)>,
    element: Option<Box<Seen>>,
}

impl Seen {
    fn of(may: May) -> Self {
        Self { may, path: None, element: None }
    }
}

impl Walk<'_> {
    pub(super) fn see(&mut self, node: &Node) -> Seen {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Seen::of(May::anything());
        }
        let mut seen = self.look(node);
        self.narrowing.apply(node, &mut seen.may);
        seen
    }

    fn at(&self, slot: usize, steps: Vec<ReadStep>) -> Seen {
        Seen { may: (self.known)(slot, &steps), path: Some((slot, steps)), element: None }
    }

    fn look(&mut self, node: &Node) -> Seen {
        match &node.kind {
            Kind::Undefined => Seen::of(May::only(Plain::Undefined)),
            Kind::Null => Seen::of(May::only(Plain::Null)),
            Kind::Bool(truth) => Seen::of(May::truth(*truth, !truth)),
            Kind::Num(number) => Seen::of(May { numbers: Numbers::one(*number), ..May::default() }),
            Kind::Str(text) => {
                Seen::of(May { texts: Texts::OneOf([text.to_string()].into()), ..May::default() })
            }
            Kind::Template { parts, .. } => {
                for part in parts {
                    self.see(part);
                }
                Seen::of(May::text())
            }
            Kind::Array(items) => self.array(items),
            // Its fields are not followed: whatever is read from it may be anything.
            Kind::Object(entries) => {
                for node in entries.iter().flat_map(Entry::nodes) {
                    self.see(node);
                }
                Seen::of(May::only(Plain::Object))
            }
            Kind::Matches { subject, .. } => {
                self.see(subject);
                Seen::of(May::truth(true, true))
            }
            Kind::Root(slot) => self.at(*slot, Vec::new()),
            Kind::Local(slot) => self.locals[*slot].clone(),
            Kind::Member { object, name, optional } => {
                let object = self.see(object);
                self.member(&object, name, *optional)
            }
            Kind::Index { object, key, optional } => {
                let object = self.see(object);
                match &key.kind {
                    Kind::Str(name) => self.member(&object, name, *optional),
                    _ => {
                        self.see(key);
                        self.indexed(&object, *optional)
                    }
                }
            }
            Kind::Method { object, method, args, .. } => {
                let object = self.see(object);
                let args: Vec<Seen> = args.iter().map(|arg| self.see(arg)).collect();
                self.method(&object, *method, &args)
            }
            Kind::Each { object, each, callback, initial, .. } => {
                let list = self.see(object);
                if let Some(initial) = initial {
                    self.see(initial);
                }
                self.each(&list, *each, callback)
            }
            Kind::Builtin { builtin, args } => {
                let args: Vec<Seen> = args.iter().map(|arg| self.see(arg)).collect();
                Seen::of(builtin_gives(*builtin, args.first().map(|arg| &arg.may)))
            }
            // A short circuit anywhere in the chain leaves it undefined.
            Kind::Chain(inner) => {
                let mut seen = self.see(inner);
                seen.may = seen.may.or(&May::only(Plain::Undefined));
                seen
            }
            Kind::Unary { op, operand } => {
                let may = self.see(operand).may;
                Seen::of(unary(*op, &may))
            }
            Kind::Binary { op, left, right } => Seen::of(self.binary(node, *op, left, right)),
            Kind::Logical { op, left, right } => self.logical(*op, left, right),
            Kind::Conditional { condition, then, otherwise } => {
                let decided = self.see(condition).may;
                let mut all = May::default();
                for (truth, branch) in [(true, then), (false, otherwise)] {
                    if !decided.counting_as(truth).is_never() {
                        let may = self.assuming(condition, truth, branch).may;
                        all = all.or(&may);
                    }
                }
                Seen::of(all)
            }
        }
    }

    /// Sees a node as it is where another one counted as true or false.
    fn assuming(&mut self, condition: &Node, truth: bool, node: &Node) -> Seen {
        let before = self.narrowing.depth();
        self.assume(condition, truth);
        let seen = self.see(node);
        self.narrowing.back_to(before);
        seen
    }

    fn array(&mut self, items: &[Item]) -> Seen {
        let (mut least, mut most) = (0_usize, 0_usize);
        let mut element = May::default();
        for item in items {
            let (from, to, held) = match item {
                Item::One(node) => (1, 1, self.see(node).may),
                Item::Spread(node) => self.spread(node),
            };
            least = least.saturating_add(from);
            most = most.saturating_add(to);
            element = element.or(&held);
        }
        let may = May::list(least, most);
        Seen { may, path: None, element: Some(Box::new(Seen::of(element))) }
    }

    /// How few and how many elements a spread gives, and what they may be.
    fn spread(&mut self, node: &Node) -> (usize, usize, May) {
        let seen = self.see(node);
        match seen.may.lists {
            // A string comes apart into its characters; whatever else there is fails.
            Some((least, most)) if seen.may.texts == Texts::None => {
                (least, most, self.element(&seen).may)
            }
            _ => (0, usize::MAX, May::anything()),
        }
    }

    fn member(&self, object: &Seen, name: &str, optional: bool) -> Seen {
        let held = &object.may;
        let mut may = May::default();
        if name == "length" {
            may.numbers = lengths(held);
        }
        let mut path = None;
        if held.has(Plain::Object) {
            if let Some((slot, steps)) = &object.path {
                let mut steps = steps.clone();
                steps.push(ReadStep::Field(name.to_owned()));
                may = may.or(&(self.known)(*slot, &steps));
                path = Some((*slot, steps));
            } else {
                may = may.or(&May::anything());
            }
        }
        let scalar = held.has(Plain::True) || held.has(Plain::False);
        let scalar = scalar || held.numbers != Numbers::None;
        let worded = held.texts != Texts::None || held.lists.is_some();
        if scalar || (worded && name != "length") || (optional && is_nullish(held)) {
            may = may.or(&May::only(Plain::Undefined));
        }
        // `list['0']` is an element, and a string has characters.
        if worded && name.parse::<usize>().is_ok() {
            may = May::anything();
        }
        Seen { may, path, element: None }
    }

    fn indexed(&self, object: &Seen, optional: bool) -> Seen {
        let held = &object.may;
        if held.has(Plain::Object) || held.texts != Texts::None {
            let may = May::anything();
            return Seen { may, path: Self::element_path(object), element: None };
        }
        let mut seen = self.element(object);
        if held.lists.is_none() {
            seen.may = May::default();
        }
        let scalar = held.has(Plain::True) || held.has(Plain::False);
        let absent = held.lists.is_some() || scalar || held.numbers != Numbers::None;
        if absent || (optional && is_nullish(held)) {
            seen.may = seen.may.or(&May::only(Plain::Undefined));
        }
        seen
    }

    fn element_path(object: &Seen) -> Option<(usize, Vec<ReadStep>)> {
        object.path.clone().map(|(slot, mut steps)| {
            steps.push(ReadStep::Element);
            (slot, steps)
        })
    }

    /// An element of a list.
    fn element(&self, list: &Seen) -> Seen {
        match (&list.element, Self::element_path(list)) {
            (Some(element), _) => (**element).clone(),
            (None, Some((slot, steps))) => self.at(slot, steps),
            (None, None) => Seen::of(May::anything()),
        }
    }

    pub(super) fn elements_of(&mut self, node: &Node) -> Option<May> {
        let seen = self.see(node);
        let only_a_list = May { lists: None, ..seen.may.clone() }.is_never();
        (only_a_list && seen.may.lists.is_some()).then(|| self.element(&seen).may)
    }

    fn method(&self, object: &Seen, method: Method, args: &[Seen]) -> Seen {
        let (lists, texts) = (object.may.lists, object.may.texts != Texts::None);
        if method == Method::ToString {
            let some = object.may.clone().without(&[Plain::Undefined, Plain::Null]);
            return Seen::of(if some.is_never() { May::default() } else { May::text() });
        }
        if lists.is_none() && !texts {
            return Seen::of(May::default());
        }
        match method {
            Method::Includes if !texts => {
                let element = self.element(object).may;
                let yes = args.first().is_none_or(|arg| !element.and(&arg.may).is_never());
                Seen::of(May::truth(yes && lists.is_some_and(|(_, most)| most > 0), true))
            }
            Method::Includes | Method::StartsWith | Method::EndsWith => {
                Seen::of(May::truth(true, true))
            }
            Method::Concat => {
                let lists =
                    lists.map_or_else(May::default, |(least, _)| May::list(least, usize::MAX));
                Seen::of(if texts { lists.or(&May::text()) } else { lists })
            }
            Method::ToReversed => Seen {
                may: lists.map_or_else(May::default, |(least, most)| May::list(least, most)),
                path: None,
                element: Some(Box::new(self.element(object))),
            },
            Method::IndexOf | Method::LastIndexOf => Seen::of(at_least(-1.0)),
            Method::At => {
                let mut seen = self.element(object);
                let more = if texts { May::text() } else { May::default() };
                seen.may = seen.may.or(&May::only(Plain::Undefined)).or(&more);
                seen
            }
            Method::Slice => {
                let mut seen = object.clone();
                seen.may = lists.map_or_else(May::default, |(_, most)| May::list(0, most));
                if texts {
                    seen.may = seen.may.or(&May::text());
                }
                seen
            }
            Method::Split => Seen {
                may: May::list(0, usize::MAX),
                path: None,
                element: Some(Box::new(Seen::of(May::text()))),
            },
            Method::Join
            | Method::Replace
            | Method::ReplaceAll
            | Method::ToLowerCase
            | Method::ToString
            | Method::ToUpperCase
            | Method::Trim => Seen::of(May::text()),
        }
    }

    fn each(&mut self, list: &Seen, each: Each, callback: &Callback) -> Seen {
        let Some((least, most)) = list.may.lists else { return Seen::of(May::default()) };
        let element = self.element(list);
        let (result, kept) = self.call(list, &element, each, callback);
        let (holds, fails) =
            (!result.may.counting_as(true).is_never(), !result.may.counting_as(false).is_never());
        let made =
            |may: May, element: Seen| Seen { may, path: None, element: Some(Box::new(element)) };
        match each {
            Each::Some => Seen::of(May::truth(most > 0 && holds, least == 0 || fails)),
            Each::Every => Seen::of(May::truth(least == 0 || holds, most > 0 && fails)),
            Each::Find => {
                let mut seen = kept;
                if !holds || most == 0 {
                    seen = Seen::of(May::default());
                }
                seen.may = seen.may.or(&May::only(Plain::Undefined));
                seen
            }
            Each::Filter => made(May::list(0, if holds { most } else { 0 }), kept),
            Each::Map => made(May::list(least, most), result),
            Each::FlatMap => Seen::of(May::list(0, usize::MAX)),
            Each::FindIndex => Seen::of(at_least(-1.0)),
            Each::Reduce => Seen::of(May::anything()),
            Each::ToSorted => made(May::list(least, most), element),
        }
    }

    /// What a callback gives, and the element where it gives something that counts as true.
    fn call(
        &mut self,
        list: &Seen,
        element: &Seen,
        each: Each,
        callback: &Callback,
    ) -> (Seen, Seen) {
        let Callback::Arrow { params, body } = callback else {
            return (Seen::of(May::anything()), element.clone());
        };
        let before = self.narrowing.depth();
        let unknown = Seen::of(May::anything());
        let order: [&Seen; 4] = match each {
            Each::Reduce => [&unknown, element, &unknown, list],
            Each::ToSorted => [element, element, &unknown, &unknown],
            _ => [element, &unknown, list, &unknown],
        };
        for (param, seen) in params.iter().zip(order) {
            self.bind(param, seen);
        }
        let result = self.see(body);
        let mut kept = element.clone();
        if let (Some(Pattern::Name(slot)), Each::Find | Each::Filter) = (params.first(), each) {
            self.assume(body, true);
            self.narrowing.apply_to_local(*slot, &mut kept.may);
        }
        self.narrowing.back_to(before);
        (result, kept)
    }

    fn bind(&mut self, param: &Pattern, seen: &Seen) {
        match param {
            Pattern::Name(slot) => self.locals[*slot] = seen.clone(),
            Pattern::List { slots, .. } => {
                for slot in slots.iter().flatten() {
                    self.locals[*slot] = Seen::of(May::anything());
                }
            }
            Pattern::Fields { fields, .. } => {
                for field in fields {
                    self.locals[field.slot] = self.member(seen, &field.name, false);
                }
            }
        }
    }

    fn logical(&mut self, op: LogicalOp, left: &Node, right: &Node) -> Seen {
        let seen = self.see(left);
        let goes_on = match op {
            LogicalOp::And => seen.may.counting_as(true),
            LogicalOp::Or => seen.may.counting_as(false),
            LogicalOp::Coalesce => seen.may.and(&nullish()),
        };
        let stays = match op {
            LogicalOp::And => seen.may.counting_as(false),
            LogicalOp::Or => seen.may.counting_as(true),
            LogicalOp::Coalesce => seen.may.clone().without(&[Plain::Undefined, Plain::Null]),
        };
        if goes_on.is_never() {
            return Seen { may: stays, ..seen };
        }
        let right = match op {
            LogicalOp::And => self.assuming(left, true, right),
            LogicalOp::Or => self.assuming(left, false, right),
            LogicalOp::Coalesce => self.see(right),
        };
        if stays.is_never() {
            return right;
        }
        // The elements of either; where only one is a list, its own.
        let may = stays.clone().or(&right.may);
        let element = match (stays.lists.is_some(), right.may.lists.is_some()) {
            (true, true) => Some(Seen::of(self.element(&seen).may.or(&self.element(&right).may))),
            (true, false) => Some(self.element(&seen)),
            (false, true) => Some(self.element(&right)),
            (false, false) => None,
        };
        Seen { may, path: None, element: element.map(Box::new) }
    }

    fn binary(&mut self, node: &Node, op: BinaryOp, left: &Node, right: &Node) -> May {
        let (left_span, right_span) = (left.span.range(), right.span.range());
        let (left, right) = (self.see(left), self.see(right));
        if left.may.is_never() || right.may.is_never() {
            return May::default();
        }
        let may = match op {
            BinaryOp::In => self.is_in(&left.may, &right),
            _ => compared(op, &left.may, &right.may),
        };
        if !may.has(Plain::True) && may.has(Plain::False) {
            let span = node.span.range();
            let few = self.never.len() < MOST_NEVER;
            if few && !self.never.iter().any(|told| told.span == span) {
                let (left, right) = (left.may, right.may);
                let never = NeverHolds { span, left_span, right_span, left, right };
                self.never.push(never);
            }
        }
        may
    }

    fn is_in(&self, name: &May, object: &Seen) -> May {
        let held = &object.may;
        if !held.has(Plain::Object) && held.lists.is_none() {
            return May::default();
        }
        let Texts::OneOf(names) = &name.texts else { return May::truth(true, true) };
        let others = May { texts: Texts::None, ..name.clone() };
        let known = others.is_never() && held.lists.is_none();
        let may_be_there = |name: &String| {
            let field = self.member(object, name, false).may;
            !field.without(&[Plain::Undefined]).is_never()
        };
        May::truth(!known || names.iter().any(may_be_there), true)
    }
}
