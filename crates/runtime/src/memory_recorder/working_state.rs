//! The working state of a run: what its protocol says it is, read from its document. Pure.

use countersign_core::protocol::{Protocol, WorkingStatePart};
use countersign_core::run::{RunState, Timestamp, build_run_value};
use countersign_memory::packet::short_term::{
    LoopOwner, LoopStatus, OpenLoop, PlanStep, PlanStepStatus, ToolEvidence, WorkingDecision,
    WorkingRisk, WorkingState,
};
use countersign_memory::record::{MemoryEvent, MemoryEventKind, WorkingMemory};
use serde_json::{Map, Value};

use super::catch_up::parse_event_version;
use super::format_text;

/// How long a line of the working state is, in characters.
const MAX_LINE_CHARS: usize = 400;

/// How long the result of a tool is told, in characters.
const MAX_RESULT_CHARS: usize = 200;

/// How many results of tools are kept.
const MAX_RESULTS: usize = 3;

/// The working state of a run as it stands; its version and the results of tools are for the memory to give.
///
/// Where the protocol does not say, the goal is what the workflow is for, or what the run was started
/// with. What an expression gives in another shape is left out.
#[must_use]
pub fn build_working_state(
    protocol: &Protocol,
    state: &RunState,
    input: Option<&Value>,
    now: Timestamp,
) -> WorkingMemory {
    let run = build_run_value(state);
    let part = |part: WorkingStatePart| -> Option<Value> {
        let expr = protocol.memory.working.get(&part)?;
        expr.eval(&[Some(&state.document), Some(&run)]).ok()?.to_json()
    };
    let goal = if protocol.memory.working.contains_key(&WorkingStatePart::Goal) {
        part(WorkingStatePart::Goal).filter(|goal| !goal.is_null())
    } else {
        let workflow = protocol.workflows.get(&state.workflow);
        let description = workflow.and_then(|workflow| workflow.description.clone());
        description.map(Value::String).or_else(|| input.cloned())
    };
    let goal = goal
        .map(|goal| format_text::format_line(&format_text::format_value(&goal), MAX_LINE_CHARS));
    let table = |part: Option<Value>| match part {
        Some(Value::Object(members)) if !members.is_empty() => Some(members),
        _ => None,
    };
    let working = WorkingState {
        goal: goal.filter(|goal| !goal.is_empty()),
        plan: parse_list(part(WorkingStatePart::Plan), parse_plan_step),
        slots: table(part(WorkingStatePart::Slots)),
        constraints: table(part(WorkingStatePart::Constraints)),
        tool_evidence: None,
        decisions: parse_list(part(WorkingStatePart::Decisions), parse_decision),
        risks: parse_list(part(WorkingStatePart::Risks), parse_risk),
        state_version: 0,
        extra: Map::new(),
    };
    let waits = state.waits.values().map(|wait| OpenLoop {
        question: format_text::format_line(&wait.question, MAX_LINE_CHARS),
        owner: Some(LoopOwner::User),
        status: LoopStatus::Open,
        evidence_id: None,
    });
    WorkingMemory { state: working, open_loops: waits.collect(), recorded_at: now }
}

/// The last results of a run's tools among the latest events of its session, the oldest first: those of its log,
/// and not what somebody else wrote beside them. What the step under way shows already is left out, unless the
/// working state had it before the step used a tool.
pub(super) fn collect_tool_evidence(
    before: Option<&WorkingMemory>,
    latest: &[MemoryEvent],
    state: &RunState,
) -> Option<Vec<ToolEvidence>> {
    let known = before.and_then(|before| before.state.tool_evidence.as_deref()).unwrap_or_default();
    let results = latest.iter().rev().filter(|event| {
        let own = parse_event_version(&event.scope, &event.id).is_some()
            && event.scope.run() == state.run;
        let before = || known.iter().any(|one| one.reference == event.id);
        own && event.kind == MemoryEventKind::ToolResult
            && (!is_in_prompt(event, state) || before())
    });
    let told = results.take(MAX_RESULTS).map(|event| ToolEvidence {
        reference: event.id.clone(),
        summary: format_text::format_line(&event.text, MAX_RESULT_CHARS),
    });
    let mut told: Vec<ToolEvidence> = told.collect();
    told.reverse();
    (!told.is_empty()).then_some(told)
}

/// Whether the prompt of the step under way shows an event already: how the run's own document changed, and what
/// tools gave in the conversation. What was done before the step began is not in it.
pub(super) fn is_in_prompt(event: &MemoryEvent, state: &RunState) -> bool {
    let kind = match event.kind {
        MemoryEventKind::StatePatch => true,
        MemoryEventKind::ToolResult => {
            let used = state.step.as_ref().is_some_and(|step| step.tool_rounds > 0);
            used && event.ts >= state.entered_at
        }
        MemoryEventKind::Message | MemoryEventKind::Decision => false,
    };
    kind && event.scope.run() == state.run
}

fn parse_list<T>(part: Option<Value>, read: fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let Some(Value::Array(items)) = part else { return None };
    let read: Vec<T> = items.iter().filter_map(read).collect();
    (!read.is_empty()).then_some(read)
}

/// The sentence of an item: the item itself where it is a text, else its member of this name.
fn parse_sentence(item: &Value, name: &str) -> Option<String> {
    let text = item.as_str().or_else(|| item.get(name)?.as_str())?;
    Some(format_text::format_line(text, MAX_LINE_CHARS)).filter(|text| !text.is_empty())
}

fn parse_plan_step(item: &Value) -> Option<PlanStep> {
    let status = match item.get("status").and_then(Value::as_str) {
        Some("done") => PlanStepStatus::Done,
        Some("in_progress") => PlanStepStatus::InProgress,
        _ => PlanStepStatus::Todo,
    };
    Some(PlanStep { step: parse_sentence(item, "step")?, status })
}

fn parse_decision(item: &Value) -> Option<WorkingDecision> {
    let statement = parse_sentence(item, "statement")?;
    Some(WorkingDecision { statement, evidence_id: None, extra: Map::new() })
}

fn parse_risk(item: &Value) -> Option<WorkingRisk> {
    let mitigation = item
        .get("mitigation")
        .and_then(Value::as_str)
        .map(|it| format_text::format_line(it, MAX_LINE_CHARS));
    Some(WorkingRisk { risk: parse_sentence(item, "risk")?, mitigation, extra: Map::new() })
}
