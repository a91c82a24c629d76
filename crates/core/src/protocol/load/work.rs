//! The work of a phase: which it is, and what it names.

use super::change::{applied, changes, settings};
use super::effect::effect;
use super::expression::{expression, optional};
use super::member::Member;
use super::otherwise::outcome;
use super::question::questions;
use super::retry::retry;
use super::scope::Scope;
use super::text::templates;
use super::{each, place};
use crate::protocol::{AgentWork, ForEach, Invoke, NAMES, Purpose, Work};

/// How many children run at once where the author does not say.
const AT_ONCE: u64 = 8;

const WORKS: [&str; 4] = ["agent", "ask", "do", "invoke"];

/// Keys that mean something only beside certain works.
const BELONGS: [(&str, &[&str]); 8] = [
    ("gives", &["agent", "ask", "do", "invoke"]),
    ("contract", &["agent", "do"]),
    ("apply", &["agent", "do"]),
    ("prompt", &["agent"]),
    ("purpose", &["agent"]),
    ("reads", &["agent"]),
    ("on_refused", &["agent"]),
    ("refusal_spends", &["agent"]),
];

/// Reads the work of a phase; `None` where it has a fault.
pub(super) fn work(phase: &Member<'_>, scope: &Scope<'_>) -> Option<Work> {
    let named: Vec<&str> = WORKS.into_iter().filter(|key| phase.get(key).is_some()).collect();
    if named.len() > 1 {
        let both = named.join("` and `");
        let message = format!("a phase does one thing, and this one has `{both}`");
        let hint = "make two phases with a transition between them".to_owned();
        let fault = phase.fault_at_key("two_works", named[1], message);
        scope.faults.push(fault.hinting(Some(hint)));
        return None;
    }
    let name = named.first().copied();
    misplaced(phase, name, scope);
    match name {
        None => Some(Work::None),
        Some("agent") => agent(phase, scope).map(Work::Agent),
        Some("ask") => Some(Work::Ask(questions(&phase.get("ask")?, scope))),
        Some("do") => done(phase, &phase.get("do")?, scope),
        Some(_) => invoke(&phase.get("invoke")?, scope).map(Work::Invoke),
    }
}

fn misplaced(phase: &Member<'_>, work: Option<&str>, scope: &Scope<'_>) {
    for (key, works) in BELONGS {
        if phase.get(key).is_none() || work.is_some_and(|work| works.contains(&work)) {
            continue;
        }
        let message = format!("`{key}` belongs to a phase with `{}`", works.join("` or `"));
        let hint = match (key, work) {
            ("apply", Some("ask")) => Some("put `apply` under `ask`, beside its question"),
            ("apply", Some("invoke")) => Some("put it under `invoke`, as `output`"),
            ("gives", _) => Some("put it on a way out of the phase"),
            _ => None,
        };
        let fault = phase.fault_at_key("misplaced_key", key, message);
        scope.faults.push(fault.hinting(hint.map(str::to_owned)));
    }
}

fn agent(phase: &Member<'_>, scope: &Scope<'_>) -> Option<AgentWork> {
    let (names, faults) = (scope.names, scope.faults);
    let agent = names.agents.find(&phase.get("agent")?, faults).cloned();
    let contract = match phase.get("contract") {
        Some(contract) => names.contracts.find(&contract, faults),
        None => {
            let message = "a phase with an `agent` needs the `contract` its reply is held against";
            let hint = "name one: `contract: ID`; its file stands in `contracts/`".to_owned();
            let fault = phase.fault_at_key("contract_missing", "agent", message);
            faults.push(fault.hinting(Some(hint)));
            None
        }
    };
    let prompt = phase.get("prompt").map(|it| templates(&it, &NAMES[..2], faults).ok_or(()));
    let purpose = match phase.text_of("purpose") {
        Some("tool") => Purpose::Tool,
        Some("responder") => Purpose::Responder,
        _ => Purpose::Planner,
    };
    let reads = phase.get("reads").map(|reads| {
        reads.items().iter().filter_map(|item| place::pointer(item, faults)).collect()
    });
    let apply = applied(phase, scope);
    let on_refused = phase.get("on_refused").map(|it| outcome(Some(&it), scope));
    Some(AgentWork {
        agent: agent?,
        contract: contract?,
        prompt: prompt.transpose().ok()?,
        purpose,
        reads,
        apply,
        on_refused,
        refusal_spends: phase.owned("refusal_spends"),
    })
}

fn done(phase: &Member<'_>, body: &Member<'_>, scope: &Scope<'_>) -> Option<Work> {
    let (names, faults) = (scope.names, scope.faults);
    let contract = phase.get("contract").map(|it| names.contracts.find(&it, faults).ok_or(()));
    let each = each::each(body, &[], scope);
    let (reads, texts) = each::names(each.as_ref().ok().and_then(Option::as_ref), false);
    let scope = &Scope { reads: &reads, texts: &texts, ..*scope };
    let effect = effect(body, scope);
    let apply = applied(phase, scope);
    let retry = body.get("retry").and_then(|it| retry(&it, faults));
    let on_failed = outcome(body.get("on_failed").as_ref(), scope);
    let contract = contract.transpose().ok()?;
    Some(Work::Effect { each: each.ok()?, effect: effect?, apply, contract, retry, on_failed })
}

fn invoke(body: &Member<'_>, scope: &Scope<'_>) -> Option<Invoke> {
    let (names, faults) = (scope.names, scope.faults);
    let workflow = body.get("workflow")?;
    let known = names.workflows.find(&workflow, faults).is_some();
    let each = each::each(body, &["key", "limit"], scope);
    let (reads, texts) = each::names(each.as_ref().ok().and_then(Option::as_ref), true);
    let scope = &Scope { reads: &reads, texts: &texts, ..*scope };
    let key = optional(body.get("key"), &texts, faults);
    let engine = names.engine_of(workflow.text().unwrap_or_default());
    let given = |(pointer, value): &(&str, Member<'_>)| {
        let at = place::named(pointer, value, faults)?;
        if let Some(own) = place::engine_at(&at, engine) {
            place::tell_engine(value, &at, own, faults);
        }
        Some((at, expression(value, scope.texts, faults)?))
    };
    let input = body.get("input").map(|input| input.entries()).unwrap_or_default();
    let input: Vec<_> = input.iter().filter_map(given).collect();
    let output = match body.get("output") {
        None => Vec::new(),
        Some(output) if output.value.is_array() => changes(&output, scope),
        Some(output) => settings(&output, scope),
    };
    let on_complete = body.get("on_complete");
    if let Some(phase) = &on_complete {
        scope.phases.find(phase, faults);
    }
    let on_failed = outcome(body.get("on_failed").as_ref(), scope);
    let on_complete = on_complete.and_then(|phase| phase.text().map(str::to_owned));
    let workflow = workflow.text()?.to_owned();
    let limit = body.value["limit"].as_u64().unwrap_or(AT_ONCE) as usize;
    let key = key.ok()?;
    let each = each.ok()?.map(|each| ForEach { each, key, limit });
    known.then_some(Invoke { each, workflow, input, output, on_complete, on_failed })
}
