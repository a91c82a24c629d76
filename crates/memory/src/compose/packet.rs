//! Composes a packet from start to end.

use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::{
    InsightItem, InsightKind, InsightUsagePolicy, PacketInsights,
};
use countersign_shipped_contracts::memory::long_term::{LongTermMemory, PacketFact};
use countersign_shipped_contracts::memory::meta::{
    PacketBudget, PacketMeta, PacketScope, PacketVersion, SectionBudgets,
};
use countersign_shipped_contracts::memory::report::{BudgetReport, PacketExplanation};
use countersign_shipped_contracts::memory::short_term::ShortTermMemory;

use super::budget::{BudgetAllocator, PacketSection, compute_share, scale_section_budgets};
use super::context::ComposeContext;
use super::episode_candidates::EpisodeCandidate;
use super::fact_candidates::FactCandidate;
use super::insight_candidates::InsightCandidate;
use super::message_candidates::MessageCandidate;
use super::procedure_candidates::ProcedureCandidate;
use super::quote_candidates::QuoteCandidate;
use super::sections::FilledFacts;
use super::selection_log::{OmissionReason, RankedItem, SelectionLog};
use super::state_part_candidates::{StateFloor, StatePartCandidate};
use super::{
    ComposeError, episode_candidates, explain, fact_candidates, fit_summary, insight_candidates,
    message_candidates, procedure_candidates, quote_candidates, sections, state_part_candidates,
    timestamp,
};
use crate::policy::{InjectionStrength, MIN_BUDGET_TOKENS, MemoryPolicy};
use crate::tokens::TokenCounter;
use crate::{Candidates, PacketRequest};

/// Everything that may go into a packet, ranked.
pub(super) struct PacketCandidates<'a> {
    pub(super) floor: StateFloor,
    pub(super) parts: Vec<StatePartCandidate>,
    pub(super) procedures: Vec<ProcedureCandidate<'a>>,
    pub(super) insights: Vec<InsightCandidate<'a>>,
    pub(super) facts: Vec<FactCandidate<'a>>,
    pub(super) episodes: Vec<EpisodeCandidate<'a>>,
    pub(super) summary: Option<&'a str>,
    pub(super) window: Vec<MessageCandidate<'a>>,
    pub(super) quotes: Vec<QuoteCandidate<'a>>,
}

/// Composes a packet. The same arguments give the same packet, whatever the order of the rows.
pub fn compose_packet(
    request: &PacketRequest,
    policy: &MemoryPolicy,
    found: &Candidates,
    counter: &dyn TokenCounter,
) -> Result<MemoryPacket, ComposeError> {
    request.scope.check()?;
    let max_tokens = request.budget.map_or(policy.max_tokens, |asked| asked.max_tokens);
    if max_tokens < MIN_BUDGET_TOKENS {
        return Err(ComposeError::Budget { minimum: MIN_BUDGET_TOKENS, found: max_tokens });
    }
    let generated_at = timestamp::format_timestamp(request.as_of)
        .ok_or(ComposeError::AsOf { found: request.as_of.0 })?;
    let ctx = ComposeContext::new(request, policy, found, counter)?;
    let mut ledger = SelectionLog::default();
    let candidates = select_candidates(&ctx, &mut ledger);
    let mut purse = allocate_budget(&ctx, &candidates, max_tokens)?;
    let FilledPacket { short_term, long_term, insight, disputed } =
        fill_sections(&ctx, &mut ledger, &mut purse, &candidates);
    let mut ids = collect_cited_ids(&short_term, &long_term, &insight);
    ids.extend(disputed.iter().flat_map(|fact| &fact.sources));
    if !short_term.rolling_summary.is_empty() {
        ids.extend(found.summary.iter().flat_map(|summary| &summary.sources));
    }
    let citations = ctx.evidence_index.build_citations(ids.into_iter(), &ctx.guard);
    ledger.sort_entries();
    Ok(MemoryPacket {
        meta: PacketMeta {
            schema_version: PacketVersion::V1,
            scope: build_packet_scope(request),
            generated_at,
            purpose: request.purpose,
            task_type: request.task_type.clone(),
            cues: request.cues.clone(),
            budget: PacketBudget {
                max_tokens,
                per_section: compute_section_budgets(&ctx, max_tokens),
            },
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
        explain: PacketExplanation {
            selected: ledger.selected,
            omitted: ledger.omitted,
            filters: explain::describe_filters(&ctx),
            conflicts: ledger.conflicts,
            determinism: Some(explain::describe_determinism(&ctx)),
        },
    })
}

/// Clamps a confidence to the range from 0 to 1; NaN becomes 0.
pub(super) fn clamp_confidence(confidence: f64) -> f64 {
    if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) }
}

fn select_candidates<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> PacketCandidates<'a> {
    let window = message_candidates::select_messages(ctx, ledger);
    let in_window: BTreeSet<&str> = window.iter().map(|it| it.row.id.as_str()).collect();
    let mut candidates = PacketCandidates {
        floor: state_part_candidates::collect_floor(ctx, ledger),
        parts: state_part_candidates::select_parts(ctx, ledger),
        procedures: procedure_candidates::select_procedures(ctx, ledger),
        insights: insight_candidates::select_insights(ctx, ledger),
        facts: fact_candidates::select_facts(ctx, ledger),
        episodes: episode_candidates::select_episodes(ctx, ledger),
        summary: fit_summary::select_summary(ctx, ledger),
        quotes: quote_candidates::select_quotes(ctx, ledger, &in_window),
        window,
    };
    drop_stated_quotes(ledger, &mut candidates);
    cap_candidates(ctx, ledger, &mut candidates);
    candidates
}

/// Drops the quotes that say nothing but the value of a fact which cites them, as the facts of other
/// memories do after an import.
fn drop_stated_quotes(ledger: &mut SelectionLog, candidates: &mut PacketCandidates<'_>) {
    let mut stated: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (text, fact) in candidates.facts.iter().flat_map(FactCandidate::list_statements) {
        for piece in &fact.evidence {
            stated.insert(&piece.event, (text.trim(), &fact.id));
        }
    }
    candidates.quotes.retain(|quote| match stated.get(quote.row.id.as_str()) {
        Some((text, fact)) if *text == quote.row.text.trim() => {
            let extra = JsonObject::from_iter([("duplicate_of".to_owned(), (*fact).into())]);
            let reason = OmissionReason::Duplicate;
            ledger.omit_with_details("quote", &quote.row.id, reason, extra);
            false
        }
        _ => true,
    });
}

/// Limits the candidates of all kinds together. The least needed kinds are dropped first.
fn cap_candidates(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    candidates: &mut PacketCandidates<'_>,
) {
    let mut left = ctx.policy.candidates.total;
    cap_section(ledger, &mut candidates.facts, &mut left);
    cap_section(ledger, &mut candidates.procedures, &mut left);
    cap_section(ledger, &mut candidates.quotes, &mut left);
    cap_section(ledger, &mut candidates.window, &mut left);
    cap_section(ledger, &mut candidates.episodes, &mut left);
    cap_section(ledger, &mut candidates.insights, &mut left);
}

fn cap_section<R: RankedItem>(ledger: &mut SelectionLog, list: &mut Vec<R>, left: &mut usize) {
    ledger.truncate_to_cap(list, *left, OmissionReason::Candidates);
    *left -= list.len();
}

/// Computes the budget of each section: that of the request, or the policy's share for this
/// purpose, whether or not the memory has anything for the section.
fn compute_section_budgets(ctx: &ComposeContext<'_>, max_tokens: u64) -> SectionBudgets {
    if let Some(budgets) = ctx.request.budget.and_then(|asked| asked.per_section) {
        return scale_section_budgets(max_tokens, &budgets);
    }
    let weights = PacketSection::ALL.map(|section| u128::from(section_weight(ctx, section)));
    let all = weights.iter().sum();
    let share = |section| compute_share(max_tokens, section_weight(ctx, section), all);
    SectionBudgets {
        working_state: share(PacketSection::WorkingState),
        facts: share(PacketSection::Facts),
        procedures: share(PacketSection::Procedures),
        short_term_summary: share(PacketSection::ShortTermSummary),
        episodes: share(PacketSection::Episodes),
        insights: share(PacketSection::Insights),
    }
}

/// Returns the weight of a section for this purpose: that of its strongest part.
fn section_weight(ctx: &ComposeContext<'_>, section: PacketSection) -> u64 {
    let row = ctx.row;
    let parts: &[InjectionStrength] = match section {
        PacketSection::WorkingState => &[row.state, row.plan],
        PacketSection::Procedures => &[row.procedures],
        PacketSection::Insights => &[insight_candidates::insight_strength(ctx)],
        PacketSection::Facts => &[row.facts],
        PacketSection::Episodes => &[row.episodes],
        PacketSection::ShortTermSummary => &[row.summary, row.quotes, row.window],
    };
    parts.iter().map(|part| ctx.policy.strengths.weight(*part)).max().unwrap_or(0)
}

fn allocate_budget(
    ctx: &ComposeContext<'_>,
    candidates: &PacketCandidates<'_>,
    max_tokens: u64,
) -> Result<BudgetAllocator, ComposeError> {
    let floor = candidates.floor.cost;
    if let Some(budgets) = ctx.request.budget.and_then(|asked| asked.per_section) {
        return BudgetAllocator::from_section_budgets(max_tokens, &budgets, floor);
    }
    let of_session = candidates.summary.is_some()
        || !candidates.window.is_empty()
        || !candidates.quotes.is_empty();
    let of_state = floor > 0 || !candidates.parts.is_empty();
    let contents = [
        (PacketSection::WorkingState, of_state),
        (PacketSection::Procedures, !candidates.procedures.is_empty()),
        (PacketSection::Insights, !candidates.insights.is_empty()),
        (PacketSection::Facts, !candidates.facts.is_empty()),
        (PacketSection::Episodes, !candidates.episodes.is_empty()),
        (PacketSection::ShortTermSummary, of_session),
    ];
    let weights = contents.into_iter().filter(|(_, any)| *any);
    let weights = weights.map(|(section, _)| (section, section_weight(ctx, section)));
    BudgetAllocator::from_weights(max_tokens, &weights.collect(), floor)
}

/// The filled sections of a packet.
struct FilledPacket {
    short_term: ShortTermMemory,
    long_term: LongTermMemory,
    insight: PacketInsights,
    /// The facts that the conflicts show.
    disputed: Vec<PacketFact>,
}

fn fill_sections(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    purse: &mut BudgetAllocator,
    candidates: &PacketCandidates<'_>,
) -> FilledPacket {
    let mut short_term = sections::build_empty_short_term(ctx);
    sections::fill_working_state(ctx, ledger, purse, candidates, &mut short_term);
    let procedures = sections::fill_procedures(ctx, ledger, purse, &candidates.procedures);
    let guesses = sections::fill_insights(ctx, ledger, purse, &candidates.insights);
    let FilledFacts { facts, preferences, disputed } =
        sections::fill_facts(ctx, ledger, purse, &candidates.facts);
    let episodes = sections::fill_episodes(ctx, ledger, purse, &candidates.episodes);
    sections::fill_session(ctx, ledger, purse, candidates, &mut short_term);
    let of = |kind: InsightKind| -> Vec<InsightItem> {
        guesses.iter().filter(|it| it.kind == kind).cloned().collect()
    };
    let insight = PacketInsights {
        usage_policy: InsightUsagePolicy { allow_in_responder: ctx.policy.allow_in_responder },
        hypotheses: of(InsightKind::Hypothesis),
        strategy_sketches: of(InsightKind::Strategy),
        patterns: of(InsightKind::Pattern),
    };
    let long_term = LongTermMemory { facts, preferences: Some(preferences), procedures, episodes };
    FilledPacket { short_term, long_term, insight, disputed }
}

/// Collects every event id that the selected items cite.
fn collect_cited_ids<'p>(
    short_term: &'p ShortTermMemory,
    long_term: &'p LongTermMemory,
    insight: &'p PacketInsights,
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

fn build_packet_scope(request: &PacketRequest) -> PacketScope {
    let scope = &request.scope;
    PacketScope {
        tenant_id: Some(scope.tenant().to_owned()),
        user_id: scope.user().to_owned(),
        agent_id: scope.agent().to_owned(),
        session_id: scope.session().to_owned(),
        run_id: scope.run().to_owned(),
    }
}
