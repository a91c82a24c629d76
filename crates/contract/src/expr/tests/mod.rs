//! Tables of expressions with their values, compile errors and evaluation errors.

mod values;
mod extensions;
mod refusals;
mod failures;

use serde_json::Value;

use super::{EvalError, Expr};

/// Evaluates the source over one root, `state`, and formats the value for people.
fn evaluate(source: &str, state: &str) -> Result<String, EvalError> {
    let state: Value = serde_json::from_str(state).unwrap();
    let expr = Expr::compile(source, &["state"])
        .unwrap_or_else(|error| panic!("{source}: {error}, hint: {:?}", error.hint));
    expr.eval(&[Some(&state)]).map(|value| value.to_string())
}
