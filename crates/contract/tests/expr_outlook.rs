//! What analysis foretells of an expression holds: generated expressions over generated states.
//!
//! Here the state is known, so all that is known of a path is what lies there; whatever then comes out
//! must be among what was foretold. Everything is drawn from fixed seeds, so a failure repeats.

#[path = "expr_oracle/states.rs"]
mod states;
#[path = "expr_oracle/expressions.rs"]
mod expressions;
#[path = "expr_oracle/lists.rs"]
mod lists;

use countersign_contract::expr::{
    AbstractValue, Expr, ExprValue, NumberSet, PlainValue, ReadStep, StringSet,
};
use serde_json::Value;

use expressions::Generator;
use testkit::SeededRng;

const CASES: usize = 40_000;
const STATES: usize = 200;
const NAMES: &[&str] = &["state", "reply"];

/// Ours, which no generator of JavaScript draws; `x` is put in the place of `_`.
const OURS: &[&str] = &[
    "Text.words(_)",
    "Text.words(_).map(w => w.length)",
    "Text.fingerprint(_) === 'x'",
    "Text.similarity(_, state.s)",
    "Text.similarity(_, state.s) >= 0.75",
    "Text.numbers(_)[0]",
    "Text.slug(_)",
    "Text.matches(_, '[a-z]')",
    "Pointer.get(_, '/0')",
    "Pointer.has(_, '/x')",
    "Pointer.get({a: _}, '/a')",
    "[_].toSorted((a, b) => 0)[0]",
    "{a: _}.a",
    "[{a: _}].find(t => t.a === _)?.a",
    "[..._].length",
    "{..._}",
];

#[test]
fn whatever_comes_out_was_foretold() {
    let states = states::generate(STATES);
    let mut rng = SeededRng::new(5);
    let (mut values, mut exact) = (0, 0);
    let mut wrong = Vec::new();
    for round in 0..CASES {
        let drawn = Generator::new(&mut rng).expression();
        let source = if round % 4 == 0 {
            rng.pick_ref(OURS).replace('_', &format!("({drawn})"))
        } else {
            drawn
        };
        let at = [rng.next_below(STATES), rng.next_below(STATES)].map(|at| &states[at]);
        let Ok(expr) = Expr::compile(&source, NAMES) else { continue };
        let known = |slot: usize, steps: &[ReadStep]| known(at[slot], steps);
        let outlook = expr.analyze(&known);
        if let Ok(value) = expr.eval(&at.map(Some)) {
            values += 1;
            exact += usize::from(outlook.value != AbstractValue::any());
            if !foretold(&outlook.value, &value) {
                wrong.push(format!("{source} gave {value}, foretold was {}", outlook.value));
            }
        }
    }
    wrong.sort_by_key(String::len);
    wrong.truncate(20);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(values > CASES / 2, "{values}");
    assert!(exact > values / 2, "{exact} of {values}");
}

/// What lies at a path, an element standing for all of them.
fn known(value: &Value, steps: &[ReadStep]) -> AbstractValue {
    let Some((step, rest)) = steps.split_first() else { return AbstractValue::from_json(value) };
    let inside: Vec<&Value> = match (step, value) {
        (ReadStep::Field(name), Value::Object(map)) => map.get(name).into_iter().collect(),
        (ReadStep::Element, Value::Object(map)) => map.values().collect(),
        (ReadStep::Element, Value::Array(items)) => items.iter().collect(),
        _ => Vec::new(),
    };
    let nothing = AbstractValue::from_plain(PlainValue::Undefined);
    inside.into_iter().fold(nothing, |all, value| all.union(&known(value, rest)))
}

fn foretold(may: &AbstractValue, value: &ExprValue<'_>) -> bool {
    match value {
        ExprValue::Undefined => may.has_plain(PlainValue::Undefined),
        ExprValue::Null => may.has_plain(PlainValue::Null),
        ExprValue::Bool(truth) => {
            may.has_plain(if *truth { PlainValue::True } else { PlainValue::False })
        }
        ExprValue::Num(number) => match &may.numbers {
            NumberSet::Empty => false,
            NumberSet::OneOf(some) => some.contains(number),
            NumberSet::Between(low, high) => {
                (low <= number && number <= high)
                    || (number.is_nan() && low.is_infinite() && high.is_infinite())
            }
        },
        ExprValue::Str(text) => match &may.strings {
            StringSet::Empty => false,
            StringSet::OneOf(some) => some.contains(text.as_str()),
            StringSet::Any => true,
        },
        ExprValue::Json(Value::Object(_)) | ExprValue::Object(_) => {
            may.has_plain(PlainValue::Object)
        }
        ExprValue::Json(list) => holds(may, list.as_array().expect("an array").len()),
        ExprValue::List(list) => holds(may, list.items().len()),
    }
}

fn holds(may: &AbstractValue, length: usize) -> bool {
    may.list_lengths.is_some_and(|(least, most)| least <= length && length <= most)
}
