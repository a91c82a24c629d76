//! Renders the items of a packet, one per line. Composing counts the tokens of these exact lines.

use countersign_shipped_contracts::memory::insight::{InsightItem, InsightValidationState};
use countersign_shipped_contracts::memory::long_term::{
    FactStatus, PacketEpisode, PacketFact, PacketProcedure,
};
use countersign_shipped_contracts::memory::short_term::{
    KeyQuote, LoopOwner, MessageRole, OpenLoop, PacketMessage, PlanStep, PlanStepStatus,
    ToolEvidence, WorkingDecision, WorkingRisk,
};
use serde_json::Value;

use super::{CitationMarkers, flatten_value, to_single_line};

/// Replaces the text of an item that is given as a reference only.
pub(crate) const REFERENCE_ELLIPSIS: &str = "…";

/// The headings, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PacketHeading {
    Procedures,
    Facts,
    Preferences,
    Disputed,
    Summary,
    Episodes,
    Quotes,
    Insights,
    Recent,
    State,
}

impl PacketHeading {
    pub(crate) fn line(self) -> &'static str {
        match self {
            Self::Procedures => "# How such tasks are done\n",
            Self::Facts => "# Known facts\n",
            Self::Preferences => "# Preferences\n",
            Self::Disputed => "# Disputed, not settled\n",
            Self::Summary => "# The conversation so far\n",
            Self::Episodes => "# What happened before\n",
            Self::Quotes => "# What was said\n",
            Self::Insights => "# Guesses, not facts\n",
            Self::Recent => "# Latest messages\n",
            Self::State => "# Where things stand\n",
        }
    }
}

/// Returns the heading that a fact is listed under.
pub(crate) fn select_fact_heading(fact: &PacketFact, preference: bool) -> PacketHeading {
    match (fact.status, preference) {
        (FactStatus::Active, false) => PacketHeading::Facts,
        (FactStatus::Active, true) => PacketHeading::Preferences,
        _ => PacketHeading::Disputed,
    }
}

pub(crate) fn render_fact(fact: &PacketFact, marks: &CitationMarkers<'_>) -> String {
    let value = flatten_value(&fact.value);
    let reference = format_reference(&value, &fact.fact_id);
    format!(
        "- {}: {value}{reference}{}\n",
        to_single_line(&fact.fact_key),
        marks.format_markers(&fact.sources)
    )
}

pub(crate) fn render_procedure(procedure: &PacketProcedure, marks: &CitationMarkers<'_>) -> String {
    let content = if procedure.content.is_empty() {
        REFERENCE_ELLIPSIS.to_owned()
    } else {
        flatten_value(&Value::Object(procedure.content.clone()))
    };
    let reference = format_reference(&content, &procedure.procedure_id);
    let sources = procedure.sources.iter().flatten();
    format!("- {content}{reference}{}\n", marks.format_markers(sources))
}

pub(crate) fn render_summary(text: &str) -> String {
    let text = to_single_line(text);
    if text.is_empty() { String::new() } else { format!("{}{text}\n", choose_line_prefix(&text)) }
}

pub(crate) fn render_episode(episode: &PacketEpisode, marks: &CitationMarkers<'_>) -> String {
    let start = extract_date(&episode.time_range.start);
    let end = episode.time_range.end.as_deref().map_or(start, extract_date);
    let dates = if start == end { start.to_owned() } else { format!("{start} to {end}") };
    let summary = to_single_line(&episode.summary);
    let points: Vec<String> =
        episode.highlights.iter().flatten().map(|highlight| to_single_line(highlight)).collect();
    let told = match (summary.as_str(), points.as_slice()) {
        (REFERENCE_ELLIPSIS, []) => {
            format!("{REFERENCE_ELLIPSIS} ({})", to_single_line(&episode.episode_id))
        }
        (REFERENCE_ELLIPSIS, points) => format!("{REFERENCE_ELLIPSIS} {}", points.join("; ")),
        (summary, []) => summary.to_owned(),
        (summary, points) => format!("{summary} (in short: {})", points.join("; ")),
    };
    format!("- {dates}: {told}{}\n", marks.format_markers(&episode.sources))
}

/// Renders the date line above all quotes of a day, if the time is known.
pub(crate) fn render_quote_date(quote: &KeyQuote) -> Option<String> {
    quote.ts.as_deref().map(|ts| format!("[{}]\n", extract_date(ts)))
}

/// The user's words have no role prefix, unless they start like another role's line.
pub(crate) fn render_quote(quote: &KeyQuote, marks: &CitationMarkers<'_>) -> String {
    let words = to_single_line(&quote.quote);
    let name = match quote.role.unwrap_or(MessageRole::User) {
        MessageRole::User if starts_with_role(&words) => "user: ",
        MessageRole::User => choose_line_prefix(&words),
        MessageRole::Assistant => "assistant: ",
        MessageRole::Tool => "tool: ",
    };
    let reference = format_reference(&words, &quote.evidence_id);
    format!("{name}{words}{reference}{}\n", marks.format_markers([&quote.evidence_id]))
}

pub(crate) fn render_message(message: &PacketMessage, marks: &CitationMarkers<'_>) -> String {
    let words = to_single_line(&message.content);
    let reference = format_reference(&words, &message.evidence_id);
    let marks = marks.format_markers([&message.evidence_id]);
    format!("{}: {words}{reference}{marks}\n", role_name(message.role))
}

pub(crate) fn render_insight(insight: &InsightItem, marks: &CitationMarkers<'_>) -> String {
    let state = match insight.validation_state {
        InsightValidationState::Unvalidated => "unvalidated",
        InsightValidationState::Testing => "in testing",
        InsightValidationState::Validated => "validated",
        InsightValidationState::Rejected => "rejected",
    };
    let tests: Vec<String> =
        insight.tests_suggested.iter().flatten().map(|test| to_single_line(test)).collect();
    let tests =
        if tests.is_empty() { String::new() } else { format!(" (to test: {})", tests.join("; ")) };
    let marks = marks.format_markers(insight.sources.iter().flatten());
    format!("- {state}: {}{tests}{marks}\n", to_single_line(&insight.statement))
}

pub(crate) fn render_goal(goal: &str) -> String {
    format!("- goal: {}\n", to_single_line(goal))
}

pub(crate) fn render_constraint(key: &str, value: &Value) -> String {
    format!("- must: {}: {}\n", to_single_line(key), flatten_value(value))
}

pub(crate) fn render_slot(key: &str, value: &Value) -> String {
    format!("- {}: {}\n", to_single_line(key), flatten_value(value))
}

pub(crate) fn render_plan_step(step: &PlanStep) -> String {
    let status = match step.status {
        PlanStepStatus::Todo => "to do",
        PlanStepStatus::InProgress => "doing",
        PlanStepStatus::Done => "done",
    };
    format!("- {status}: {}\n", to_single_line(&step.step))
}

pub(crate) fn render_decision(decision: &WorkingDecision, marks: &CitationMarkers<'_>) -> String {
    format!(
        "- decided: {}{}\n",
        to_single_line(&decision.statement),
        marks.format_markers(&decision.evidence_id)
    )
}

pub(crate) fn render_risk(risk: &WorkingRisk) -> String {
    let mitigation = risk.mitigation.as_deref().map(to_single_line).filter(|text| !text.is_empty());
    let mitigation = mitigation.map(|text| format!(" (against it: {text})")).unwrap_or_default();
    format!("- risk: {}{mitigation}\n", to_single_line(&risk.risk))
}

pub(crate) fn render_open_loop(open_loop: &OpenLoop, marks: &CitationMarkers<'_>) -> String {
    let owner = match open_loop.owner.unwrap_or(LoopOwner::Agent) {
        LoopOwner::User => "user",
        LoopOwner::Agent => "agent",
        LoopOwner::System => "system",
    };
    let marks = marks.format_markers(&open_loop.evidence_id);
    format!("- open ({owner}): {}{marks}\n", to_single_line(&open_loop.question))
}

pub(crate) fn render_tool_evidence(evidence: &ToolEvidence) -> String {
    format!(
        "- tool result {}: {}\n",
        to_single_line(&evidence.reference),
        to_single_line(&evidence.summary)
    )
}

pub(crate) fn render_extra(key: &str, value: &Value) -> String {
    format!("- {}: {}\n", to_single_line(key), flatten_value(value))
}

fn role_name(role: MessageRole) -> &'static str {
    match role {
        MessageRole::User => "user",
        MessageRole::Assistant => "assistant",
        MessageRole::Tool => "tool",
    }
}

/// Formats the id of a reference, with which the full text can be requested.
fn format_reference(text: &str, id: &str) -> String {
    if text == REFERENCE_ELLIPSIS { format!(" ({})", to_single_line(id)) } else { String::new() }
}

/// Returns the date of an RFC 3339 timestamp.
fn extract_date(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

/// Returns the prefix of a text that could be mistaken for a heading or a date.
fn choose_line_prefix(text: &str) -> &'static str {
    if text.starts_with(char::is_alphanumeric) { "" } else { "- " }
}

fn starts_with_role(words: &str) -> bool {
    let Some((name, _)) = words.split_once(':') else { return false };
    ["user", "assistant", "tool"].iter().any(|role| name.trim().eq_ignore_ascii_case(role))
}
