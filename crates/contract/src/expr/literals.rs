//! Literals of an expression: starting points in the search for an example document.

use serde_json::{Number, Value};

use super::ast::{ExprKind, ExprNode};

/// Maximum number of literals; the search that uses them stops long before that.
const MAX_LITERALS: usize = 1_000;

/// Returns every string, number and boolean literal of the tree once, in source order.
pub(super) fn collect_literals(root: &ExprNode) -> Vec<Value> {
    let mut found = Vec::new();
    collect_from_node(root, &mut found);
    found
}

fn collect_from_node(node: &ExprNode, found: &mut Vec<Value>) {
    let literal = match &node.kind {
        ExprKind::Bool(truth) => Some(Value::Bool(*truth)),
        ExprKind::Num(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(Value::from(*number as i64))
        }
        ExprKind::Num(number) => Number::from_f64(*number).map(Value::Number),
        ExprKind::Str(text) => Some(Value::from(&**text)),
        _ => None,
    };
    if let Some(literal) = literal.filter(|literal| !found.contains(literal)) {
        found.push(literal);
    }
    for child in node.children() {
        if found.len() < MAX_LITERALS {
            collect_from_node(child, found);
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
            expr.collect_literals(),
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
