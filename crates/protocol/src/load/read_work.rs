//! Reads the work of a phase: its kind and the names it refers to.

use super::file_node::FileNode;
use super::name_scope::NameScope;
use super::read_changes::{read_apply, read_changes, read_set_changes};
use super::read_effect::read_effect;
use super::read_expression::{read_expression, read_optional_expression};
use super::read_failure_handler::read_failure_handler;
use super::read_localized::read_localized_template;
use super::read_questions::read_questions;
use super::read_retry_policy::read_retry_policy;
use super::{read_for_each, read_pointer};
use crate::{
    AgentPurpose, AgentWork, ChildFanOut, EXPRESSION_NAMES, PhaseWork, WorkflowInvocation,
};

/// Number of children that run at the same time if the author sets none.
const DEFAULT_MAX_CONCURRENT: u64 = 8;

const WORK_KEYS: [&str; 4] = ["agent", "ask", "do", "invoke"];

/// Keys that are valid only with certain kinds of work.
const KEY_OWNERS: [(&str, &[&str]); 8] = [
    ("issues", &["agent", "ask", "do", "invoke"]),
    ("contract", &["agent", "do"]),
    ("apply", &["agent", "do"]),
    ("prompt", &["agent"]),
    ("purpose", &["agent"]),
    ("reads", &["agent"]),
    ("on_refused", &["agent"]),
    ("refusal_spends", &["agent"]),
];

/// Reads the work of a phase; `None` if it is invalid.
pub(super) fn read_work(phase: &FileNode<'_>, scope: &NameScope<'_>) -> Option<PhaseWork> {
    let named: Vec<&str> = WORK_KEYS.into_iter().filter(|key| phase.get(key).is_some()).collect();
    if named.len() > 1 {
        let both = named.join("` and `");
        let message = format!("a phase does one thing, and this one has `{both}`");
        let hint = "make two phases with a transition between them".to_owned();
        let fault = phase.diagnose_key("two_works", named[1], message);
        scope.faults.push(fault.with_hint(Some(hint)));
        return None;
    }
    let name = named.first().copied();
    check_misplaced_keys(phase, name, scope);
    match name {
        None => Some(PhaseWork::None),
        Some("agent") => read_agent_work(phase, scope).map(PhaseWork::Agent),
        Some("ask") => Some(PhaseWork::Ask(read_questions(&phase.get("ask")?, scope))),
        Some("do") => read_effect_work(phase, &phase.get("do")?, scope),
        Some(_) => read_invocation(&phase.get("invoke")?, scope).map(PhaseWork::Invoke),
    }
}

fn check_misplaced_keys(phase: &FileNode<'_>, work: Option<&str>, scope: &NameScope<'_>) {
    for (key, works) in KEY_OWNERS {
        if phase.get(key).is_none() || work.is_some_and(|work| works.contains(&work)) {
            continue;
        }
        let message = format!("`{key}` belongs to a phase with `{}`", works.join("` or `"));
        let hint = match (key, work) {
            ("apply", Some("ask")) => Some("put `apply` under `ask`, next to its question"),
            ("apply", Some("invoke")) => Some("put it under `invoke`, as `output`"),
            ("issues", _) => Some("put it on a transition from the phase"),
            _ => None,
        };
        let fault = phase.diagnose_key("misplaced_key", key, message);
        scope.faults.push(fault.with_hint(hint.map(str::to_owned)));
    }
}

fn read_agent_work(phase: &FileNode<'_>, scope: &NameScope<'_>) -> Option<AgentWork> {
    let (names, faults) = (scope.names, scope.faults);
    let agent = names.agents.resolve_name(&phase.get("agent")?, faults).cloned();
    let contract = match phase.get("contract") {
        Some(contract) => names.contracts.resolve_name(&contract, faults),
        None => {
            let message = "a phase with an `agent` needs a `contract` for its reply";
            let hint = "add `contract: ID`; contract files belong in `contracts/`".to_owned();
            let fault = phase.diagnose_key("contract_missing", "agent", message);
            faults.push(fault.with_hint(Some(hint)));
            None
        }
    };
    let prompt = phase
        .get("prompt")
        .map(|it| read_localized_template(&it, &EXPRESSION_NAMES[..2], faults).ok_or(()));
    let purpose = match phase.text_at("purpose") {
        Some("tool") => AgentPurpose::Tool,
        Some("responder") => AgentPurpose::Responder,
        _ => AgentPurpose::Planner,
    };
    let reads = phase.get("reads").map(|reads| {
        reads.items().iter().filter_map(|item| read_pointer::read_pointer(item, faults)).collect()
    });
    let apply = read_apply(phase, scope);
    let on_refused = phase.get("on_refused").map(|it| read_failure_handler(Some(&it), scope));
    Some(AgentWork {
        agent: agent?,
        contract: contract?,
        prompt: prompt.transpose().ok()?,
        purpose,
        reads,
        apply,
        on_refused,
        refusal_spends: phase.string_at("refusal_spends"),
    })
}

fn read_effect_work(
    phase: &FileNode<'_>,
    body: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<PhaseWork> {
    let (names, faults) = (scope.names, scope.faults);
    let contract =
        phase.get("contract").map(|it| names.contracts.resolve_name(&it, faults).ok_or(()));
    let each = read_for_each::read_for_each(body, &[], scope);
    let (reads, texts) =
        read_for_each::expression_names(each.as_ref().ok().and_then(Option::as_ref), false);
    let scope = &NameScope { change_names: &reads, text_names: &texts, ..*scope };
    let effect = read_effect(body, scope);
    let apply = read_apply(phase, scope);
    let retry = body.get("retry").and_then(|it| read_retry_policy(&it, faults));
    let on_failed = read_failure_handler(body.get("on_failed").as_ref(), scope);
    let contract = contract.transpose().ok()?;
    Some(PhaseWork::Effect {
        for_each: each.ok()?,
        effect: effect?,
        apply,
        contract,
        retry,
        on_failed,
    })
}

fn read_invocation(body: &FileNode<'_>, scope: &NameScope<'_>) -> Option<WorkflowInvocation> {
    let (names, faults) = (scope.names, scope.faults);
    let workflow = body.get("workflow")?;
    let known = names.workflows.resolve_name(&workflow, faults).is_some();
    let each = read_for_each::read_for_each(body, &["key", "limit"], scope);
    let (reads, texts) =
        read_for_each::expression_names(each.as_ref().ok().and_then(Option::as_ref), true);
    let scope = &NameScope { change_names: &reads, text_names: &texts, ..*scope };
    let key = read_optional_expression(body.get("key"), &texts, faults);
    let engine = names.engine_fields_for(workflow.text().unwrap_or_default());
    let parse_input = |(pointer, value): &(&str, FileNode<'_>)| {
        let at = read_pointer::parse_pointer(pointer, value, faults)?;
        if let Some(own) = read_pointer::find_overlapping_engine_field(&at, engine) {
            read_pointer::report_engine_field(value, &at, own, faults);
        }
        Some((at, read_expression(value, scope.text_names, faults)?))
    };
    let input = body.get("input").map(|input| input.entries()).unwrap_or_default();
    let input: Vec<_> = input.iter().filter_map(parse_input).collect();
    let output = match body.get("output") {
        None => Vec::new(),
        Some(output) if output.value.is_array() => read_changes(&output, scope),
        Some(output) => read_set_changes(&output, scope),
    };
    let on_complete = body.get("on_complete");
    if let Some(phase) = &on_complete {
        scope.phases.resolve_name(phase, faults);
    }
    let on_failed = read_failure_handler(body.get("on_failed").as_ref(), scope);
    let on_complete = on_complete.and_then(|phase| phase.text().map(str::to_owned));
    let workflow = workflow.text()?.to_owned();
    let limit = body.value["limit"].as_u64().unwrap_or(DEFAULT_MAX_CONCURRENT) as usize;
    let key = key.ok()?;
    let each = each.ok()?.map(|each| ChildFanOut { for_each: each, key, max_concurrent: limit });
    known.then_some(WorkflowInvocation {
        fan_out: each,
        workflow,
        input,
        output,
        on_complete,
        on_failed,
    })
}
