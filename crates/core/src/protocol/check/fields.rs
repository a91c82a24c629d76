//! Rules and changes that name fields their contract does not have.

use std::sync::Arc;

use super::effort::Effort;
use super::opening::known_names;
use super::view::{Standing, View};
use super::whole;
use super::written::{self, REPLY};
use crate::contract::{Contract, NAMES, Rule};
use crate::expr::{Expr, ReadStep};
use crate::json;
use crate::protocol::{Origin, Protocol};
use crate::spec::{Diagnostic, Findings, Source, Tree};

/// The slots of a rule's names.
const RULE_REPLY: usize = 0;
const RULE_ITEM: usize = NAMES.len() - 1;

pub(super) fn check(protocol: &Protocol, effort: &Effort, findings: &mut Findings) {
    of_contracts(protocol, effort, findings);
    for workflow in whole::workflows(protocol) {
        for written in written::of_workflow(protocol, workflow) {
            let Some(reply) = written.reply else { continue };
            let view = View::with_effort(reply, effort);
            for read in written.expr.reads().iter().filter(|read| read.slot == REPLY) {
                if let Some(unknown) = unknown(view, &read.steps, findings) {
                    let path = &written.expr.source()[read.span.clone()];
                    let message = unknown.message(path, "the reply's contract");
                    let fault = written.fault(CODE, message, &read.span);
                    findings.push(unknown.tell(fault));
                }
            }
        }
    }
}

const CODE: &str = "rule_reads_unknown_field";

/// A field that a contract does not name.
struct Unknown {
    name: String,
    closed: bool,
    hint: Option<String>,
}

impl Unknown {
    fn message(&self, path: &str, holder: &str) -> String {
        let Self { name, closed, .. } = self;
        if *closed {
            format!("`{path}` is never there: {holder} has no `{name}` at this place")
        } else {
            format!("{holder} names other fields there, and not `{name}`")
        }
    }

    fn tell(self, fault: Diagnostic) -> Diagnostic {
        let fault = if self.closed { fault } else { fault.warning() };
        fault.hinting(self.hint)
    }
}

fn unknown(view: View<'_>, steps: &[ReadStep], findings: &Findings) -> Option<Unknown> {
    let (closed, index, names) = match view.standing(steps) {
        Standing::Known => return None,
        Standing::Forbidden(index, names) => (true, index, names),
        Standing::Undeclared(index, names) => (false, index, names),
    };
    let ReadStep::Field(name) = &steps[index] else { return None };
    let hint = if findings.is_full(CODE) { None } else { known_names(name, &names) };
    Some(Unknown { name: name.clone(), closed, hint })
}

/// The rules of the contracts in the folder; shipped ones are not the author's.
fn of_contracts(protocol: &Protocol, effort: &Effort, findings: &mut Findings) {
    for (path, text) in protocol.bundle.under("contracts") {
        let Ok(tree) = Tree::parse(Source::new(path, text)) else { continue };
        let name = |key: &str| tree.value[key].as_str().unwrap_or_default();
        let name = format!("{}@{}", name("id"), name("version"));
        let Ok(contract) = protocol.contracts.find(&name) else { continue };
        let root = Origin::root(&Arc::new(tree));
        // Those of a base come last, and are not the author's.
        let own = root.tree.value["rules"].as_array().map_or(0, Vec::len);
        for (index, rule) in contract.rules.iter().take(own).enumerate() {
            let origin = root.child("rules").child(&index.to_string());
            of_rule((contract, effort), rule, &origin, findings);
        }
    }
}

fn of_rule(
    (contract, effort): (&Contract, &Effort),
    rule: &Rule,
    origin: &Origin,
    findings: &mut Findings,
) {
    let view = View::with_effort(contract.schema.source(), effort);
    let item: Vec<ReadStep> =
        rule.each.iter().flat_map(|pattern| steps(&pattern.to_string())).collect();
    let tell = |unknown: Unknown, path: &str, fault: &dyn Fn(String) -> Diagnostic| {
        let message = unknown.message(path, &format!("contract `{}`", contract.id));
        unknown.tell(fault(message))
    };
    if let Some(unknown) = unknown(view, &item, findings) {
        let each = rule.each.as_ref().map(ToString::to_string).unwrap_or_default();
        let fault = tell(unknown, &each, &|message| origin.child("each").fault(CODE, message));
        findings.push(fault);
        return;
    }
    let expressions = [("when", rule.when.as_ref()), ("then", Some(&rule.then))];
    for (key, expr) in expressions {
        let Some(expr) = expr else { continue };
        for (path, steps, span) in reads(expr, &item) {
            if let Some(unknown) = unknown(view, &steps, findings) {
                findings.push(tell(unknown, &path, &|message| {
                    origin.child(key).fault_within(CODE, message, expr.source(), &span)
                }));
            }
        }
    }
    let at: Vec<ReadStep> = item.iter().cloned().chain(steps(&rule.at)).collect();
    if let Some(unknown) = unknown(view, &at, findings) {
        let fault = tell(unknown, &rule.at, &|message| origin.child("at").fault(CODE, message));
        findings.push(fault);
    }
}

/// The paths of the reply that an expression of a rule reads: as written, as steps, and where.
fn reads(expr: &Expr, item: &[ReadStep]) -> Vec<(String, Vec<ReadStep>, std::ops::Range<usize>)> {
    let reads = expr.reads().iter();
    reads
        .filter_map(|read| {
            let before: &[ReadStep] = match read.slot {
                RULE_REPLY => &[],
                RULE_ITEM => item,
                _ => return None,
            };
            let steps = before.iter().cloned().chain(read.steps.iter().cloned()).collect();
            Some((expr.source()[read.span.clone()].to_owned(), steps, read.span.clone()))
        })
        .collect()
}

/// A pointer or pattern as the steps of a path; numbers and stars are elements.
fn steps(pointer: &str) -> Vec<ReadStep> {
    json::split(pointer)
        .map(|segment| match &*segment {
            "*" => ReadStep::Element,
            number if number.parse::<usize>().is_ok() => ReadStep::Element,
            name => ReadStep::Field(name.to_owned()),
        })
        .collect()
}
