//! Operators, lengths and builtin functions applied to abstract values.

use std::collections::BTreeSet;

use super::abstract_value::{AbstractValue, NumberSet, PlainValue, StringSet};
use super::ast::{BinaryOp, UnaryOp};
use super::vocabulary::{BuiltinFunction, ConversionFunction, PointerFunction, TextFunction};

pub(super) fn any_nullish() -> AbstractValue {
    AbstractValue::from_plain(PlainValue::Undefined)
        .union(&AbstractValue::from_plain(PlainValue::Null))
}

pub(super) fn may_be_nullish(may: &AbstractValue) -> bool {
    may.has_plain(PlainValue::Undefined) || may.has_plain(PlainValue::Null)
}

pub(super) fn number_at_least(low: f64) -> AbstractValue {
    AbstractValue { numbers: NumberSet::Between(low, f64::INFINITY), ..AbstractValue::default() }
}

pub(super) fn compute_lengths(held: &AbstractValue) -> NumberSet {
    let mut all = AbstractValue::default();
    if let Some((least, most)) = held.list_lengths {
        let most = if most == usize::MAX { f64::INFINITY } else { most as f64 };
        all.numbers = NumberSet::Between(least as f64, most);
    }
    match &held.strings {
        StringSet::Empty => {}
        StringSet::Any => all = all.union(&number_at_least(0.0)),
        StringSet::OneOf(texts) => {
            let lengths = texts.iter().map(|text| text.encode_utf16().count());
            let lengths: BTreeSet<usize> = lengths.collect();
            let lengths = lengths.into_iter().map(|length| length as f64).collect();
            all = all.union(&AbstractValue {
                numbers: NumberSet::OneOf(lengths),
                ..AbstractValue::default()
            });
        }
    }
    all.numbers
}

pub(super) fn apply_builtin(
    builtin: BuiltinFunction,
    first: Option<&AbstractValue>,
) -> AbstractValue {
    let Some(first) = first else { return AbstractValue::any() };
    match builtin {
        BuiltinFunction::Convert(ConversionFunction::Boolean) => {
            let part = |truth| !first.filter_truthiness(truth).is_never();
            AbstractValue::from_booleans(part(true), part(false))
        }
        BuiltinFunction::Convert(ConversionFunction::String) => AbstractValue::any_string(),
        BuiltinFunction::Keys | BuiltinFunction::Values | BuiltinFunction::Entries => {
            AbstractValue::list_of_length(0, usize::MAX)
        }
        BuiltinFunction::IsArray => {
            let others = AbstractValue { list_lengths: None, ..first.clone() };
            AbstractValue::from_booleans(first.list_lengths.is_some(), !others.is_never())
        }
        BuiltinFunction::Text(TextFunction::Words | TextFunction::Numbers) => {
            AbstractValue::list_of_length(0, usize::MAX)
        }
        BuiltinFunction::Text(TextFunction::Fields) => {
            AbstractValue::from_plain(PlainValue::Undefined)
                .union(&AbstractValue::list_of_length(0, usize::MAX))
        }
        BuiltinFunction::Text(TextFunction::Language) => {
            AbstractValue::from_plain(PlainValue::Undefined).union(&AbstractValue::any_string())
        }
        BuiltinFunction::Text(TextFunction::Fingerprint | TextFunction::Slug) => {
            AbstractValue::any_string()
        }
        BuiltinFunction::Text(TextFunction::Similarity) => {
            AbstractValue { numbers: NumberSet::Between(0.0, 1.0), ..AbstractValue::default() }
        }
        BuiltinFunction::Text(TextFunction::IsJson)
        | BuiltinFunction::Pointer(PointerFunction::Has) => {
            AbstractValue::from_booleans(true, true)
        }
        BuiltinFunction::Pointer(PointerFunction::Get) => AbstractValue::any(),
        BuiltinFunction::Convert(ConversionFunction::Number)
        | BuiltinFunction::Min
        | BuiltinFunction::Max
        | BuiltinFunction::Abs
        | BuiltinFunction::Floor
        | BuiltinFunction::Ceil
        | BuiltinFunction::Round
        | BuiltinFunction::Sqrt
        | BuiltinFunction::Pow
        | BuiltinFunction::Trunc => AbstractValue::any_number(),
        BuiltinFunction::Sign => {
            AbstractValue { numbers: NumberSet::ANY, ..AbstractValue::default() }
        }
        BuiltinFunction::Stringify => {
            let absent = if first.has_plain(PlainValue::Undefined) {
                AbstractValue::from_plain(PlainValue::Undefined)
            } else {
                AbstractValue::default()
            };
            let others = first.clone().without_plain(&[PlainValue::Undefined]);
            if others.is_never() { absent } else { absent.union(&AbstractValue::any_string()) }
        }
        BuiltinFunction::Parse => AbstractValue::any_json(),
    }
}

/// Returns the set of values for which `typeof` returns this name.
pub(super) fn parse_typeof_name(name: &str) -> Option<AbstractValue> {
    Some(match name {
        "undefined" => AbstractValue::from_plain(PlainValue::Undefined),
        "boolean" => AbstractValue::from_booleans(true, true),
        "number" => AbstractValue::any_number(),
        "string" => AbstractValue::any_string(),
        // `null` and lists are objects too.
        "object" => AbstractValue::from_plain(PlainValue::Object)
            .union(&AbstractValue::from_plain(PlainValue::Null))
            .union(&AbstractValue::list_of_length(0, usize::MAX)),
        _ => return None,
    })
}

pub(super) fn apply_unary(op: UnaryOp, may: &AbstractValue) -> AbstractValue {
    let only_numbers = AbstractValue { numbers: NumberSet::Empty, ..may.clone() }.is_never();
    match op {
        _ if may.is_never() => AbstractValue::default(),
        UnaryOp::Not => AbstractValue::from_booleans(
            !may.filter_truthiness(false).is_never(),
            !may.filter_truthiness(true).is_never(),
        ),
        UnaryOp::TypeOf => {
            let names = ["undefined", "boolean", "number", "string", "object"].into_iter();
            let possible = |name: &&str| {
                parse_typeof_name(name).is_some_and(|kind| !may.intersection(&kind).is_never())
            };
            let names = names.filter(possible).map(str::to_owned).collect();
            AbstractValue { strings: StringSet::OneOf(names), ..AbstractValue::default() }
        }
        UnaryOp::Plus if only_numbers => may.clone(),
        UnaryOp::Minus if only_numbers => {
            let numbers = match &may.numbers {
                NumberSet::OneOf(some) => {
                    NumberSet::OneOf(some.iter().map(|number| -number).collect())
                }
                NumberSet::Between(low, high) => NumberSet::Between(-high, -low),
                NumberSet::Empty => NumberSet::Empty,
            };
            AbstractValue { numbers, ..AbstractValue::default() }
        }
        UnaryOp::Plus | UnaryOp::Minus => AbstractValue::any_number(),
    }
}

pub(super) fn apply_binary(
    op: BinaryOp,
    left: &AbstractValue,
    right: &AbstractValue,
) -> AbstractValue {
    match op {
        BinaryOp::StrictEqual => compare_strict(left, right),
        BinaryOp::StrictNotEqual => negate_boolean(&compare_strict(left, right)),
        BinaryOp::Equal => compare_loose(left, right),
        BinaryOp::NotEqual => negate_boolean(&compare_loose(left, right)),
        BinaryOp::Less => compare_less(left, right, |low, high| low < high),
        BinaryOp::LessOrEqual => compare_less(left, right, |low, high| low <= high),
        BinaryOp::Greater => compare_less(right, left, |low, high| low < high),
        BinaryOp::GreaterOrEqual => compare_less(right, left, |low, high| low <= high),
        BinaryOp::Add => match (may_become_string(left), may_become_string(right)) {
            (false, false) => AbstractValue::any_number(),
            _ => AbstractValue::any_number().union(&AbstractValue::any_string()),
        },
        BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            AbstractValue::any_number()
        }
        BinaryOp::In => AbstractValue::from_booleans(true, true),
    }
}

fn negate_boolean(truth: &AbstractValue) -> AbstractValue {
    AbstractValue::from_booleans(
        truth.has_plain(PlainValue::False),
        truth.has_plain(PlainValue::True),
    )
}

fn compare_strict(left: &AbstractValue, right: &AbstractValue) -> AbstractValue {
    let same = left.as_single().is_some_and(|one| right.as_single().is_some_and(|two| one == two));
    AbstractValue::from_booleans(!left.intersection(right).is_never(), !same)
}

/// Compares with `==`: like `===` if no conversion can apply. `null` and `undefined` are equal only
/// to each other.
fn compare_loose(left: &AbstractValue, right: &AbstractValue) -> AbstractValue {
    for (one, other) in [(left, right), (right, left)] {
        if one.intersection(&any_nullish()) == *one {
            let others = other.clone().without_plain(&[PlainValue::Undefined, PlainValue::Null]);
            return AbstractValue::from_booleans(may_be_nullish(other), !others.is_never());
        }
    }
    let texts = |may: &AbstractValue| {
        let others = AbstractValue { strings: StringSet::Empty, ..may.clone() };
        others.intersection(&any_nullish()) == others
    };
    if texts(left) && texts(right) && !(may_be_nullish(left) && may_be_nullish(right)) {
        return compare_strict(left, right);
    }
    AbstractValue::from_booleans(true, true)
}

/// Returns whether a value of the set is compared as a string, or converted to one.
pub(super) fn may_become_string(may: &AbstractValue) -> bool {
    may.strings != StringSet::Empty
        || may.list_lengths.is_some()
        || may.has_plain(PlainValue::Object)
}

fn compare_less(
    left: &AbstractValue,
    right: &AbstractValue,
    holds: fn(f64, f64) -> bool,
) -> AbstractValue {
    if may_become_string(left) || may_become_string(right) {
        return AbstractValue::from_booleans(true, true);
    }
    match (to_numeric_bounds(left), to_numeric_bounds(right)) {
        (Some((low, _)), Some((_, high))) => AbstractValue::from_booleans(holds(low, high), true),
        // The only value is `undefined`, for which every comparison is false.
        _ => AbstractValue::from_booleans(false, true),
    }
}

/// Returns the bounds of the numbers that the values convert to.
pub(super) fn to_numeric_bounds(may: &AbstractValue) -> Option<(f64, f64)> {
    let mut all = may.numbers.clone();
    for (plain, number) in
        [(PlainValue::Null, 0.0), (PlainValue::False, 0.0), (PlainValue::True, 1.0)]
    {
        if may.has_plain(plain) {
            let one = AbstractValue {
                numbers: NumberSet::from_number(number),
                ..AbstractValue::default()
            };
            all = AbstractValue { numbers: all, ..AbstractValue::default() }.union(&one).numbers;
        }
    }
    all.bounds()
}
