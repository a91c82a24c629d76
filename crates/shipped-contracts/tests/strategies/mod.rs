//! Values of the contract types, within the bounds their documentation names, and otherwise as wild
//! as JSON allows.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Number, Value};

use countersign_shipped_contracts::{JsonObject, NamedCounts, Nullable};

/// A strategy that makes every field of a struct by a strategy of its own; a field left out does
/// not compile.
macro_rules! strategy {
    ($(#[$attribute:meta])* $name:ident: $type:ident { $($field:ident in $made:expr),+ $(,)? }) => {
        ::proptest::prelude::prop_compose! {
            $(#[$attribute])*
            pub(crate) fn $name()($($field in $made),+) -> $type {
                $type { $($field),+ }
            }
        }
    };
}

pub(crate) mod intake;
pub(crate) mod registry_record;
pub(crate) mod protocol;
pub(crate) mod delivery;
pub(crate) mod answer;
pub(crate) mod memory;

/// Any of the given values.
pub(crate) fn one_of<T: Clone + std::fmt::Debug + 'static>(
    values: &[T],
) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(values.to_vec())
}

/// Text of at least so many characters, in several scripts.
pub(crate) fn text(at_least: usize) -> impl Strategy<Value = String> {
    let piece = one_of(&[
        "a", "Z", "7", " ", "\n", "\"", "\\", "/", "~", "ы", "漢", "한", "é", "😀", "\u{0}",
        "\u{202e}",
    ]);
    vec(piece, at_least..at_least + 8).prop_map(|pieces| pieces.concat())
}

pub(crate) fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(0), 0..3)
}

pub(crate) fn maybe<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>> {
    option::of(strategy)
}

pub(crate) fn nullable<S>(strategy: S) -> impl Strategy<Value = Nullable<S::Value>>
where
    S: Strategy<Value: Clone> + 'static,
{
    prop_oneof![Just(Nullable::Null), strategy.prop_map(Nullable::Value)]
}

pub(crate) fn time() -> impl Strategy<Value = String> {
    one_of(&[
        "2026-01-21T12:00:00Z",
        "2024-02-29T23:59:59.999Z",
        "2026-01-21T12:00:00+03:00",
        "1999-12-31T00:00:00-11:30",
    ])
    .prop_map(str::to_owned)
}

pub(crate) fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-1e300..1e300).prop_map(|float| Number::from_f64(float).unwrap()),
    ]
}

pub(crate) fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0]
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        text(0).prop_map(Value::String),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            vec((text(0), inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

pub(crate) fn object() -> impl Strategy<Value = JsonObject> {
    vec((text(0), value()), 0..3).prop_map(|fields| fields.into_iter().collect())
}

/// Fields beside those a schema names; the prefix keeps the two apart.
pub(crate) fn extra() -> impl Strategy<Value = JsonObject> {
    vec((text(0), value()), 0..3).prop_map(|fields| {
        fields.into_iter().map(|(name, value)| (format!("x-{name}"), value)).collect()
    })
}

pub(crate) fn counts() -> impl Strategy<Value = NamedCounts> {
    btree_map(text(0), any::<u64>(), 0..3)
}
