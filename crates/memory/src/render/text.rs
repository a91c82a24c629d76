//! The whole text of a packet.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::long_term::FactStatus;
use countersign_contracts::memory::meta::Purpose;
use countersign_contracts::memory::short_term::ShortTerm;
use serde_json::Value;

use super::lines::{self, Heading};
use super::{Marks, RenderError};
use crate::policy::{Dates, EvidenceMarks, RenderOptions};

/// Writes a packet as the text of a prompt.
///
/// Citations, the budget report and the explanation are not written: they are for people and logs.
pub fn render(packet: &MemoryPacket, purpose: Purpose) -> Result<String, RenderError> {
    check(packet, purpose)?;
    let options = options(packet);
    let marks = match options.evidence {
        EvidenceMarks::None => Marks::Off,
        EvidenceMarks::Numbers => Marks::of(&packet.citations),
    };
    let mut sections: BTreeMap<Heading, String> = BTreeMap::new();
    let mut write = |heading: Heading, line: &str| {
        sections.entry(heading).or_default().push_str(line);
    };
    for procedure in &packet.long_term.procedures {
        write(Heading::Procedures, &lines::procedure(procedure, &marks));
    }
    let preferences: BTreeSet<&str> =
        packet.long_term.preferences.iter().flatten().map(|fact| fact.fact_id.as_str()).collect();
    for fact in &packet.long_term.facts {
        let preference = preferences.contains(fact.fact_id.as_str());
        write(lines::fact_heading(fact, preference), &lines::fact(fact, &marks));
    }
    for episode in &packet.long_term.episodes {
        write(Heading::Episodes, &lines::episode(episode, &marks));
    }
    let insight = &packet.insight;
    for insight in
        insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns)
    {
        write(Heading::Guesses, &lines::insight(insight, &marks));
    }
    short_term(&packet.short_term, &marks, options.dates, &mut write);

    let mut text = String::new();
    for (heading, lines) in sections.iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(heading.line());
        text.push_str(lines);
    }
    Ok(text)
}

/// The same for a packet that was read from somewhere.
pub fn render_value(packet: &Value, purpose: Purpose) -> Result<String, RenderError> {
    // The fault may quote the packet, whose text is not for messages: only the place is told.
    let packet: MemoryPacket = serde_json::from_value(packet.clone()).map_err(|error| {
        let fault = error.to_string();
        let kind = fault.split([':', ',']).next().unwrap_or_default();
        RenderError::Shape { fault: kind.to_owned() }
    })?;
    render(&packet, purpose)
}

fn short_term(
    short_term: &ShortTerm,
    marks: &Marks<'_>,
    dates: Dates,
    write: &mut dyn FnMut(Heading, &str),
) {
    write(Heading::Summary, &lines::summary(&short_term.rolling_summary));
    let mut last = None;
    for quote in short_term.key_quotes.iter().flatten() {
        let date = if dates == Dates::Day { lines::quote_date(quote) } else { None };
        if date != last {
            write(Heading::Quotes, date.as_deref().unwrap_or_default());
            last = date;
        }
        write(Heading::Quotes, &lines::quote(quote, marks));
    }
    for message in short_term.conversation_window.iter().flatten() {
        write(Heading::Recent, &lines::message(message, marks));
    }
    let state = &short_term.working_state;
    if let Some(goal) = state.goal.as_deref().filter(|goal| !goal.is_empty()) {
        write(Heading::State, &lines::goal(goal));
    }
    for (key, value) in state.constraints.iter().flatten() {
        write(Heading::State, &lines::constraint(key, value));
    }
    for (key, value) in state.slots.iter().flatten() {
        write(Heading::State, &lines::slot(key, value));
    }
    for (key, value) in &state.extra {
        write(Heading::State, &lines::extra(key, value));
    }
    for decision in state.decisions.iter().flatten() {
        write(Heading::State, &lines::decision(decision, marks));
    }
    for step in state.plan.iter().flatten() {
        write(Heading::State, &lines::plan_step(step));
    }
    for risk in state.risks.iter().flatten() {
        write(Heading::State, &lines::risk(risk));
    }
    for open_loop in short_term.open_loops.iter().flatten() {
        write(Heading::State, &lines::open_loop(open_loop, marks));
    }
    let evidence = state.tool_evidence.iter().chain(&short_term.last_tool_evidence);
    for evidence in evidence.flatten() {
        write(Heading::State, &lines::tool_evidence(evidence));
    }
}

fn check(packet: &MemoryPacket, purpose: Purpose) -> Result<(), RenderError> {
    let composed = packet.meta.purpose;
    if composed != purpose {
        return Err(RenderError::Purpose { composed, asked: purpose });
    }
    let insight = &packet.insight;
    for item in insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns)
    {
        let may = match purpose {
            Purpose::Planner => item.validation_state != ValidationState::Rejected,
            Purpose::Tool => false,
            Purpose::Responder => {
                item.validation_state == ValidationState::Validated
                    && insight.usage_policy.allow_in_responder
            }
        };
        if !may {
            let (id, state) = (item.id.clone(), item.validation_state);
            return Err(RenderError::Insight { id, state, purpose });
        }
    }
    for fact in packet.long_term.facts.iter().chain(packet.long_term.preferences.iter().flatten()) {
        let may = match fact.status {
            FactStatus::Active => true,
            FactStatus::Disputed => purpose == Purpose::Planner,
            FactStatus::Deprecated => false,
        };
        if !may {
            let (id, status) = (fact.fact_id.clone(), fact.status);
            return Err(RenderError::Fact { id, status, purpose });
        }
    }
    Ok(())
}

/// How the packet was counted; plainly, where it does not say.
fn options(packet: &MemoryPacket) -> RenderOptions {
    let told = packet.explain.determinism.as_ref().and_then(|object| object.get("render"));
    let options = told.and_then(|value| serde_json::from_value(value.clone()).ok());
    options.unwrap_or(RenderOptions { evidence: EvidenceMarks::None, dates: Dates::Day })
}
