//! Finds expressions that use names which JavaScript objects inherit; here only own keys count.

use countersign_contract::source::{Diagnostic, DiagnosticCollector};

use super::located_expressions;
use super::standalone_workflows;
use super::unknown_fields::author_rules;
use crate::Protocol;

const CODE: &str = "inherited_name";

pub(super) fn check(protocol: &Protocol, findings: &mut DiagnosticCollector) {
    let workflows = standalone_workflows::find_standalone_workflows(protocol).into_iter();
    let of_workflows = workflows
        .flat_map(|workflow| located_expressions::collect_workflow_expressions(protocol, workflow));
    for written in of_workflows.chain(located_expressions::collect_index_expressions(protocol)) {
        for inherited in written.expr.inherited_names() {
            findings.push(if findings.is_full(CODE) {
                written.origin.diagnose(CODE, "").into_warning()
            } else {
                add_hint(written.diagnose_span(
                    CODE,
                    describe_inherited_name(&inherited.name),
                    &inherited.span,
                ))
            });
        }
    }
    check_contract_rules(protocol, findings);
}

/// Checks the rules of the contracts in the folder.
fn check_contract_rules(protocol: &Protocol, findings: &mut DiagnosticCollector) {
    for (_, rule, origin) in author_rules(protocol) {
        for (key, expr) in [("when", rule.when.as_ref()), ("then", Some(&rule.then))] {
            for inherited in expr.into_iter().flat_map(|expr| expr.inherited_names()) {
                let origin = origin.child(key);
                findings.push(match expr {
                    Some(expr) if !findings.is_full(CODE) => add_hint(origin.diagnose_within(
                        CODE,
                        describe_inherited_name(&inherited.name),
                        expr.source(),
                        &inherited.span,
                    )),
                    _ => origin.diagnose(CODE, "").into_warning(),
                });
            }
        }
    }
}

fn describe_inherited_name(name: &str) -> String {
    format!("in JavaScript every object has `{name}`; here only the value's own keys count")
}

fn add_hint(fault: Diagnostic) -> Diagnostic {
    let hint = "rename the key in the document, or keep this if you mean the value's own key";
    fault.into_warning().with_hint(Some(hint.to_owned()))
}
