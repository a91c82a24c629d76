//! Fills the sections of a packet one after the other.

use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::insight::InsightItem;
use countersign_shipped_contracts::memory::long_term::{
    FactStatus, PacketEpisode, PacketFact, PacketProcedure,
};
use countersign_shipped_contracts::memory::short_term::{ShortTermMemory, WorkingState};

use super::budget::{BudgetAllocator, PacketSection};
use super::context::ComposeContext;
use super::episode_candidates::EpisodeCandidate;
use super::fact_candidates::FactCandidate;
use super::fill::fill_section;
use super::insight_candidates::InsightCandidate;
use super::packet::PacketCandidates;
use super::procedure_candidates::ProcedureCandidate;
use super::selection_log::{DegradationStep, SelectionLog};
use super::state_part_candidates::StatePart;
use super::{
    episode_candidates as episode, fact_candidates as fact, insight_candidates as insight,
    procedure_candidates as procedure,
};
use super::{fit_summary, message_candidates, quote_candidates, state_part_candidates};
use crate::render::PacketHeading;

/// Builds a short-term section without content.
pub(super) fn build_empty_short_term(ctx: &ComposeContext<'_>) -> ShortTermMemory {
    let version =
        ctx.candidates.working_memory.as_ref().map_or(0, |working| working.state.state_version);
    ShortTermMemory {
        working_state: WorkingState {
            goal: None,
            plan: None,
            slots: None,
            constraints: None,
            tool_evidence: None,
            decisions: None,
            risks: None,
            state_version: version,
            extra: JsonObject::new(),
        },
        rolling_summary: String::new(),
        key_quotes: Some(Vec::new()),
        conversation_window: Some(Vec::new()),
        open_loops: Some(Vec::new()),
        last_tool_evidence: Some(Vec::new()),
    }
}

/// Adds goal, constraints and slots, then the rest of the working state as far as it fits.
pub(super) fn fill_working_state(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    candidates: &PacketCandidates<'_>,
    short_term: &mut ShortTermMemory,
) {
    let (floor, list) = (&candidates.floor, &candidates.parts);
    let budget = purse.available_tokens(PacketSection::WorkingState) - floor.cost;
    let make = |place: usize, tier| {
        let mut form = state_part_candidates::build_item(ctx, &list[place], tier)?;
        // The floor has already paid for the heading.
        form.shared.retain(|line| floor.cost == 0 || line != PacketHeading::State.line());
        Some(form)
    };
    let filled = fill_section(list.len(), budget, ctx.policy.tiers, ctx.counter, &make);
    ledger.record_section(PacketSection::WorkingState, list, &filled, DegradationStep::FewerItems);
    let used = floor.cost + filled.used;
    if used == 0 && !filled.complete {
        let reason = "nothing of the working state fits".to_owned();
        ledger.record_degradation(
            PacketSection::WorkingState,
            DegradationStep::DroppedSection,
            reason,
        );
    }
    purse.record_usage(PacketSection::WorkingState, used, filled.complete);

    let state = &mut short_term.working_state;
    (state.goal, state.constraints, state.slots) =
        (floor.goal.clone(), floor.constraints.clone(), floor.slots.clone());
    let mut parts: Vec<(usize, StatePart)> =
        filled.items.into_iter().map(|(at, form)| (list[at].index, form.item)).collect();
    parts.sort_by_key(|(place, _)| *place);
    for (_, part) in parts {
        match part {
            StatePart::Loop(it) => short_term.open_loops.get_or_insert_default().push(it),
            StatePart::Step(it) => state.plan.get_or_insert_default().push(it),
            StatePart::Decision(it) => state.decisions.get_or_insert_default().push(it),
            StatePart::Risk(it) => state.risks.get_or_insert_default().push(it),
            StatePart::Evidence(it) => {
                short_term.last_tool_evidence.get_or_insert_default().push(it);
            }
            StatePart::Extra(key, value) => drop(state.extra.insert(key, value)),
        }
    }
}

/// Fills the procedures, in ranked order.
pub(super) fn fill_procedures(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    list: &[ProcedureCandidate<'_>],
) -> Vec<PacketProcedure> {
    let section = PacketSection::Procedures;
    let make = |place: usize, tier| Some(procedure::build_item(ctx, &list[place], tier));
    let filled = fill_section(
        list.len(),
        purse.available_tokens(section),
        ctx.policy.tiers,
        ctx.counter,
        &make,
    );
    ledger.record_section(section, list, &filled, DegradationStep::FewerItems);
    purse.record_usage(section, filled.used, filled.complete);
    filled.items.into_iter().map(|(_, form)| form.item).collect()
}

/// Fills the insights, in ranked order.
pub(super) fn fill_insights(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    list: &[InsightCandidate<'_>],
) -> Vec<InsightItem> {
    let section = PacketSection::Insights;
    let make = |place: usize, tier| insight::build_item(ctx, &list[place], tier);
    let filled = fill_section(
        list.len(),
        purse.available_tokens(section),
        ctx.policy.tiers,
        ctx.counter,
        &make,
    );
    ledger.record_section(section, list, &filled, DegradationStep::DroppedLowConfidence);
    purse.record_usage(section, filled.used, filled.complete);
    filled.items.into_iter().map(|(_, form)| form.item).collect()
}

/// The facts of a packet.
pub(super) struct FilledFacts {
    /// The active facts, sorted by key so that the order is stable when their rank changes.
    pub(super) facts: Vec<PacketFact>,
    /// The preferences among them.
    pub(super) preferences: Vec<PacketFact>,
    /// The disputed facts, which the packet shows as conflicts and not as facts.
    pub(super) disputed: Vec<PacketFact>,
}

/// Fills the facts and the conflicts between disputed ones.
pub(super) fn fill_facts(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    list: &[FactCandidate<'_>],
) -> FilledFacts {
    let section = PacketSection::Facts;
    let make = |place: usize, tier| Some(fact::build_item(ctx, &list[place], tier));
    let filled = fill_section(
        list.len(),
        purse.available_tokens(section),
        ctx.policy.tiers,
        ctx.counter,
        &make,
    );
    ledger.record_section(section, list, &filled, fact::classify_reduction(list, &filled));
    purse.record_usage(section, filled.used, filled.complete);
    let mut given: Vec<(PacketFact, bool)> =
        filled.items.into_iter().flat_map(|(_, form)| form.item).collect();
    given.sort_by(|(one, _), (other, _)| {
        (&one.fact_key, &one.fact_id).cmp(&(&other.fact_key, &other.fact_id))
    });
    let (disputed, given): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|(fact, _)| fact.status == FactStatus::Disputed);
    let disputed: Vec<PacketFact> = disputed.into_iter().map(|(fact, _)| fact).collect();
    ledger.show_disputed_facts(&disputed);
    let preferences = given.iter().filter(|(_, preference)| *preference);
    let preferences: Vec<PacketFact> = preferences.map(|(fact, _)| fact.clone()).collect();
    let facts = given.into_iter().map(|(fact, _)| fact).collect();
    FilledFacts { facts, preferences, disputed }
}

/// Fills the episodes, oldest first.
pub(super) fn fill_episodes(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    list: &[EpisodeCandidate<'_>],
) -> Vec<PacketEpisode> {
    let section = PacketSection::Episodes;
    let make = |place: usize, tier| Some(episode::build_item(ctx, &list[place], tier));
    let filled = fill_section(
        list.len(),
        purse.available_tokens(section),
        ctx.policy.tiers,
        ctx.counter,
        &make,
    );
    ledger.record_section(section, list, &filled, episode::classify_reduction(list, &filled));
    purse.record_usage(section, filled.used, filled.complete);
    let mut given: Vec<PacketEpisode> =
        filled.items.into_iter().map(|(_, form)| form.item).collect();
    given.sort_by(|one, other| {
        let key = (&one.time_range.start, &one.episode_id);
        key.cmp(&(&other.time_range.start, &other.episode_id))
    });
    given
}

/// Fills summary, latest messages and quotes. Each has a share of the section by its strength and
/// passes the rest on if it fits completely.
pub(super) fn fill_session(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    candidates: &PacketCandidates<'_>,
    short_term: &mut ShortTermMemory,
) {
    let section = PacketSection::ShortTermSummary;
    let (budget, counter, tiers) = (purse.available_tokens(section), ctx.counter, ctx.policy.tiers);
    let weight = |any: bool, strength| if any { ctx.policy.strengths.weight(strength) } else { 0 };
    let of_summary = weight(candidates.summary.is_some(), ctx.row.summary);
    let of_window = weight(!candidates.window.is_empty(), ctx.row.window);
    let of_quotes = weight(!candidates.quotes.is_empty(), ctx.row.quotes);
    let all = u128::from((of_summary + of_window + of_quotes).max(1));
    let share = |weight: u64| (u128::from(budget) * u128::from(weight) / all) as u64;

    let (text, of_text, whole) =
        fit_summary::fit_summary(ctx, ledger, candidates.summary, share(of_summary));
    short_term.rolling_summary = text;
    let left = if whole { share(of_summary) - of_text } else { 0 };

    let list = &candidates.window;
    let allowed = share(of_window) + left;
    let make = |place: usize, tier| message_candidates::build_item(ctx, &list[place], tier);
    let messages = fill_section(list.len(), allowed, tiers, counter, &make);
    ledger.record_section(section, list, &messages, DegradationStep::TighterWindow);
    let left = if messages.complete { allowed - messages.used } else { 0 };
    // The newest message is selected first and written last.
    let given = messages.items.into_iter().rev().map(|(_, form)| form.item);
    short_term.conversation_window = Some(given.collect());

    let list = &candidates.quotes;
    let make = |place: usize, tier| Some(quote_candidates::build_item(ctx, &list[place], tier));
    let quotes = fill_section(list.len(), share(of_quotes) + left, tiers, counter, &make);
    ledger.record_section(section, list, &quotes, DegradationStep::FewerItems);
    let mut given: Vec<_> =
        quotes.items.into_iter().map(|(at, form)| (list[at].row, form.item)).collect();
    given.sort_by(|(one, _), (other, _)| {
        (one.ts, one.location, &one.id).cmp(&(other.ts, other.location, &other.id))
    });
    short_term.key_quotes = Some(given.into_iter().map(|(_, item)| item).collect());

    let used = of_text + messages.used + quotes.used;
    let complete = whole && messages.complete && quotes.complete;
    if used == 0 && !complete {
        ledger.record_degradation(
            section,
            DegradationStep::DroppedSection,
            "nothing of the session fits".to_owned(),
        );
    }
    purse.record_usage(section, used, complete);
}
