//! Finds rules and changes that read fields which their contract does not have.

use std::sync::Arc;

use countersign_contract::contract::{Contract, ContractRule, RULE_VARIABLES};
use countersign_contract::expr::{Expr, ReadStep};
use countersign_contract::json;
use countersign_contract::source::{Diagnostic, DiagnosticCollector, ParsedSourceFile, SourceFile};

use super::analysis_budget::AnalysisBudget;
use super::gate_analysis::suggest_names;
use super::located_expressions::{self, REPLY_SLOT};
use super::schema_path_view::{FieldDeclaration, SchemaPathView};
use super::standalone_workflows;
use crate::{FileOrigin, PhaseWork, Protocol, WorkflowDefinition};

/// The slots of the names in a rule.
const RULE_REPLY: usize = 0;
const RULE_STATE: usize = 1;
const RULE_NEW: usize = 3;
const RULE_ITEM: usize = RULE_VARIABLES.len() - 1;

pub(super) fn check(
    protocol: &Protocol,
    effort: &AnalysisBudget,
    findings: &mut DiagnosticCollector,
) {
    check_contract_rules(protocol, effort, findings);
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        for written in located_expressions::collect_workflow_expressions(protocol, workflow) {
            let Some(reply) = written.reply else { continue };
            let view = SchemaPathView::with_budget(reply, effort);
            for read in written.expr.read_paths().iter().filter(|read| read.slot == REPLY_SLOT) {
                if let Some(unknown) = find_unknown_field(view, &read.steps, findings) {
                    let path = &written.expr.source()[read.span.clone()];
                    let message = unknown.describe(path, "the reply's contract");
                    let fault = written.diagnose_span(CODE, message, &read.span);
                    findings.push(unknown.finish_diagnostic(fault));
                }
            }
        }
    }
}

const CODE: &str = "rule_reads_unknown_field";

/// A read of a field that a contract does not declare.
struct UnknownFieldRead {
    name: String,
    is_forbidden: bool,
    hint: Option<String>,
}

impl UnknownFieldRead {
    fn describe(&self, path: &str, owner: &str) -> String {
        let Self { name, is_forbidden: closed, .. } = self;
        if *closed {
            format!("`{path}` never exists: {owner} has no `{name}` at this location")
        } else {
            format!("{owner} declares other fields there, but not `{name}`")
        }
    }

    fn finish_diagnostic(self, fault: Diagnostic) -> Diagnostic {
        let fault = if self.is_forbidden { fault } else { fault.into_warning() };
        fault.with_hint(self.hint)
    }
}

fn find_unknown_field(
    view: SchemaPathView<'_>,
    steps: &[ReadStep],
    findings: &DiagnosticCollector,
) -> Option<UnknownFieldRead> {
    let (closed, index, names) = match view.classify_path(steps) {
        FieldDeclaration::Allowed => return None,
        FieldDeclaration::Forbidden(index, names) => (true, index, names),
        FieldDeclaration::Undeclared(index, names) => (false, index, names),
    };
    let ReadStep::Field(name) = &steps[index] else { return None };
    let hint = if findings.is_full(CODE) { None } else { suggest_names(name, &names) };
    Some(UnknownFieldRead { name: name.clone(), is_forbidden: closed, hint })
}

/// Checks the rules of the contracts in the folder; the shipped ones are not the author's.
fn check_contract_rules(
    protocol: &Protocol,
    effort: &AnalysisBudget,
    findings: &mut DiagnosticCollector,
) {
    for (contract, rule, origin) in author_rules(protocol) {
        check_rule((contract, effort), rule, &origin, findings);
        check_document_reads((protocol, effort), contract, rule, &origin, findings);
    }
}

/// Checks what a rule reads of `state` and `new`, against the documents of the workflows whose
/// replies the contract admits. A path that one of them has is not reported.
fn check_document_reads(
    (protocol, effort): (&Protocol, &AnalysisBudget),
    contract: &Contract,
    rule: &ContractRule,
    origin: &FileOrigin,
    findings: &mut DiagnosticCollector,
) {
    let expressions = [("when", rule.when.as_ref()), ("then", Some(&rule.then))];
    let reads_document = |expr: &Expr| expr.uses_root(RULE_STATE) || expr.uses_root(RULE_NEW);
    if !expressions.iter().any(|(_, expr)| expr.is_some_and(reads_document)) {
        return;
    }
    let users = protocol.workflows.values().filter(|workflow| admits_with(workflow, contract));
    let Some(documents) = users
        .map(|workflow| protocol.document_for(workflow).contract.as_deref())
        .collect::<Option<Vec<&Contract>>>()
    else {
        return;
    };
    for (key, expr) in expressions {
        let Some(expr) = expr else { continue };
        let reads = expr.read_paths().iter();
        for read in reads.filter(|read| [RULE_STATE, RULE_NEW].contains(&read.slot)) {
            let find = |document: &&Contract| {
                let view = SchemaPathView::with_budget(document.schema.source(), effort);
                find_unknown_field(view, &read.steps, findings)
            };
            let unknown: Option<Vec<_>> = documents.iter().map(find).collect();
            let Some(first) = unknown.and_then(|all| all.into_iter().next()) else { continue };
            let path = &expr.source()[read.span.clone()];
            let message = first.describe(path, &format!("contract `{}`", documents[0].id));
            let fault = origin.child(key).diagnose_within(CODE, message, expr.source(), &read.span);
            findings.push(first.finish_diagnostic(fault));
        }
    }
}

/// Whether a phase of the workflow admits its replies by this contract.
fn admits_with(workflow: &WorkflowDefinition, contract: &Contract) -> bool {
    workflow.phases.iter().any(|phase| {
        let admits = match &phase.work {
            PhaseWork::Agent(work) => Some(&work.contract),
            PhaseWork::Effect { contract, .. } => contract.as_ref(),
            PhaseWork::None | PhaseWork::Ask(_) | PhaseWork::Invoke(_) => None,
        };
        admits.is_some_and(|admits| admits.id == contract.id && admits.version == contract.version)
    })
}

/// Returns the rules that the contracts in the folder declare themselves, with their locations. The
/// rules of a base contract come last and are not the author's.
pub(super) fn author_rules(
    protocol: &Protocol,
) -> impl Iterator<Item = (&Contract, &ContractRule, FileOrigin)> {
    protocol.bundle.files_in_folder("contracts").flat_map(|(path, text)| {
        let tree = ParsedSourceFile::parse(SourceFile::new(path, text)).ok();
        let found = tree.and_then(|tree| {
            let name = |key: &str| tree.value[key].as_str().unwrap_or_default();
            let name = format!("{}@{}", name("id"), name("version"));
            Some((protocol.contracts.find(&name).ok()?, FileOrigin::root(&Arc::new(tree))))
        });
        found.into_iter().flat_map(|(contract, root)| {
            let own = root.tree.value["rules"].as_array().map_or(0, Vec::len);
            contract.rules.iter().take(own).enumerate().map(move |(index, rule)| {
                (&**contract, &**rule, root.child("rules").child(&index.to_string()))
            })
        })
    })
}

fn check_rule(
    (contract, effort): (&Contract, &AnalysisBudget),
    rule: &ContractRule,
    origin: &FileOrigin,
    findings: &mut DiagnosticCollector,
) {
    let view = SchemaPathView::with_budget(contract.schema.source(), effort);
    let item: Vec<ReadStep> =
        rule.each.iter().flat_map(|pattern| parse_read_steps(&pattern.to_string())).collect();
    let tell = |unknown: UnknownFieldRead, path: &str, fault: &dyn Fn(String) -> Diagnostic| {
        let message = unknown.describe(path, &format!("contract `{}`", contract.id));
        unknown.finish_diagnostic(fault(message))
    };
    if let Some(unknown) = find_unknown_field(view, &item, findings) {
        let each = rule.each.as_ref().map(ToString::to_string).unwrap_or_default();
        let fault = tell(unknown, &each, &|message| origin.child("each").diagnose(CODE, message));
        findings.push(fault);
        return;
    }
    let expressions = [("when", rule.when.as_ref()), ("then", Some(&rule.then))];
    for (key, expr) in expressions {
        let Some(expr) = expr else { continue };
        for (path, steps, span) in collect_reads(expr, &item) {
            if let Some(unknown) = find_unknown_field(view, &steps, findings) {
                findings.push(tell(unknown, &path, &|message| {
                    origin.child(key).diagnose_within(CODE, message, expr.source(), &span)
                }));
            }
        }
    }
    let at: Vec<ReadStep> = item.iter().cloned().chain(parse_read_steps(&rule.at)).collect();
    if let Some(unknown) = find_unknown_field(view, &at, findings) {
        let fault = tell(unknown, &rule.at, &|message| origin.child("at").diagnose(CODE, message));
        findings.push(fault);
    }
}

/// Collects the paths of the reply that an expression of a rule reads: source text, steps and
/// range.
fn collect_reads(
    expr: &Expr,
    item: &[ReadStep],
) -> Vec<(String, Vec<ReadStep>, std::ops::Range<usize>)> {
    let reads = expr.read_paths().iter();
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

/// Converts a pointer or pattern to steps of a path; numbers and stars become elements.
fn parse_read_steps(pointer: &str) -> Vec<ReadStep> {
    json::split_pointer(pointer)
        .map(|segment| match &*segment {
            "*" => ReadStep::Element,
            number if number.parse::<usize>().is_ok() => ReadStep::Element,
            name => ReadStep::Field(name.to_owned()),
        })
        .collect()
}
