//! The lines of a packet, an item a line. Composing counts these very lines.

use countersign_contracts::memory::insight::{InsightItem, ValidationState};
use countersign_contracts::memory::long_term::{Episode, Fact, FactStatus, Procedure};
use countersign_contracts::memory::short_term::{
    Decision, KeyQuote, LoopOwner, Message, MessageRole, OpenLoop, PlanStep, Risk, StepStatus,
    ToolEvidence,
};
use serde_json::Value;

use super::{Marks, flat, plain};

/// What stands in place of a text of which only the reference is given.
pub(crate) const REF: &str = "…";

/// The headings, in the order they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Heading {
    Procedures,
    Facts,
    Preferences,
    Disputed,
    Summary,
    Episodes,
    Quotes,
    Guesses,
    Recent,
    State,
}

impl Heading {
    pub(crate) fn line(self) -> &'static str {
        match self {
            Self::Procedures => "# How such tasks are done\n",
            Self::Facts => "# Known facts\n",
            Self::Preferences => "# Preferences\n",
            Self::Disputed => "# Disputed, not settled\n",
            Self::Summary => "# The conversation so far\n",
            Self::Episodes => "# What happened before\n",
            Self::Quotes => "# What was said\n",
            Self::Guesses => "# Guesses, not facts\n",
            Self::Recent => "# Latest messages\n",
            Self::State => "# Where things stand\n",
        }
    }
}

/// Under which heading a fact stands.
pub(crate) fn fact_heading(fact: &Fact, preference: bool) -> Heading {
    match (fact.status, preference) {
        (FactStatus::Active, false) => Heading::Facts,
        (FactStatus::Active, true) => Heading::Preferences,
        _ => Heading::Disputed,
    }
}

pub(crate) fn fact(fact: &Fact, marks: &Marks<'_>) -> String {
    let value = flat(&fact.value);
    let reference = reference(&value, &fact.fact_id);
    format!("- {}: {value}{reference}{}\n", plain(&fact.fact_key), marks.behind(&fact.sources))
}

pub(crate) fn procedure(procedure: &Procedure, marks: &Marks<'_>) -> String {
    let content = if procedure.content.is_empty() {
        REF.to_owned()
    } else {
        flat(&Value::Object(procedure.content.clone()))
    };
    let reference = reference(&content, &procedure.procedure_id);
    let sources = procedure.sources.iter().flatten();
    format!("- {content}{reference}{}\n", marks.behind(sources))
}

pub(crate) fn summary(text: &str) -> String {
    let text = plain(text);
    if text.is_empty() { String::new() } else { format!("{}{text}\n", sign(&text)) }
}

pub(crate) fn episode(episode: &Episode, marks: &Marks<'_>) -> String {
    let start = day(&episode.time_range.start);
    let end = episode.time_range.end.as_deref().map_or(start, day);
    let dates = if start == end { start.to_owned() } else { format!("{start} to {end}") };
    let summary = plain(&episode.summary);
    let points: Vec<String> =
        episode.highlights.iter().flatten().map(|highlight| plain(highlight)).collect();
    let told = match (summary.as_str(), points.as_slice()) {
        (REF, []) => format!("{REF} ({})", plain(&episode.episode_id)),
        (REF, points) => format!("{REF} {}", points.join("; ")),
        (summary, []) => summary.to_owned(),
        (summary, points) => format!("{summary} (in short: {})", points.join("; ")),
    };
    format!("- {dates}: {told}{}\n", marks.behind(&episode.sources))
}

/// The line above all quotes of a day, where the time is known.
pub(crate) fn quote_date(quote: &KeyQuote) -> Option<String> {
    quote.ts.as_deref().map(|ts| format!("[{}]\n", day(ts)))
}

/// The user's words stand without a name, unless they begin as somebody else's would.
pub(crate) fn quote(quote: &KeyQuote, marks: &Marks<'_>) -> String {
    let words = plain(&quote.quote);
    let name = match quote.role.unwrap_or(MessageRole::User) {
        MessageRole::User if takes_a_name(&words) => "user: ",
        MessageRole::User => sign(&words),
        MessageRole::Assistant => "assistant: ",
        MessageRole::Tool => "tool: ",
    };
    let reference = reference(&words, &quote.evidence_id);
    format!("{name}{words}{reference}{}\n", marks.behind([&quote.evidence_id]))
}

pub(crate) fn message(message: &Message, marks: &Marks<'_>) -> String {
    let words = plain(&message.content);
    let reference = reference(&words, &message.evidence_id);
    let marks = marks.behind([&message.evidence_id]);
    format!("{}: {words}{reference}{marks}\n", role(message.role))
}

pub(crate) fn insight(insight: &InsightItem, marks: &Marks<'_>) -> String {
    let state = match insight.validation_state {
        ValidationState::Unvalidated => "unvalidated",
        ValidationState::Testing => "in testing",
        ValidationState::Validated => "validated",
        ValidationState::Rejected => "rejected",
    };
    let tests: Vec<String> =
        insight.tests_suggested.iter().flatten().map(|test| plain(test)).collect();
    let tests =
        if tests.is_empty() { String::new() } else { format!(" (to test: {})", tests.join("; ")) };
    let marks = marks.behind(insight.sources.iter().flatten());
    format!("- {state}: {}{tests}{marks}\n", plain(&insight.statement))
}

pub(crate) fn goal(goal: &str) -> String {
    format!("- goal: {}\n", plain(goal))
}

pub(crate) fn constraint(key: &str, value: &Value) -> String {
    format!("- must: {}: {}\n", plain(key), flat(value))
}

pub(crate) fn slot(key: &str, value: &Value) -> String {
    format!("- {}: {}\n", plain(key), flat(value))
}

pub(crate) fn plan_step(step: &PlanStep) -> String {
    let status = match step.status {
        StepStatus::Todo => "to do",
        StepStatus::InProgress => "doing",
        StepStatus::Done => "done",
    };
    format!("- {status}: {}\n", plain(&step.step))
}

pub(crate) fn decision(decision: &Decision, marks: &Marks<'_>) -> String {
    format!("- decided: {}{}\n", plain(&decision.statement), marks.behind(&decision.evidence_id))
}

pub(crate) fn risk(risk: &Risk) -> String {
    let mitigation = risk.mitigation.as_deref().map(plain).filter(|text| !text.is_empty());
    let mitigation = mitigation.map(|text| format!(" (against it: {text})")).unwrap_or_default();
    format!("- risk: {}{mitigation}\n", plain(&risk.risk))
}

pub(crate) fn open_loop(open_loop: &OpenLoop, marks: &Marks<'_>) -> String {
    let owner = match open_loop.owner.unwrap_or(LoopOwner::Agent) {
        LoopOwner::User => "user",
        LoopOwner::Agent => "agent",
        LoopOwner::System => "system",
    };
    let marks = marks.behind(&open_loop.evidence_id);
    format!("- open ({owner}): {}{marks}\n", plain(&open_loop.question))
}

pub(crate) fn tool_evidence(evidence: &ToolEvidence) -> String {
    format!("- tool result {}: {}\n", plain(&evidence.reference), plain(&evidence.summary))
}

pub(crate) fn extra(key: &str, value: &Value) -> String {
    format!("- {}: {}\n", plain(key), flat(value))
}

fn role(role: MessageRole) -> &'static str {
    match role {
        MessageRole::User => "user",
        MessageRole::Assistant => "assistant",
        MessageRole::Tool => "tool",
    }
}

/// The id behind a reference, by which the whole can be asked for.
fn reference(text: &str, id: &str) -> String {
    if text == REF { format!(" ({})", plain(id)) } else { String::new() }
}

/// The day of an RFC 3339 time.
fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

/// What stands before a text that might be taken for a heading or a date.
fn sign(text: &str) -> &'static str {
    if text.starts_with(char::is_alphanumeric) { "" } else { "- " }
}

fn takes_a_name(words: &str) -> bool {
    let Some((name, _)) = words.split_once(':') else { return false };
    ["user", "assistant", "tool"].iter().any(|role| name.trim().eq_ignore_ascii_case(role))
}
