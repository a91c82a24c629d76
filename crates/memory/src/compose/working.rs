//! The working state: goal, constraints and slots always; the rest of it as far as it fits.

use countersign_contracts::Object;
use countersign_contracts::memory::meta::Purpose;
use countersign_contracts::memory::short_term::{
    Decision, LoopStatus, OpenLoop, PlanStep, Risk, StepStatus, ToolEvidence,
};
use serde_json::Value;

use super::context::{Context, Told};
use super::fill::{Form, Tier};
use super::ledger::{Ledger, Ranked, Reason};
use crate::policy::Strength;
use crate::render::{self, Heading, flat};

/// What is never left out.
#[derive(Debug, Default)]
pub(super) struct Floor {
    pub(super) goal: Option<String>,
    pub(super) constraints: Option<Object>,
    pub(super) slots: Option<Object>,
    /// In tokens, with the heading.
    pub(super) cost: u64,
}

/// A part of the working state that may go in.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Loop(OpenLoop),
    Step(PlanStep),
    Decision(Decision),
    Risk(Risk),
    Evidence(ToolEvidence),
    Extra(String, Value),
}

/// A part, and where it stood.
#[derive(Debug)]
pub(super) struct PartCandidate {
    pub(super) part: Part,
    pub(super) place: usize,
    id: String,
}

impl Ranked for PartCandidate {
    const KIND: &'static str = "state";

    fn ids(&self) -> Vec<&str> {
        vec![&self.id]
    }

    fn rule(&self, _: &str) -> String {
        "run".to_owned()
    }
}

/// What is never left out, and what it costs.
pub(super) fn floor(ctx: &Context<'_>, ledger: &mut Ledger) -> Floor {
    let Some(working) = &ctx.found.working else { return Floor::default() };
    if ctx.row.state == Strength::None {
        ledger.omit("state", "working_state", Reason::Purpose);
        return Floor::default();
    }
    let mut lines = Vec::new();
    let mut floor = Floor::default();
    if let Some(goal) = working.state.goal.as_ref().filter(|goal| !goal.is_empty()) {
        if withheld(ctx, goal, None) {
            ledger.omit("state", "goal", Reason::Quarantined);
        } else {
            lines.push(render::goal(goal));
            ledger.selected.push("goal|state,floor".to_owned());
            floor.goal = Some(goal.clone());
        }
    }
    let mut members = |name: &str, object: Option<&Object>, line: fn(&str, &Value) -> String| {
        let mut kept = Object::new();
        for (key, value) in object.into_iter().flatten() {
            let id = format!("{name}.{key}");
            if withheld(ctx, &format!("{key} {}", flat(value)), None) {
                ledger.omit("state", &id, Reason::Quarantined);
                continue;
            }
            lines.push(line(key, value));
            ledger.selected.push(format!("{id}|state,floor"));
            kept.insert(key.clone(), value.clone());
        }
        object.map(|_| kept)
    };
    floor.constraints =
        members("constraints", working.state.constraints.as_ref(), render::constraint);
    floor.slots = members("slots", working.state.slots.as_ref(), render::slot);
    if !lines.is_empty() {
        let all = lines.iter().map(String::as_str).chain([Heading::State.line()]);
        floor.cost = all.map(|line| ctx.counter.count(line)).sum();
    }
    floor
}

/// The rest of the working state, in the order this purpose needs it.
pub(super) fn select(ctx: &Context<'_>, ledger: &mut Ledger) -> Vec<PartCandidate> {
    let Some(working) = &ctx.found.working else { return Vec::new() };
    let state = &working.state;
    let mut list: Vec<(u8, PartCandidate)> = Vec::new();
    let mut add = |rank: u8, name: &str, place: usize, part: Part| {
        list.push((rank, PartCandidate { part, place, id: format!("{name}.{place}") }));
    };
    let tool_first = u8::from(ctx.request.purpose != Purpose::Tool);
    for (place, open_loop) in working.open_loops.iter().enumerate() {
        add(2, "open_loops", place, Part::Loop(open_loop.clone()));
    }
    for (place, step) in state.plan.iter().flatten().enumerate() {
        let rank = if step.status == StepStatus::Done { 6 } else { 1 };
        add(rank, "plan", place, Part::Step(step.clone()));
    }
    // The latest decisions and results stand last, and are needed first.
    for (place, decision) in state.decisions.as_deref().unwrap_or_default().iter().enumerate().rev()
    {
        add(3, "decisions", place, Part::Decision(decision.clone()));
    }
    let evidence = state.tool_evidence.as_deref().unwrap_or_default().iter().enumerate().rev();
    for (place, evidence) in evidence {
        add(4 * tool_first, "tool_evidence", place, Part::Evidence(evidence.clone()));
    }
    for (place, risk) in state.risks.iter().flatten().enumerate() {
        add(5, "risks", place, Part::Risk(risk.clone()));
    }
    for (place, (key, value)) in state.extra.iter().enumerate() {
        add(7, "extra", place, Part::Extra(key.clone(), value.clone()));
    }
    list.sort_by_key(|(rank, _)| *rank);
    let mut results = 0;
    let mut kept = Vec::new();
    for (_, candidate) in list {
        results += usize::from(matches!(candidate.part, Part::Evidence(_)));
        match filter(ctx, &candidate.part, results) {
            Some(reason) => ledger.omit("state", &candidate.id, reason),
            None => kept.push(candidate),
        }
    }
    kept
}

/// A part in a form: whole, or its beginning.
pub(super) fn form(ctx: &Context<'_>, candidate: &PartCandidate, tier: Tier) -> Option<Form<Part>> {
    if tier == Tier::Ref {
        return None;
    }
    let whole = told(ctx, &candidate.part, Tier::Raw);
    let given = told(ctx, &candidate.part, tier);
    let less = given.text != whole.text;
    let part = with_text(ctx, &candidate.part, given.text);
    let line = match &part {
        Part::Loop(open_loop) => render::open_loop(open_loop, &ctx.marks),
        Part::Step(step) => render::plan_step(step),
        Part::Decision(decision) => render::decision(decision, &ctx.marks),
        Part::Risk(risk) => render::risk(risk),
        Part::Evidence(evidence) => render::tool_evidence(evidence),
        Part::Extra(key, value) => render::extra(key, value),
    };
    let name = if less { "short" } else { "raw" };
    let shared = vec![Heading::State.line().to_owned()];
    Some(Form { item: part, shared, line, name, cut: whole.cut })
}

fn filter(ctx: &Context<'_>, part: &Part, results: usize) -> Option<Reason> {
    let strength = match part {
        Part::Loop(_) | Part::Decision(_) => ctx.row.state,
        Part::Step(_) | Part::Risk(_) | Part::Evidence(_) | Part::Extra(..) => ctx.row.plan,
    };
    let source = match part {
        Part::Loop(open_loop) => open_loop.evidence_id.as_ref(),
        Part::Decision(decision) => decision.evidence_id.as_ref(),
        Part::Evidence(evidence) => Some(&evidence.reference),
        Part::Step(_) | Part::Risk(_) | Part::Extra(..) => None,
    };
    let text = match part {
        Part::Risk(risk) => flat(&serde_json::json!([risk.risk, risk.mitigation])),
        Part::Extra(key, value) => format!("{key} {}", flat(value)),
        other => text_of(other),
    };
    if strength == Strength::None {
        Some(Reason::Purpose)
    } else if matches!(part, Part::Loop(open_loop) if open_loop.status == LoopStatus::Closed) {
        Some(Reason::Closed)
    } else if text.trim().is_empty() {
        Some(Reason::Invalid)
    } else if withheld(ctx, &text, source) {
        Some(Reason::Quarantined)
    } else if matches!(part, Part::Evidence(_)) && results > ctx.policy.caps.tool_evidence {
        Some(Reason::Cap)
    } else {
        None
    }
}

fn text_of(part: &Part) -> String {
    match part {
        Part::Loop(open_loop) => open_loop.question.clone(),
        Part::Step(step) => step.step.clone(),
        Part::Decision(decision) => decision.statement.clone(),
        Part::Risk(risk) => risk.risk.clone(),
        Part::Evidence(evidence) => evidence.summary.clone(),
        Part::Extra(_, Value::String(text)) => text.clone(),
        Part::Extra(_, value) => flat(value),
    }
}

fn told(ctx: &Context<'_>, part: &Part, tier: Tier) -> Told {
    let text = text_of(part);
    match tier {
        Tier::Raw => ctx.whole(&text),
        Tier::Short | Tier::Ref => ctx.short(&text),
    }
}

/// The part with its text so, and only evidence that can be cited.
fn with_text(ctx: &Context<'_>, part: &Part, text: String) -> Part {
    let resolving =
        |id: &Option<String>| id.as_ref().filter(|id| ctx.evidences.find(id).is_some()).cloned();
    let mut part = part.clone();
    let whole = text_of(&part) == text;
    match &mut part {
        Part::Loop(open_loop) => {
            open_loop.evidence_id = resolving(&open_loop.evidence_id);
            open_loop.question = text;
        }
        Part::Step(step) => step.step = text,
        Part::Decision(decision) => {
            decision.evidence_id = resolving(&decision.evidence_id);
            decision.extra.clear();
            decision.statement = text;
        }
        Part::Risk(risk) => {
            risk.extra.clear();
            risk.mitigation =
                risk.mitigation.take().filter(|_| whole).map(|text| ctx.short(&text).text);
            risk.risk = text;
        }
        Part::Evidence(evidence) => evidence.summary = text,
        Part::Extra(_, value) => {
            if !whole {
                *value = Value::String(text);
            }
        }
    }
    part
}

fn withheld(ctx: &Context<'_>, text: &str, source: Option<&String>) -> bool {
    ctx.guard.taints(source.into_iter())
        || ctx.guard.withholds(text, &source.into_iter(), &ctx.evidences)
}
