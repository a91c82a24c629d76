//! The working state of a run: what its protocol says it is, read from its document. Pure.

use countersign_core::protocol::{Protocol, WorkingPart};
use countersign_core::run::{State, Time, view};
use countersign_memory::packet::short_term::{
    Decision, LoopOwner, LoopStatus, OpenLoop, PlanStep, Risk, StepStatus, ToolEvidence,
    WorkingState,
};
use countersign_memory::record::{Event, EventKind, Working};
use serde_json::{Map, Value};

use super::catch_up::version;
use super::told;

/// How long a line of the working state is, in characters.
const LINE: usize = 400;

/// How long the result of a tool is told, in characters.
const RESULT: usize = 200;

/// How many results of tools are kept.
const RESULTS: usize = 3;

/// The working state of a run as it stands; its version and the results of tools are for the memory to give.
///
/// Where the protocol does not say, the goal is what the workflow is for, or what the run was started
/// with. What an expression gives in another shape is left out.
#[must_use]
pub fn working(protocol: &Protocol, state: &State, input: Option<&Value>, now: Time) -> Working {
    let run = view(state);
    let part = |part: WorkingPart| -> Option<Value> {
        let expr = protocol.memory.working.get(&part)?;
        expr.eval(&[Some(&state.document), Some(&run)]).ok()?.to_json()
    };
    let goal = if protocol.memory.working.contains_key(&WorkingPart::Goal) {
        part(WorkingPart::Goal).filter(|goal| !goal.is_null())
    } else {
        let workflow = protocol.workflows.get(&state.workflow);
        let description = workflow.and_then(|workflow| workflow.description.clone());
        description.map(Value::String).or_else(|| input.cloned())
    };
    let goal = goal.map(|goal| told::line(&told::readable(&goal), LINE));
    let table = |part: Option<Value>| match part {
        Some(Value::Object(members)) if !members.is_empty() => Some(members),
        _ => None,
    };
    let working = WorkingState {
        goal: goal.filter(|goal| !goal.is_empty()),
        plan: list(part(WorkingPart::Plan), step),
        slots: table(part(WorkingPart::Slots)),
        constraints: table(part(WorkingPart::Constraints)),
        tool_evidence: None,
        decisions: list(part(WorkingPart::Decisions), decision),
        risks: list(part(WorkingPart::Risks), risk),
        state_version: 0,
        extra: Map::new(),
    };
    let waits = state.waits.values().map(|wait| OpenLoop {
        question: told::line(&wait.question, LINE),
        owner: Some(LoopOwner::User),
        status: LoopStatus::Open,
        evidence_id: None,
    });
    Working { state: working, open_loops: waits.collect(), recorded_at: now }
}

/// The last results of a run's tools among the latest events of its session, the oldest first: those of its log,
/// and not what somebody else wrote beside them. What the step under way shows already is left out, unless the
/// working state had it before the step used a tool.
pub(super) fn tool_evidence(
    before: Option<&Working>,
    latest: &[Event],
    state: &State,
) -> Option<Vec<ToolEvidence>> {
    let known = before.and_then(|before| before.state.tool_evidence.as_deref()).unwrap_or_default();
    let results = latest.iter().rev().filter(|event| {
        let own = version(&event.scope, &event.id).is_some() && event.scope.run() == state.run;
        let before = || known.iter().any(|one| one.reference == event.id);
        own && event.kind == EventKind::ToolResult && (!is_shown(event, state) || before())
    });
    let told = results.take(RESULTS).map(|event| ToolEvidence {
        reference: event.id.clone(),
        summary: told::line(&event.text, RESULT),
    });
    let mut told: Vec<ToolEvidence> = told.collect();
    told.reverse();
    (!told.is_empty()).then_some(told)
}

/// Whether the prompt of the step under way shows an event already: how the run's own document changed, and what
/// tools gave in the conversation. What was done before the step began is not in it.
pub(super) fn is_shown(event: &Event, state: &State) -> bool {
    let kind = match event.kind {
        EventKind::StatePatch => true,
        EventKind::ToolResult => {
            let used = state.step.as_ref().is_some_and(|step| step.tool_rounds > 0);
            used && event.ts >= state.entered_at
        }
        EventKind::Message | EventKind::Decision => false,
    };
    kind && event.scope.run() == state.run
}

fn list<T>(part: Option<Value>, read: fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let Some(Value::Array(items)) = part else { return None };
    let read: Vec<T> = items.iter().filter_map(read).collect();
    (!read.is_empty()).then_some(read)
}

/// The sentence of an item: the item itself where it is a text, else its member of this name.
fn sentence(item: &Value, name: &str) -> Option<String> {
    let text = item.as_str().or_else(|| item.get(name)?.as_str())?;
    Some(told::line(text, LINE)).filter(|text| !text.is_empty())
}

fn step(item: &Value) -> Option<PlanStep> {
    let status = match item.get("status").and_then(Value::as_str) {
        Some("done") => StepStatus::Done,
        Some("in_progress") => StepStatus::InProgress,
        _ => StepStatus::Todo,
    };
    Some(PlanStep { step: sentence(item, "step")?, status })
}

fn decision(item: &Value) -> Option<Decision> {
    let statement = sentence(item, "statement")?;
    Some(Decision { statement, evidence_id: None, extra: Map::new() })
}

fn risk(item: &Value) -> Option<Risk> {
    let mitigation = item.get("mitigation").and_then(Value::as_str).map(|it| told::line(it, LINE));
    Some(Risk { risk: sentence(item, "risk")?, mitigation, extra: Map::new() })
}
