//! Selects the working state: goal, constraints and slots always, the rest as far as it fits.

use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use countersign_shipped_contracts::memory::short_term::{
    LoopStatus, OpenLoop, PlanStep, PlanStepStatus, ToolEvidence, WorkingDecision, WorkingRisk,
};
use serde_json::Value;

use super::context::{ComposeContext, FittedText};
use super::fill::{DetailTier, PacketItem};
use super::selection_log::{OmissionReason, RankedItem, SelectionLog};
use crate::policy::InjectionStrength;
use crate::render::{self, PacketHeading, flatten_value};

/// The parts of the working state that are never left out.
#[derive(Debug, Default)]
pub(super) struct StateFloor {
    pub(super) goal: Option<String>,
    pub(super) constraints: Option<JsonObject>,
    pub(super) slots: Option<JsonObject>,
    /// The cost in tokens, including the heading.
    pub(super) cost: u64,
}

/// A part of the working state that may be left out.
#[derive(Debug, Clone)]
pub(super) enum StatePart {
    Loop(OpenLoop),
    Step(PlanStep),
    Decision(WorkingDecision),
    Risk(WorkingRisk),
    Evidence(ToolEvidence),
    Extra(String, Value),
}

/// A part with its original index.
#[derive(Debug)]
pub(super) struct StatePartCandidate {
    pub(super) part: StatePart,
    pub(super) index: usize,
    id: String,
}

impl RankedItem for StatePartCandidate {
    const KIND: &'static str = "state";

    fn ids(&self) -> Vec<&str> {
        vec![&self.id]
    }

    fn rule(&self, _: &str) -> String {
        "run".to_owned()
    }
}

/// Collects the parts that are never left out, and their cost.
pub(super) fn collect_floor(ctx: &ComposeContext<'_>, ledger: &mut SelectionLog) -> StateFloor {
    let Some(working) = &ctx.candidates.working_memory else { return StateFloor::default() };
    if ctx.row.state == InjectionStrength::None {
        ledger.omit("state", "working_state", OmissionReason::Purpose);
        return StateFloor::default();
    }
    let mut lines = Vec::new();
    let mut floor = StateFloor::default();
    if let Some(goal) = working.state.goal.as_ref().filter(|goal| !goal.is_empty()) {
        if is_withheld(ctx, goal, None) {
            ledger.omit("state", "goal", OmissionReason::Quarantined);
        } else {
            lines.push(render::render_goal(goal));
            ledger.selected.push("goal|state,floor".to_owned());
            floor.goal = Some(goal.clone());
        }
    }
    let mut members =
        |name: &str, object: Option<&JsonObject>, line: fn(&str, &Value) -> String| {
            let mut kept = JsonObject::new();
            for (key, value) in object.into_iter().flatten() {
                let id = format!("{name}.{key}");
                if is_withheld(ctx, &format!("{key} {}", flatten_value(value)), None) {
                    ledger.omit("state", &id, OmissionReason::Quarantined);
                    continue;
                }
                lines.push(line(key, value));
                ledger.selected.push(format!("{id}|state,floor"));
                kept.insert(key.clone(), value.clone());
            }
            object.map(|_| kept)
        };
    floor.constraints =
        members("constraints", working.state.constraints.as_ref(), render::render_constraint);
    floor.slots = members("slots", working.state.slots.as_ref(), render::render_slot);
    if !lines.is_empty() {
        let all = lines.iter().map(String::as_str).chain([PacketHeading::State.line()]);
        floor.cost = all.map(|line| ctx.counter.count(line)).sum();
    }
    floor
}

/// Selects the rest of the working state, in the order that this purpose needs.
pub(super) fn select_parts(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
) -> Vec<StatePartCandidate> {
    let Some(working) = &ctx.candidates.working_memory else { return Vec::new() };
    let state = &working.state;
    let mut list: Vec<(u8, StatePartCandidate)> = Vec::new();
    let mut add = |rank: u8, name: &str, place: usize, part: StatePart| {
        list.push((rank, StatePartCandidate { part, index: place, id: format!("{name}.{place}") }));
    };
    let tool_first = u8::from(ctx.request.purpose != PacketPurpose::Tool);
    for (place, open_loop) in working.open_loops.iter().enumerate() {
        add(2, "open_loops", place, StatePart::Loop(open_loop.clone()));
    }
    for (place, step) in state.plan.iter().flatten().enumerate() {
        let rank = if step.status == PlanStepStatus::Done { 6 } else { 1 };
        add(rank, "plan", place, StatePart::Step(step.clone()));
    }
    // The latest decisions and results are stored last and needed first.
    for (place, decision) in state.decisions.as_deref().unwrap_or_default().iter().enumerate().rev()
    {
        add(3, "decisions", place, StatePart::Decision(decision.clone()));
    }
    let evidence = state.tool_evidence.as_deref().unwrap_or_default().iter().enumerate().rev();
    for (place, evidence) in evidence {
        add(4 * tool_first, "tool_evidence", place, StatePart::Evidence(evidence.clone()));
    }
    for (place, risk) in state.risks.iter().flatten().enumerate() {
        add(5, "risks", place, StatePart::Risk(risk.clone()));
    }
    for (place, (key, value)) in state.extra.iter().enumerate() {
        add(7, "extra", place, StatePart::Extra(key.clone(), value.clone()));
    }
    list.sort_by_key(|(rank, _)| *rank);
    let mut results = 0;
    let mut kept = Vec::new();
    for (_, candidate) in list {
        results += usize::from(matches!(candidate.part, StatePart::Evidence(_)));
        match find_omission_reason(ctx, &candidate.part, results) {
            Some(reason) => ledger.omit("state", &candidate.id, reason),
            None => kept.push(candidate),
        }
    }
    kept
}

/// Builds the packet item of a part: in full, or its beginning.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &StatePartCandidate,
    tier: DetailTier,
) -> Option<PacketItem<StatePart>> {
    if tier == DetailTier::Ref {
        return None;
    }
    let whole = fit_part(ctx, &candidate.part, DetailTier::Raw);
    let given = fit_part(ctx, &candidate.part, tier);
    let less = given.text != whole.text;
    let part = with_text(ctx, &candidate.part, given.text);
    let line = match &part {
        StatePart::Loop(open_loop) => render::render_open_loop(open_loop, &ctx.markers),
        StatePart::Step(step) => render::render_plan_step(step),
        StatePart::Decision(decision) => render::render_decision(decision, &ctx.markers),
        StatePart::Risk(risk) => render::render_risk(risk),
        StatePart::Evidence(evidence) => render::render_tool_evidence(evidence),
        StatePart::Extra(key, value) => render::render_extra(key, value),
    };
    let name = if less { "short" } else { "raw" };
    let shared = vec![PacketHeading::State.line().to_owned()];
    Some(PacketItem { item: part, shared, line, name, is_truncated: whole.is_truncated })
}

fn find_omission_reason(
    ctx: &ComposeContext<'_>,
    part: &StatePart,
    results: usize,
) -> Option<OmissionReason> {
    let strength = match part {
        StatePart::Loop(_) | StatePart::Decision(_) => ctx.row.state,
        StatePart::Step(_) | StatePart::Risk(_) | StatePart::Evidence(_) | StatePart::Extra(..) => {
            ctx.row.plan
        }
    };
    let source = match part {
        StatePart::Loop(open_loop) => open_loop.evidence_id.as_ref(),
        StatePart::Decision(decision) => decision.evidence_id.as_ref(),
        StatePart::Evidence(evidence) => Some(&evidence.reference),
        StatePart::Step(_) | StatePart::Risk(_) | StatePart::Extra(..) => None,
    };
    let text = match part {
        StatePart::Risk(risk) => flatten_value(&serde_json::json!([risk.risk, risk.mitigation])),
        StatePart::Extra(key, value) => format!("{key} {}", flatten_value(value)),
        other => part_text(other),
    };
    if strength == InjectionStrength::None {
        Some(OmissionReason::Purpose)
    } else if matches!(part, StatePart::Loop(open_loop) if open_loop.status == LoopStatus::Closed) {
        Some(OmissionReason::Closed)
    } else if text.trim().is_empty() {
        Some(OmissionReason::Invalid)
    } else if is_withheld(ctx, &text, source) {
        Some(OmissionReason::Quarantined)
    } else if matches!(part, StatePart::Evidence(_)) && results > ctx.policy.caps.tool_evidence {
        Some(OmissionReason::Cap)
    } else {
        None
    }
}

fn part_text(part: &StatePart) -> String {
    match part {
        StatePart::Loop(open_loop) => open_loop.question.clone(),
        StatePart::Step(step) => step.step.clone(),
        StatePart::Decision(decision) => decision.statement.clone(),
        StatePart::Risk(risk) => risk.risk.clone(),
        StatePart::Evidence(evidence) => evidence.summary.clone(),
        StatePart::Extra(_, Value::String(text)) => text.clone(),
        StatePart::Extra(_, value) => flatten_value(value),
    }
}

fn fit_part(ctx: &ComposeContext<'_>, part: &StatePart, tier: DetailTier) -> FittedText {
    let text = part_text(part);
    match tier {
        DetailTier::Raw => ctx.fit_to_longest(&text),
        DetailTier::Short | DetailTier::Ref => ctx.shorten_item(&text),
    }
}

/// Replaces the text of a part and keeps only evidence that can be cited.
fn with_text(ctx: &ComposeContext<'_>, part: &StatePart, text: String) -> StatePart {
    let resolving = |id: &Option<String>| {
        id.as_ref().filter(|id| ctx.evidence_index.find_event(id).is_some()).cloned()
    };
    let mut part = part.clone();
    let whole = part_text(&part) == text;
    match &mut part {
        StatePart::Loop(open_loop) => {
            open_loop.evidence_id = resolving(&open_loop.evidence_id);
            open_loop.question = text;
        }
        StatePart::Step(step) => step.step = text,
        StatePart::Decision(decision) => {
            decision.evidence_id = resolving(&decision.evidence_id);
            let extra = std::mem::take(&mut decision.extra);
            decision.extra = keep_extra(ctx, extra, decision.evidence_id.as_ref(), whole);
            decision.statement = text;
        }
        StatePart::Risk(risk) => {
            risk.extra = keep_extra(ctx, std::mem::take(&mut risk.extra), None, whole);
            risk.mitigation =
                risk.mitigation.take().filter(|_| whole).map(|text| ctx.shorten_item(&text).text);
            risk.risk = text;
        }
        StatePart::Evidence(evidence) => evidence.summary = text,
        StatePart::Extra(_, value) => {
            if !whole {
                *value = Value::String(text);
            }
        }
    }
    part
}

/// Keeps the keys of a part that the packet does not define. They are not rendered, so they cost
/// nothing; a part that is shortened, or whose keys are too long or must not be visible, has none.
fn keep_extra(
    ctx: &ComposeContext<'_>,
    extra: JsonObject,
    source: Option<&String>,
    whole: bool,
) -> JsonObject {
    if extra.is_empty() || !whole {
        return JsonObject::new();
    }
    let text = flatten_value(&Value::Object(extra.clone()));
    if ctx.fit_to_longest(&text).is_truncated || is_withheld(ctx, &text, source) {
        return JsonObject::new();
    }
    extra
}

fn is_withheld(ctx: &ComposeContext<'_>, text: &str, source: Option<&String>) -> bool {
    ctx.guard.has_tainted_source(source.into_iter())
        || ctx.guard.must_withhold_text(text, &source.into_iter(), &ctx.evidence_index)
}
