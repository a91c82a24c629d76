//! Expressions: the source, a zero byte, and a state to evaluate it on.

use std::sync::LazyLock;

use countersign_contract::contract::RULE_VARIABLES;
use countersign_contract::expr::{Expr, ExprValue};
use countersign_contract::json::{self, RepairLevel};
use serde_json::{Value, json};

use super::text_ranges::{assert_inside, parts};

/// A state with something of every kind.
static RICH: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "tasks": [
            {"id": "t1", "title": "Договор", "status": "done", "priority": 1, "tags": ["a", "b"]},
            {"id": "t2", "title": "数据 😀", "status": "open", "priority": -2.5, "tags": []},
            {"id": 3, "status": null, "deep": {"er": [[1, [2, [3]]], {}]}},
        ],
        "nums": [3, 1, 2, -0.0, 1e21, 0.1, 9_007_199_254_740_993_u64, i64::MIN],
        "text": "Größe: „zwölf“ \u{1F600} \n\t line",
        "empty": {"list": [], "object": {}, "text": "", "null": null, "zero": 0, "no": false},
        "obj": {"b": 1, "a": 2, "10": 3, "9": 4, "имя": "x", "constructor": 5, "length": 6},
        "long": vec![Value::from("word"); 200],
        "yes": true,
    })
});

/// Compiles a source and evaluates what compiles.
///
/// # Panics
/// Where an invariant of expressions is broken.
pub fn expression(input: &[u8]) {
    let (source, state) = parts(input);
    let Ok(source) = std::str::from_utf8(source) else { return };
    match Expr::compile(source, &RULE_VARIABLES) {
        Ok(expr) => {
            assert_eq!(expr.source(), source);
            let state_value = parse_state(state);
            for state in [&*RICH, &state_value] {
                check(&expr, &[Some(state); RULE_VARIABLES.len()]);
            }
            check(&expr, &[None, Some(&RICH), None, None, Some(&state_value)]);
        }
        Err(error) => {
            assert!(!error.message.is_empty());
            assert_inside(source, error.span.clone(), &error);
        }
    }
}

fn check(expr: &Expr, roots: &[Option<&Value>]) {
    match (expr.eval(roots), expr.eval_bool(roots)) {
        (Ok(ExprValue::Bool(value)), Ok(truth)) => assert_eq!(value, truth),
        (Ok(value), Err(error)) => {
            assert!(!matches!(value, ExprValue::Bool(_)));
            assert_inside(expr.source(), error.span.clone(), &error);
        }
        (Err(error), Err(again)) => {
            assert_eq!(error, again);
            assert!(!error.message.is_empty());
            assert_inside(expr.source(), error.span.clone(), &error);
        }
        (value, truth) => panic!("{value:?}, and then {truth:?}"),
    }
}

/// The rest of the input as a value, whatever it takes.
fn parse_state(bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    match json::parse_json(&text, RepairLevel::Guess) {
        Ok(reading) => reading.value,
        Err(_) => Value::from(text.into_owned()),
    }
}
