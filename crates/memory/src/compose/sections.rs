//! The sections of a packet, filled one after the other.

use countersign_contracts::Object;
use countersign_contracts::memory::insight::InsightItem;
use countersign_contracts::memory::long_term::{Episode, Fact, Procedure};
use countersign_contracts::memory::short_term::{ShortTerm, WorkingState};

use super::budget::{Purse, Section};
use super::context::Context;
use super::episodes::EpisodeCandidate;
use super::facts::FactCandidate;
use super::fill::fill;
use super::insights::InsightCandidate;
use super::ledger::{Ledger, Step};
use super::packet::Candidates;
use super::procedures::ProcedureCandidate;
use super::working::Part;
use super::{episodes as episode, facts as fact, insights as insight, procedures as procedure};
use super::{quotes, summary, window, working};
use crate::render::Heading;

/// A short term with nothing in it yet.
pub(super) fn empty_short_term(ctx: &Context<'_>) -> ShortTerm {
    let version = ctx.found.working.as_ref().map_or(0, |working| working.state.state_version);
    ShortTerm {
        working_state: WorkingState {
            goal: None,
            plan: None,
            slots: None,
            constraints: None,
            tool_evidence: None,
            decisions: None,
            risks: None,
            state_version: version,
            extra: Object::new(),
        },
        rolling_summary: String::new(),
        key_quotes: Some(Vec::new()),
        conversation_window: Some(Vec::new()),
        open_loops: Some(Vec::new()),
        last_tool_evidence: Some(Vec::new()),
    }
}

/// Goal, constraints and slots, then what else of the working state fits.
pub(super) fn working_state(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    candidates: &Candidates<'_>,
    short_term: &mut ShortTerm,
) {
    let (floor, list) = (&candidates.floor, &candidates.parts);
    let budget = purse.open(Section::WorkingState) - floor.cost;
    let make = |place: usize, tier| {
        let mut form = working::form(ctx, &list[place], tier)?;
        // The floor has paid the heading.
        form.shared.retain(|line| floor.cost == 0 || line != Heading::State.line());
        Some(form)
    };
    let filled = fill(list.len(), budget, ctx.policy.tiers, ctx.counter, &make);
    ledger.filled(Section::WorkingState, list, &filled, Step::FewerItems);
    let used = floor.cost + filled.used;
    if used == 0 && !filled.complete {
        let reason = "nothing of the working state fits".to_owned();
        ledger.degrade(Section::WorkingState, Step::DroppedSection, reason);
    }
    purse.close(Section::WorkingState, used, filled.complete);

    let state = &mut short_term.working_state;
    (state.goal, state.constraints, state.slots) =
        (floor.goal.clone(), floor.constraints.clone(), floor.slots.clone());
    let mut parts: Vec<(usize, Part)> =
        filled.items.into_iter().map(|(at, form)| (list[at].place, form.item)).collect();
    parts.sort_by_key(|(place, _)| *place);
    for (_, part) in parts {
        match part {
            Part::Loop(it) => short_term.open_loops.get_or_insert_default().push(it),
            Part::Step(it) => state.plan.get_or_insert_default().push(it),
            Part::Decision(it) => state.decisions.get_or_insert_default().push(it),
            Part::Risk(it) => state.risks.get_or_insert_default().push(it),
            Part::Evidence(it) => short_term.last_tool_evidence.get_or_insert_default().push(it),
            Part::Extra(key, value) => drop(state.extra.insert(key, value)),
        }
    }
}

/// The procedures, in order.
pub(super) fn procedures(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    list: &[ProcedureCandidate<'_>],
) -> Vec<Procedure> {
    let section = Section::Procedures;
    let make = |place: usize, tier| Some(procedure::form(ctx, &list[place], tier));
    let filled = fill(list.len(), purse.open(section), ctx.policy.tiers, ctx.counter, &make);
    ledger.filled(section, list, &filled, Step::FewerItems);
    purse.close(section, filled.used, filled.complete);
    filled.items.into_iter().map(|(_, form)| form.item).collect()
}

/// The guesses, in order.
pub(super) fn insights(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    list: &[InsightCandidate<'_>],
) -> Vec<InsightItem> {
    let section = Section::Insights;
    let make = |place: usize, tier| insight::form(ctx, &list[place], tier);
    let filled = fill(list.len(), purse.open(section), ctx.policy.tiers, ctx.counter, &make);
    ledger.filled(section, list, &filled, Step::DroppedLowConfidence);
    purse.close(section, filled.used, filled.complete);
    filled.items.into_iter().map(|(_, form)| form.item).collect()
}

/// The facts by key, which stays when their order of merit changes; and the preferences among them.
pub(super) fn facts(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    list: &[FactCandidate<'_>],
) -> (Vec<Fact>, Vec<Fact>) {
    let section = Section::Facts;
    let make = |place: usize, tier| Some(fact::form(ctx, &list[place], tier));
    let filled = fill(list.len(), purse.open(section), ctx.policy.tiers, ctx.counter, &make);
    ledger.filled(section, list, &filled, fact::fewer(list, &filled));
    purse.close(section, filled.used, filled.complete);
    let mut given: Vec<(Fact, bool)> =
        filled.items.into_iter().flat_map(|(_, form)| form.item).collect();
    given.sort_by(|(one, _), (other, _)| {
        (&one.fact_key, &one.fact_id).cmp(&(&other.fact_key, &other.fact_id))
    });
    let preferences = given.iter().filter(|(_, preference)| *preference);
    let preferences: Vec<Fact> = preferences.map(|(fact, _)| fact.clone()).collect();
    (given.into_iter().map(|(fact, _)| fact).collect(), preferences)
}

/// The episodes, the oldest first.
pub(super) fn episodes(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    list: &[EpisodeCandidate<'_>],
) -> Vec<Episode> {
    let section = Section::Episodes;
    let make = |place: usize, tier| Some(episode::form(ctx, &list[place], tier));
    let filled = fill(list.len(), purse.open(section), ctx.policy.tiers, ctx.counter, &make);
    ledger.filled(section, list, &filled, episode::fewer(list, &filled));
    purse.close(section, filled.used, filled.complete);
    let mut given: Vec<Episode> = filled.items.into_iter().map(|(_, form)| form.item).collect();
    given.sort_by(|one, other| {
        let key = (&one.time_range.start, &one.episode_id);
        key.cmp(&(&other.time_range.start, &other.episode_id))
    });
    given
}

/// Summary, latest messages and quotes: each has a share of the section by its strength, and passes
/// on what it leaves when it gives everything.
pub(super) fn session(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    candidates: &Candidates<'_>,
    short_term: &mut ShortTerm,
) {
    let section = Section::ShortTermSummary;
    let (budget, counter, tiers) = (purse.open(section), ctx.counter, ctx.policy.tiers);
    let weight = |any: bool, strength| if any { ctx.policy.strengths.weight(strength) } else { 0 };
    let of_summary = weight(candidates.summary.is_some(), ctx.row.summary);
    let of_window = weight(!candidates.window.is_empty(), ctx.row.window);
    let of_quotes = weight(!candidates.quotes.is_empty(), ctx.row.quotes);
    let all = u128::from((of_summary + of_window + of_quotes).max(1));
    let share = |weight: u64| (u128::from(budget) * u128::from(weight) / all) as u64;

    let (text, of_text, whole) = summary::fit(ctx, ledger, candidates.summary, share(of_summary));
    short_term.rolling_summary = text;
    let left = if whole { share(of_summary) - of_text } else { 0 };

    let list = &candidates.window;
    let allowed = share(of_window) + left;
    let make = |place: usize, tier| window::form(ctx, &list[place], tier);
    let messages = fill(list.len(), allowed, tiers, counter, &make);
    ledger.filled(section, list, &messages, Step::TighterWindow);
    let left = if messages.complete { allowed - messages.used } else { 0 };
    // The newest was taken first and is written last.
    let given = messages.items.into_iter().rev().map(|(_, form)| form.item);
    short_term.conversation_window = Some(given.collect());

    let list = &candidates.quotes;
    let make = |place: usize, tier| Some(quotes::form(ctx, &list[place], tier));
    let quotes = fill(list.len(), share(of_quotes) + left, tiers, counter, &make);
    ledger.filled(section, list, &quotes, Step::FewerItems);
    let mut given: Vec<_> =
        quotes.items.into_iter().map(|(at, form)| (list[at].row, form.item)).collect();
    given.sort_by(|(one, _), (other, _)| {
        (one.ts, one.place, &one.id).cmp(&(other.ts, other.place, &other.id))
    });
    short_term.key_quotes = Some(given.into_iter().map(|(_, item)| item).collect());

    let used = of_text + messages.used + quotes.used;
    let complete = whole && messages.complete && quotes.complete;
    if used == 0 && !complete {
        ledger.degrade(section, Step::DroppedSection, "nothing of the session fits".to_owned());
    }
    purse.close(section, used, complete);
}
