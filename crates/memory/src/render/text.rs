//! Renders the whole text of a packet.

use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::FactStatus;
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use countersign_shipped_contracts::memory::report::FactConflict;
use countersign_shipped_contracts::memory::short_term::ShortTermMemory;
use serde_json::Value;

use super::lines::{self, PacketHeading};
use super::{CitationMarkers, RenderError};
use crate::policy::{CitationMarkerStyle, QuoteDateStyle, RenderOptions};

/// Renders a packet as the text of a prompt.
///
/// Citations, the budget report and the explanation are not rendered, because they are for people
/// and logs; of the explanation only the disputed facts are, which a planner receives.
pub fn render_packet(packet: &MemoryPacket, purpose: PacketPurpose) -> Result<String, RenderError> {
    check_packet(packet, purpose)?;
    let options = read_render_options(packet);
    let marks = match options.evidence {
        CitationMarkerStyle::None => CitationMarkers::Off,
        CitationMarkerStyle::Numbers => CitationMarkers::from_citations(&packet.citations),
    };
    let mut sections: BTreeMap<PacketHeading, String> = BTreeMap::new();
    let mut write = |heading: PacketHeading, line: &str| {
        sections.entry(heading).or_default().push_str(line);
    };
    for procedure in &packet.long_term.procedures {
        write(PacketHeading::Procedures, &lines::render_procedure(procedure, &marks));
    }
    let preferences: BTreeSet<&str> =
        packet.long_term.preferences.iter().flatten().map(|fact| fact.fact_id.as_str()).collect();
    for fact in &packet.long_term.facts {
        let preference = preferences.contains(fact.fact_id.as_str());
        write(lines::select_fact_heading(fact, preference), &lines::render_fact(fact, &marks));
    }
    for fact in packet.explain.conflicts.iter().flat_map(FactConflict::list_shown_facts) {
        write(PacketHeading::Disputed, &lines::render_fact(&fact, &marks));
    }
    for episode in &packet.long_term.episodes {
        write(PacketHeading::Episodes, &lines::render_episode(episode, &marks));
    }
    let insight = &packet.insight;
    for insight in
        insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns)
    {
        write(PacketHeading::Insights, &lines::render_insight(insight, &marks));
    }
    render_short_term(&packet.short_term, &marks, options.dates, &mut write);

    let mut text = String::new();
    for (heading, lines) in sections.iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(heading.line());
        text.push_str(lines);
    }
    Ok(text)
}

/// Renders a packet that is given as a JSON value.
pub fn render_packet_value(packet: &Value, purpose: PacketPurpose) -> Result<String, RenderError> {
    // The error may quote the packet, whose text must not appear in messages, so keep only its
    // first part.
    let packet: MemoryPacket = serde_json::from_value(packet.clone()).map_err(|error| {
        let fault = error.to_string();
        let kind = fault.split([':', ',']).next().unwrap_or_default();
        RenderError::Shape { fault: kind.to_owned() }
    })?;
    render_packet(&packet, purpose)
}

fn render_short_term(
    short_term: &ShortTermMemory,
    marks: &CitationMarkers<'_>,
    dates: QuoteDateStyle,
    write: &mut dyn FnMut(PacketHeading, &str),
) {
    write(PacketHeading::Summary, &lines::render_summary(&short_term.rolling_summary));
    let mut last = None;
    for quote in short_term.key_quotes.iter().flatten() {
        let date =
            if dates == QuoteDateStyle::Day { lines::render_quote_date(quote) } else { None };
        if date != last {
            write(PacketHeading::Quotes, date.as_deref().unwrap_or_default());
            last = date;
        }
        write(PacketHeading::Quotes, &lines::render_quote(quote, marks));
    }
    for message in short_term.conversation_window.iter().flatten() {
        write(PacketHeading::Recent, &lines::render_message(message, marks));
    }
    let state = &short_term.working_state;
    if let Some(goal) = state.goal.as_deref().filter(|goal| !goal.is_empty()) {
        write(PacketHeading::State, &lines::render_goal(goal));
    }
    for (key, value) in state.constraints.iter().flatten() {
        write(PacketHeading::State, &lines::render_constraint(key, value));
    }
    for (key, value) in state.slots.iter().flatten() {
        write(PacketHeading::State, &lines::render_slot(key, value));
    }
    for (key, value) in &state.extra {
        write(PacketHeading::State, &lines::render_extra(key, value));
    }
    for decision in state.decisions.iter().flatten() {
        write(PacketHeading::State, &lines::render_decision(decision, marks));
    }
    for step in state.plan.iter().flatten() {
        write(PacketHeading::State, &lines::render_plan_step(step));
    }
    for risk in state.risks.iter().flatten() {
        write(PacketHeading::State, &lines::render_risk(risk));
    }
    for open_loop in short_term.open_loops.iter().flatten() {
        write(PacketHeading::State, &lines::render_open_loop(open_loop, marks));
    }
    let evidence = state.tool_evidence.iter().chain(&short_term.last_tool_evidence);
    for evidence in evidence.flatten() {
        write(PacketHeading::State, &lines::render_tool_evidence(evidence));
    }
}

fn check_packet(packet: &MemoryPacket, purpose: PacketPurpose) -> Result<(), RenderError> {
    let composed = packet.meta.purpose;
    if composed != purpose {
        return Err(RenderError::Purpose { composed, requested: purpose });
    }
    let insight = &packet.insight;
    for item in insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns)
    {
        let may = match purpose {
            PacketPurpose::Planner => item.validation_state != InsightValidationState::Rejected,
            PacketPurpose::Tool => false,
            PacketPurpose::Responder => {
                item.validation_state == InsightValidationState::Validated
                    && insight.usage_policy.allow_in_responder
            }
        };
        if !may {
            let (id, state) = (item.id.clone(), item.validation_state);
            return Err(RenderError::Insight { id, state, purpose });
        }
    }
    for fact in packet.long_term.facts.iter().chain(packet.long_term.preferences.iter().flatten()) {
        if fact.status != FactStatus::Active {
            let (id, status) = (fact.fact_id.clone(), fact.status);
            return Err(RenderError::Fact { id, status, purpose });
        }
    }
    // Disputed facts reach a planner only, as a conflict.
    if purpose != PacketPurpose::Planner
        && let Some(fact) =
            packet.explain.conflicts.iter().flat_map(FactConflict::list_shown_facts).next()
    {
        return Err(RenderError::Fact { id: fact.fact_id, status: FactStatus::Disputed, purpose });
    }
    Ok(())
}

/// Reads the options that the packet was counted with; without markers and with dates if it names
/// none.
fn read_render_options(packet: &MemoryPacket) -> RenderOptions {
    let told = packet.explain.determinism.as_ref().and_then(|object| object.get("render"));
    let options = told.and_then(|value| serde_json::from_value(value.clone()).ok());
    options.unwrap_or(RenderOptions {
        evidence: CitationMarkerStyle::None,
        dates: QuoteDateStyle::Day,
    })
}
