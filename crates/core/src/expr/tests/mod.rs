//! Tables of expressions and what they give: values, load-time refusals, run-time errors.

mod values;
mod extensions;
mod refusals;
mod failures;

use serde_json::Value;

use super::{EvalError, Expr};

/// Evaluates over one root, `state`; gives the value as people read it.
fn evaluate(source: &str, state: &str) -> Result<String, EvalError> {
    let state: Value = serde_json::from_str(state).unwrap();
    let expr = Expr::compile(source, &["state"])
        .unwrap_or_else(|error| panic!("{source}: {error}, hint: {:?}", error.hint));
    expr.eval(&[Some(&state)]).map(|value| value.to_string())
}
