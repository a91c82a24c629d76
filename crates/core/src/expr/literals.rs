//! The values an author wrote out in an expression: what a search for a telling document begins with.

use serde_json::{Number, Value};

use super::ast::{Callback, Entry, Kind, Node};

/// Every string, number and truth value of the tree, each once, in the order of the source.
pub(super) fn literals(root: &Node) -> Vec<Value> {
    let mut found = Vec::new();
    collect(root, &mut found);
    found
}

fn collect(node: &Node, found: &mut Vec<Value>) {
    let literal = match &node.kind {
        Kind::Bool(truth) => Some(Value::Bool(*truth)),
        Kind::Num(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(Value::from(*number as i64))
        }
        Kind::Num(number) => Number::from_f64(*number).map(Value::Number),
        Kind::Str(text) => Some(Value::from(&**text)),
        _ => None,
    };
    if let Some(literal) = literal.filter(|literal| !found.contains(literal)) {
        found.push(literal);
    }
    match &node.kind {
        Kind::Undefined
        | Kind::Null
        | Kind::Bool(_)
        | Kind::Num(_)
        | Kind::Str(_)
        | Kind::Root(_)
        | Kind::Local(_) => {}
        Kind::Template { parts: nodes, .. } | Kind::Builtin { args: nodes, .. } => {
            for node in nodes {
                collect(node, found);
            }
        }
        Kind::Array(items) => {
            for item in items {
                collect(item.node(), found);
            }
        }
        Kind::Object(entries) => {
            for node in entries.iter().flat_map(Entry::nodes) {
                collect(node, found);
            }
        }
        Kind::Member { object, .. } | Kind::Matches { subject: object, .. } => {
            collect(object, found);
        }
        Kind::Index { object, key, .. } => {
            collect(object, found);
            collect(key, found);
        }
        Kind::Method { object, args, .. } => {
            collect(object, found);
            for arg in args {
                collect(arg, found);
            }
        }
        Kind::Each { object, callback, initial, .. } => {
            collect(object, found);
            if let Callback::Arrow { body, .. } = &**callback {
                collect(body, found);
            }
            if let Some(initial) = initial {
                collect(initial, found);
            }
        }
        Kind::Chain(inner) | Kind::Unary { operand: inner, .. } => collect(inner, found),
        Kind::Binary { left, right, .. } | Kind::Logical { left, right, .. } => {
            collect(left, found);
            collect(right, found);
        }
        Kind::Conditional { condition, then, otherwise } => {
            collect(condition, found);
            collect(then, found);
            collect(otherwise, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::expr::Expr;

    #[test]
    fn each_literal_is_found_once() {
        let source = "state.a === 'x' && state.l.some(t => t.n > 2.5 || t.k === 'x') || [1, true, ...['y'], {a: 'z', ['k']: 2, ...{b: 3}}]";
        let expr = Expr::compile(source, &["state"]).unwrap();
        assert_eq!(
            expr.literals(),
            [
                json!("x"),
                json!(2.5),
                json!(1),
                json!(true),
                json!("y"),
                json!("z"),
                json!("k"),
                json!(2),
                json!(3)
            ]
        );
    }
}
