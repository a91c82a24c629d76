//! Builds the working state of a run from its document, as the protocol defines it. The functions
//! are pure.

use countersign_memory::packet::short_term::{
    LoopOwner, LoopStatus, OpenLoop, PlanStep, PlanStepStatus, ToolEvidence, WorkingDecision,
    WorkingRisk, WorkingState,
};
use countersign_memory::record::{MemoryEvent, MemoryEventKind, WorkingMemory};
use countersign_protocol::{Protocol, WorkingStatePart};
use countersign_run::{RunState, Timestamp, build_run_value};
use serde_json::{Map, Value};

use super::catch_up::parse_event_version;
use super::format_text;

/// Maximum length of a line of the working state, in characters.
const MAX_LINE_CHARS: usize = 400;

/// Maximum length of a tool result, in characters.
const MAX_RESULT_CHARS: usize = 200;

/// Maximum number of tool results that are kept.
const MAX_RESULTS: usize = 3;

/// Builds the current working state of a run. The memory sets its version and the tool results.
///
/// If the protocol does not define a goal, the goal is the description of the workflow, or the
/// input that the run was started with. An expression result of another shape is omitted.
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

/// Returns the last tool results of a run among the latest events of its session, oldest first.
/// Only events from the run's log count, not what others wrote beside them. Results that the prompt
/// of the current step shows already are omitted, unless the working state had them before the step
/// used a tool.
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
    let evidence = results.take(MAX_RESULTS).map(|event| ToolEvidence {
        reference: event.id.clone(),
        summary: format_text::format_line(&event.text, MAX_RESULT_CHARS),
    });
    let mut evidence: Vec<ToolEvidence> = evidence.collect();
    evidence.reverse();
    (!evidence.is_empty()).then_some(evidence)
}

/// Returns whether the prompt of the current step shows an event already: changes of the run's own
/// document, and tool results in the conversation. Events from before the step are not in the
/// prompt.
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

/// Returns the sentence of an item: the item itself if it is a text, else its member with this
/// name.
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
