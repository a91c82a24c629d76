//! Names that JavaScript finds on every object, but an expression only among an object's own keys.
//! `check` reports where the two differ.

use std::ops::Range;

use super::ast::{BinaryOp, ExprCallback, ExprKind, ExprNode, ParamPattern};
use super::vocabulary::JsPrototype;

/// Inherited name that an expression reads, or tests with `in`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InheritedName {
    /// Name as in JavaScript: `constructor`, `__proto__`, `toString`.
    pub name: String,
    /// Byte range in the source where the name is used.
    pub span: Range<usize>,
}

/// Returns every such name that the source spells out, in source order.
pub(super) fn collect_inherited_names(root: &ExprNode) -> Vec<InheritedName> {
    let mut found = Vec::new();
    collect_from_node(root, &mut found);
    found
}

fn collect_from_node(node: &ExprNode, found: &mut Vec<InheritedName>) {
    let mut add = |name: &str, span: Range<usize>| {
        if JsPrototype::Object.has_member(name) {
            found.push(InheritedName { name: name.to_owned(), span });
        }
    };
    match &node.kind {
        ExprKind::Member { name, .. } => add(name, node.span.range()),
        ExprKind::Index { key, .. } => {
            if let ExprKind::Str(name) = &key.kind {
                add(name, node.span.range());
            }
        }
        ExprKind::Binary { op: BinaryOp::In, left, .. } => {
            if let ExprKind::Str(name) = &left.kind {
                add(name, node.span.range());
            }
        }
        ExprKind::CallbackCall { callback, .. } => {
            if let ExprCallback::Arrow { params, .. } = &**callback {
                for param in params {
                    if let ParamPattern::Fields { fields, .. } = param {
                        for field in fields {
                            add(&field.name, field.span.range());
                        }
                    }
                }
            }
        }
        _ => {}
    }
    node.children().into_iter().for_each(|child| collect_from_node(child, found));
}

#[cfg(test)]
mod tests {
    use crate::expr::Expr;

    #[test]
    fn names_that_are_written_out_are_found() {
        let source = "'constructor' in state && state.a.valueOf === state['__proto__'] \
                      || state.l.some(({toString}) => toString) || 'x' in state";
        let expr = Expr::compile(source, &["state"]).unwrap();
        let found: Vec<&str> =
            expr.inherited_names().iter().map(|one| &source[one.span.clone()]).collect();
        assert_eq!(
            found,
            ["'constructor' in state", "state.a.valueOf", "state['__proto__']", "toString"]
        );
    }
}
