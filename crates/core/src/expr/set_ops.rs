//! What operators, lengths and builtins make of sets of values, for looking ahead.

use std::collections::BTreeSet;

use super::ast::{BinaryOp, UnaryOp};
use super::may::{May, Numbers, Plain, Texts};
use super::vocabulary::{Builtin, Convert, PointerFunction, TextFunction};

pub(super) fn nullish() -> May {
    May::only(Plain::Undefined).or(&May::only(Plain::Null))
}

pub(super) fn is_nullish(may: &May) -> bool {
    may.has(Plain::Undefined) || may.has(Plain::Null)
}

pub(super) fn at_least(low: f64) -> May {
    May { numbers: Numbers::Between(low, f64::INFINITY), ..May::default() }
}

pub(super) fn lengths(held: &May) -> Numbers {
    let mut all = May::default();
    if let Some((least, most)) = held.lists {
        let most = if most == usize::MAX { f64::INFINITY } else { most as f64 };
        all.numbers = Numbers::Between(least as f64, most);
    }
    match &held.texts {
        Texts::None => {}
        Texts::Any => all = all.or(&at_least(0.0)),
        Texts::OneOf(texts) => {
            let lengths = texts.iter().map(|text| text.encode_utf16().count());
            let lengths: BTreeSet<usize> = lengths.collect();
            let lengths = lengths.into_iter().map(|length| length as f64).collect();
            all = all.or(&May { numbers: Numbers::OneOf(lengths), ..May::default() });
        }
    }
    all.numbers
}

pub(super) fn builtin_gives(builtin: Builtin, first: Option<&May>) -> May {
    let Some(first) = first else { return May::anything() };
    match builtin {
        Builtin::Convert(Convert::Boolean) => {
            let part = |truth| !first.counting_as(truth).is_never();
            May::truth(part(true), part(false))
        }
        Builtin::Convert(Convert::String) => May::text(),
        Builtin::Keys | Builtin::Values | Builtin::Entries => May::list(0, usize::MAX),
        Builtin::IsArray => {
            let others = May { lists: None, ..first.clone() };
            May::truth(first.lists.is_some(), !others.is_never())
        }
        Builtin::Text(TextFunction::Words | TextFunction::Numbers) => May::list(0, usize::MAX),
        Builtin::Text(TextFunction::Fields) => {
            May::only(Plain::Undefined).or(&May::list(0, usize::MAX))
        }
        Builtin::Text(TextFunction::Fingerprint | TextFunction::Slug) => May::text(),
        Builtin::Text(TextFunction::Similarity) => {
            May { numbers: Numbers::Between(0.0, 1.0), ..May::default() }
        }
        Builtin::Pointer(PointerFunction::Has) => May::truth(true, true),
        Builtin::Pointer(PointerFunction::Get) => May::anything(),
        Builtin::Convert(Convert::Number)
        | Builtin::Min
        | Builtin::Max
        | Builtin::Abs
        | Builtin::Floor
        | Builtin::Ceil
        | Builtin::Round
        | Builtin::Sqrt
        | Builtin::Pow
        | Builtin::Trunc => May::number(),
        Builtin::Sign => May { numbers: Numbers::ANY, ..May::default() },
        Builtin::Stringify => {
            let absent = if first.has(Plain::Undefined) {
                May::only(Plain::Undefined)
            } else {
                May::default()
            };
            let others = first.clone().without(&[Plain::Undefined]);
            if others.is_never() { absent } else { absent.or(&May::text()) }
        }
        Builtin::Parse => May::json(),
    }
}

/// The values of which `typeof` gives this name.
pub(super) fn typed(name: &str) -> Option<May> {
    Some(match name {
        "undefined" => May::only(Plain::Undefined),
        "boolean" => May::truth(true, true),
        "number" => May::number(),
        "string" => May::text(),
        // `null` and lists too.
        "object" => {
            May::only(Plain::Object).or(&May::only(Plain::Null)).or(&May::list(0, usize::MAX))
        }
        _ => return None,
    })
}

pub(super) fn unary(op: UnaryOp, may: &May) -> May {
    let only_numbers = May { numbers: Numbers::None, ..may.clone() }.is_never();
    match op {
        _ if may.is_never() => May::default(),
        UnaryOp::Not => {
            May::truth(!may.counting_as(false).is_never(), !may.counting_as(true).is_never())
        }
        UnaryOp::TypeOf => {
            let names = ["undefined", "boolean", "number", "string", "object"].into_iter();
            let possible = |name: &&str| typed(name).is_some_and(|kind| !may.and(&kind).is_never());
            let names = names.filter(possible).map(str::to_owned).collect();
            May { texts: Texts::OneOf(names), ..May::default() }
        }
        UnaryOp::Plus if only_numbers => may.clone(),
        UnaryOp::Minus if only_numbers => {
            let numbers = match &may.numbers {
                Numbers::OneOf(some) => Numbers::OneOf(some.iter().map(|number| -number).collect()),
                Numbers::Between(low, high) => Numbers::Between(-high, -low),
                Numbers::None => Numbers::None,
            };
            May { numbers, ..May::default() }
        }
        UnaryOp::Plus | UnaryOp::Minus => May::number(),
    }
}

pub(super) fn compared(op: BinaryOp, left: &May, right: &May) -> May {
    match op {
        BinaryOp::StrictEqual => equal(left, right),
        BinaryOp::StrictNotEqual => negated(&equal(left, right)),
        BinaryOp::Equal => loosely_equal(left, right),
        BinaryOp::NotEqual => negated(&loosely_equal(left, right)),
        BinaryOp::Less => below(left, right, |low, high| low < high),
        BinaryOp::LessOrEqual => below(left, right, |low, high| low <= high),
        BinaryOp::Greater => below(right, left, |low, high| low < high),
        BinaryOp::GreaterOrEqual => below(right, left, |low, high| low <= high),
        BinaryOp::Add => match (worded(left), worded(right)) {
            (false, false) => May::number(),
            _ => May::number().or(&May::text()),
        },
        BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            May::number()
        }
        BinaryOp::In => May::truth(true, true),
    }
}

fn negated(truth: &May) -> May {
    May::truth(truth.has(Plain::False), truth.has(Plain::True))
}

fn equal(left: &May, right: &May) -> May {
    let same = left.single().is_some_and(|one| right.single().is_some_and(|two| one == two));
    May::truth(!left.and(right).is_never(), !same)
}

/// `==` as `===` where no conversion can be at work, and as "nothing" beside `null`.
fn loosely_equal(left: &May, right: &May) -> May {
    for (one, other) in [(left, right), (right, left)] {
        if one.and(&nullish()) == *one {
            let others = other.clone().without(&[Plain::Undefined, Plain::Null]);
            return May::truth(is_nullish(other), !others.is_never());
        }
    }
    let texts = |may: &May| {
        let others = May { texts: Texts::None, ..may.clone() };
        others.and(&nullish()) == others
    };
    if texts(left) && texts(right) && !(is_nullish(left) && is_nullish(right)) {
        return equal(left, right);
    }
    May::truth(true, true)
}

/// Whether something in it is compared as, or becomes, a string.
pub(super) fn worded(may: &May) -> bool {
    may.texts != Texts::None || may.lists.is_some() || may.has(Plain::Object)
}

fn below(left: &May, right: &May, holds: fn(f64, f64) -> bool) -> May {
    if worded(left) || worded(right) {
        return May::truth(true, true);
    }
    match (as_numbers(left), as_numbers(right)) {
        (Some((low, _)), Some((_, high))) => May::truth(holds(low, high), true),
        // Only `undefined`, which compares with nothing.
        _ => May::truth(false, true),
    }
}

/// The numbers that the values become.
pub(super) fn as_numbers(may: &May) -> Option<(f64, f64)> {
    let mut all = may.numbers.clone();
    for (plain, number) in [(Plain::Null, 0.0), (Plain::False, 0.0), (Plain::True, 1.0)] {
        if may.has(plain) {
            let one = May { numbers: Numbers::one(number), ..May::default() };
            all = May { numbers: all, ..May::default() }.or(&one).numbers;
        }
    }
    all.bounds()
}
