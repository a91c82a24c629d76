//! Expressions that name what JavaScript finds on every object: here only an own key counts.

use std::sync::Arc;

use super::whole;
use super::written;
use crate::protocol::{Origin, Protocol};
use crate::spec::{Diagnostic, Findings, Source, Tree};

const CODE: &str = "inherited_name";

pub(super) fn check(protocol: &Protocol, findings: &mut Findings) {
    let workflows = whole::workflows(protocol).into_iter();
    let of_workflows = workflows.flat_map(|workflow| written::of_workflow(protocol, workflow));
    for written in of_workflows.chain(written::of_index(protocol)) {
        for inherited in written.expr.inherited_names() {
            findings.push(if findings.is_full(CODE) {
                written.origin.fault(CODE, "").warning()
            } else {
                tell(written.fault(CODE, message(&inherited.name), &inherited.span))
            });
        }
    }
    of_contracts(protocol, findings);
}

/// The rules of the contracts in the folder.
fn of_contracts(protocol: &Protocol, findings: &mut Findings) {
    for (path, text) in protocol.bundle.under("contracts") {
        let Ok(tree) = Tree::parse(Source::new(path, text)) else { continue };
        let name = |key: &str| tree.value[key].as_str().unwrap_or_default();
        let name = format!("{}@{}", name("id"), name("version"));
        let Ok(contract) = protocol.contracts.find(&name) else { continue };
        let root = Origin::root(&Arc::new(tree));
        let own = root.tree.value["rules"].as_array().map_or(0, Vec::len);
        for (index, rule) in contract.rules.iter().take(own).enumerate() {
            let origin = root.child("rules").child(&index.to_string());
            for (key, expr) in [("when", rule.when.as_ref()), ("then", Some(&rule.then))] {
                for inherited in expr.into_iter().flat_map(|expr| expr.inherited_names()) {
                    let origin = origin.child(key);
                    findings.push(match expr {
                        Some(expr) if !findings.is_full(CODE) => tell(origin.fault_within(
                            CODE,
                            message(&inherited.name),
                            expr.source(),
                            &inherited.span,
                        )),
                        _ => origin.fault(CODE, "").warning(),
                    });
                }
            }
        }
    }
}

fn message(name: &str) -> String {
    format!("JavaScript finds `{name}` on every object; here only a key of the value's own counts")
}

fn tell(fault: Diagnostic) -> Diagnostic {
    let hint = "rename the key in the document, or keep this if its own key is what you mean";
    fault.warning().hinting(Some(hint.to_owned()))
}
