//! Composing a packet, from beginning to end.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::insight::{Insight, InsightItem, InsightKind, UsagePolicy};
use countersign_contracts::memory::long_term::LongTerm;
use countersign_contracts::memory::meta::{Budget, PacketMeta, PacketVersion, Scope};
use countersign_contracts::memory::report::{BudgetReport, Explain};
use countersign_contracts::memory::short_term::ShortTerm;

use super::budget::{Purse, Section};
use super::context::Context;
use super::episodes::EpisodeCandidate;
use super::facts::FactCandidate;
use super::insights::InsightCandidate;
use super::ledger::{Ledger, Ranked, Reason};
use super::procedures::ProcedureCandidate;
use super::quotes::QuoteCandidate;
use super::window::MessageCandidate;
use super::working::{Floor, PartCandidate};
use super::{
    ComposeError, episodes, explain, facts, insights, moment, procedures, quotes, sections,
    summary, window, working,
};
use crate::policy::{LEAST_BUDGET, Policy};
use crate::tokens::TokenCounter;
use crate::{Found, Request};

/// Everything that may go into a packet, in order.
pub(super) struct Candidates<'a> {
    pub(super) floor: Floor,
    pub(super) parts: Vec<PartCandidate>,
    pub(super) procedures: Vec<ProcedureCandidate<'a>>,
    pub(super) insights: Vec<InsightCandidate<'a>>,
    pub(super) facts: Vec<FactCandidate<'a>>,
    pub(super) episodes: Vec<EpisodeCandidate<'a>>,
    pub(super) summary: Option<&'a str>,
    pub(super) window: Vec<MessageCandidate<'a>>,
    pub(super) quotes: Vec<QuoteCandidate<'a>>,
}

/// Composes a packet. The same arguments give the same packet, whatever the order of the rows.
pub fn compose(
    request: &Request,
    policy: &Policy,
    found: &Found,
    counter: &dyn TokenCounter,
) -> Result<MemoryPacket, ComposeError> {
    request.scope.check()?;
    let max_tokens = request.budget.map_or(policy.max_tokens, |asked| asked.max_tokens);
    if max_tokens < LEAST_BUDGET {
        return Err(ComposeError::Budget { least: LEAST_BUDGET, found: max_tokens });
    }
    let generated_at =
        moment::told(request.as_of).ok_or(ComposeError::AsOf { found: request.as_of.0 })?;
    let ctx = Context::new(request, policy, found, counter)?;
    let mut ledger = Ledger::default();
    let candidates = select(&ctx, &mut ledger);
    let mut purse = purse(&ctx, &candidates, max_tokens)?;
    let (short_term, long_term, insight) = fill(&ctx, &mut ledger, &mut purse, &candidates);
    let mut ids = cited(&short_term, &long_term, &insight);
    if !short_term.rolling_summary.is_empty() {
        ids.extend(found.summary.iter().flat_map(|summary| &summary.sources));
    }
    let citations = ctx.evidences.citations(ids.into_iter(), &ctx.guard);
    ledger.settle();
    Ok(MemoryPacket {
        meta: PacketMeta {
            schema_version: PacketVersion::V1,
            scope: scope(request),
            generated_at,
            purpose: request.purpose,
            task_type: request.task_type.clone(),
            cues: request.cues.clone(),
            budget: Budget { max_tokens, per_section: purse.applied() },
            policy_id: Some(policy.id.clone()),
        },
        short_term,
        long_term,
        insight,
        citations,
        budget_report: BudgetReport {
            max_tokens,
            used_tokens_est: purse.used.values().sum(),
            section_usage: purse
                .used
                .iter()
                .map(|(section, used)| (section.name().to_owned(), *used))
                .collect(),
            degradations: ledger.degradations,
            omissions: Some(ledger.omissions),
        },
        explain: Explain {
            selected: ledger.selected,
            omitted: ledger.omitted,
            filters: explain::filters(&ctx),
            conflicts: ledger.conflicts,
            determinism: Some(explain::determinism(&ctx)),
        },
    })
}

/// A confidence that a packet may hold: from 0 to 1, and a number.
pub(super) fn fraction(confidence: f64) -> f64 {
    if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) }
}

fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Candidates<'a> {
    let window = window::select(ctx, ledger);
    let in_window: BTreeSet<&str> = window.iter().map(|it| it.row.id.as_str()).collect();
    let mut candidates = Candidates {
        floor: working::floor(ctx, ledger),
        parts: working::select(ctx, ledger),
        procedures: procedures::select(ctx, ledger),
        insights: insights::select(ctx, ledger),
        facts: facts::select(ctx, ledger),
        episodes: episodes::select(ctx, ledger),
        summary: summary::select(ctx, ledger),
        quotes: quotes::select(ctx, ledger, &in_window),
        window,
    };
    cap_all(ctx, ledger, &mut candidates);
    candidates
}

/// No more than so many in all: the least needed kinds give way first.
fn cap_all(ctx: &Context<'_>, ledger: &mut Ledger, candidates: &mut Candidates<'_>) {
    let mut left = ctx.policy.candidates.all;
    take(ledger, &mut candidates.facts, &mut left);
    take(ledger, &mut candidates.procedures, &mut left);
    take(ledger, &mut candidates.quotes, &mut left);
    take(ledger, &mut candidates.window, &mut left);
    take(ledger, &mut candidates.episodes, &mut left);
    take(ledger, &mut candidates.insights, &mut left);
}

fn take<R: Ranked>(ledger: &mut Ledger, list: &mut Vec<R>, left: &mut usize) {
    ledger.cap(list, *left, Reason::Candidates);
    *left -= list.len();
}

fn purse(
    ctx: &Context<'_>,
    candidates: &Candidates<'_>,
    max_tokens: u64,
) -> Result<Purse, ComposeError> {
    let floor = candidates.floor.cost;
    if let Some(budgets) = ctx.request.budget.and_then(|asked| asked.per_section) {
        return Purse::hard(max_tokens, &budgets, floor);
    }
    let (row, strengths) = (ctx.row, ctx.policy.strengths);
    let weight = |any: bool, parts: &[crate::policy::Strength]| {
        let strongest = parts.iter().map(|part| strengths.weight(*part)).max();
        if any { strongest.unwrap_or(0) } else { 0 }
    };
    let of_session = candidates.summary.is_some()
        || !candidates.window.is_empty()
        || !candidates.quotes.is_empty();
    let of_state = floor > 0 || !candidates.parts.is_empty();
    let weights = BTreeMap::from([
        (Section::WorkingState, weight(of_state, &[row.state, row.plan])),
        (Section::Procedures, weight(!candidates.procedures.is_empty(), &[row.procedures])),
        (Section::Insights, weight(!candidates.insights.is_empty(), &[insights::strength(ctx)])),
        (Section::Facts, weight(!candidates.facts.is_empty(), &[row.facts])),
        (Section::Episodes, weight(!candidates.episodes.is_empty(), &[row.episodes])),
        (Section::ShortTermSummary, weight(of_session, &[row.summary, row.quotes, row.window])),
    ]);
    Purse::shared(max_tokens, &weights, floor)
}

fn fill(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    purse: &mut Purse,
    candidates: &Candidates<'_>,
) -> (ShortTerm, LongTerm, Insight) {
    let mut short_term = sections::empty_short_term(ctx);
    sections::working_state(ctx, ledger, purse, candidates, &mut short_term);
    let procedures = sections::procedures(ctx, ledger, purse, &candidates.procedures);
    let guesses = sections::insights(ctx, ledger, purse, &candidates.insights);
    let (facts, preferences) = sections::facts(ctx, ledger, purse, &candidates.facts);
    let episodes = sections::episodes(ctx, ledger, purse, &candidates.episodes);
    sections::session(ctx, ledger, purse, candidates, &mut short_term);
    let of = |kind: InsightKind| -> Vec<InsightItem> {
        guesses.iter().filter(|it| it.kind == kind).cloned().collect()
    };
    let insight = Insight {
        usage_policy: UsagePolicy { allow_in_responder: ctx.policy.allow_in_responder },
        hypotheses: of(InsightKind::Hypothesis),
        strategy_sketches: of(InsightKind::Strategy),
        patterns: of(InsightKind::Pattern),
    };
    let long_term = LongTerm { facts, preferences: Some(preferences), procedures, episodes };
    (short_term, long_term, insight)
}

/// Every id that what went in refers to.
fn cited<'p>(
    short_term: &'p ShortTerm,
    long_term: &'p LongTerm,
    insight: &'p Insight,
) -> Vec<&'p String> {
    let mut ids: Vec<&String> = Vec::new();
    ids.extend(short_term.key_quotes.iter().flatten().map(|quote| &quote.evidence_id));
    ids.extend(short_term.conversation_window.iter().flatten().map(|it| &it.evidence_id));
    ids.extend(short_term.open_loops.iter().flatten().filter_map(|it| it.evidence_id.as_ref()));
    ids.extend(short_term.last_tool_evidence.iter().flatten().map(|it| &it.reference));
    let decisions = short_term.working_state.decisions.iter().flatten();
    ids.extend(decisions.filter_map(|decision| decision.evidence_id.as_ref()));
    ids.extend(long_term.facts.iter().flat_map(|fact| &fact.sources));
    ids.extend(long_term.procedures.iter().flat_map(|it| it.sources.iter().flatten()));
    ids.extend(long_term.episodes.iter().flat_map(|episode| &episode.sources));
    let guesses =
        insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns);
    ids.extend(guesses.flat_map(|guess| guess.sources.iter().flatten()));
    ids
}

fn scope(request: &Request) -> Scope {
    let scope = &request.scope;
    Scope {
        tenant_id: Some(scope.tenant().to_owned()),
        user_id: scope.user().to_owned(),
        agent_id: scope.agent().to_owned(),
        session_id: scope.session().to_owned(),
        run_id: scope.run().to_owned(),
    }
}
