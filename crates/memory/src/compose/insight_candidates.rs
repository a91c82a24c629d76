//! Selects insights. A planner receives unvalidated ones too; a responder receives validated ones
//! only, and only if the policy allows it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::memory::insight::{InsightItem, InsightValidationState};
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use countersign_shipped_contracts::{JsonObject, Nullable};

use super::context::ComposeContext;
use super::cues::CueTarget;
use super::fill::{DetailTier, PacketItem};
use super::normalize::normalize_text;
use super::packet::clamp_confidence;
use super::selection_log::{OmissionReason, RankedItem, SelectionLog};
use super::timestamp;
use crate::ScoredRow;
use crate::policy::InjectionStrength;
use crate::record::{MemoryExpiry, MemoryInsight};
use crate::render::{self, PacketHeading};

/// An insight that may go into the packet.
#[derive(Debug)]
pub(super) struct InsightCandidate<'a> {
    row: &'a MemoryInsight,
    relevance: i64,
    rule: String,
}

impl RankedItem for InsightCandidate<'_> {
    const KIND: &'static str = "insight";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// Selects the insights that may go into the packet: best validated first, then most confident.
pub(super) fn select_insights<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> Vec<InsightCandidate<'a>> {
    let mut list: Vec<InsightCandidate<'_>> =
        ctx.candidates.insights.iter().map(|scored| build_candidate(ctx, scored)).collect();
    list.sort_by(|one, other| {
        (&one.row.id, Reverse(one.row.revision)).cmp(&(&other.row.id, Reverse(other.row.revision)))
    });
    let mut ids = BTreeSet::new();
    list.retain(|candidate| {
        let row = candidate.row;
        let out = if ids.insert(row.id.as_str()) {
            find_omission_reason(ctx, row)
        } else {
            Some(OmissionReason::SameId)
        };
        if let Some(reason) = out {
            ledger.omit("insight", &row.id, reason);
        }
        out.is_none()
    });
    list.sort_by(|one, other| {
        let by_confidence =
            clamp_confidence(other.row.confidence).total_cmp(&clamp_confidence(one.row.confidence));
        rank_validation(one.row.validation)
            .cmp(&rank_validation(other.row.validation))
            .then(by_confidence)
            .then(other.relevance.cmp(&one.relevance))
            .then(other.row.recorded_at.cmp(&one.row.recorded_at))
            .then_with(|| one.row.id.cmp(&other.row.id))
    });
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    list.retain(|candidate| {
        let row = candidate.row;
        let first = texts.entry(normalize_text(&row.statement)).or_insert_with(|| row.id.clone());
        if *first != row.id {
            let extra = JsonObject::from_iter([("duplicate_of".to_owned(), first.as_str().into())]);
            ledger.omit_with_details("insight", &row.id, OmissionReason::Duplicate, extra);
        }
        *first == row.id
    });
    ledger.truncate_to_cap(
        &mut list,
        ctx.limit_candidates(ctx.policy.caps.insights),
        OmissionReason::Cap,
    );
    list
}

fn build_candidate<'a>(
    ctx: &ComposeContext<'_>,
    scored: &'a ScoredRow<MemoryInsight>,
) -> InsightCandidate<'a> {
    let ScoredRow { row, score } = scored;
    let target = CueTarget { text: &row.statement, tags: &[], entities: &[], time: None };
    let activated = ctx.cues.match_target(target, &ctx.policy.activation);
    let mut rule = format!(
        "{},confidence:{}",
        validation_name(row.validation),
        clamp_confidence(row.confidence)
    );
    activated.rules.iter().for_each(|it| rule.push_str(&format!(",{it}")));
    InsightCandidate { row, relevance: score.total.saturating_add(activated.points), rule }
}

/// Builds the packet item of an insight, with or without its tests.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &InsightCandidate<'_>,
    tier: DetailTier,
) -> Option<PacketItem<InsightItem>> {
    let row = candidate.row;
    let whole = ctx.fit_to_longest(&row.statement);
    let tests: Vec<String> = row.tests.iter().map(|test| ctx.shorten_item(test).text).collect();
    let (statement, tests, name) = match tier {
        DetailTier::Raw => (whole.text, tests, "raw"),
        DetailTier::Short => {
            let short = ctx.shorten_item(&row.statement).text;
            let name = if short == whole.text && tests.is_empty() { "raw" } else { "short" };
            (short, Vec::new(), name)
        }
        DetailTier::Ref => return None,
    };
    let expires = match row.expires {
        MemoryExpiry::RunEnd => "run_end".to_owned(),
        MemoryExpiry::Until(last) => last.to_string(),
    };
    let item = InsightItem {
        id: row.id.clone(),
        kind: row.kind,
        statement,
        trigger: Some(row.trigger),
        confidence: Some(clamp_confidence(row.confidence)),
        validation_state: row.validation,
        tests_suggested: (!tests.is_empty()).then_some(tests),
        expires_at: Some(Nullable::Value(expires)),
        sources: Some(ctx.evidence_index.filter_citable(row.sources.iter())),
    };
    let line = render::render_insight(&item, &ctx.markers);
    let shared = vec![PacketHeading::Insights.line().to_owned()];
    Some(PacketItem { item, shared, line, name, is_truncated: whole.is_truncated })
}

/// Returns how strongly insights are injected for this purpose; `None` if not at all.
pub(super) fn insight_strength(ctx: &ComposeContext<'_>) -> InjectionStrength {
    match ctx.request.purpose {
        PacketPurpose::Planner => ctx.row.insights,
        PacketPurpose::Responder if ctx.policy.allow_in_responder => ctx.row.insights,
        PacketPurpose::Tool | PacketPurpose::Responder => InjectionStrength::None,
    }
}

fn find_omission_reason(ctx: &ComposeContext<'_>, row: &MemoryInsight) -> Option<OmissionReason> {
    let validated = row.validation == InsightValidationState::Validated;
    let invalid = matches!(row.expires, MemoryExpiry::Until(last) if timestamp::format_timestamp(last).is_none());
    if row.validation == InsightValidationState::Rejected {
        Some(OmissionReason::Rejected)
    } else if insight_strength(ctx) == InjectionStrength::None || !(ctx.is_planner() || validated) {
        Some(OmissionReason::Purpose)
    } else if ctx.is_expired(row.expires, &row.run) {
        Some(OmissionReason::Expired)
    } else if invalid || row.statement.trim().is_empty() {
        Some(OmissionReason::Invalid)
    } else {
        None
    }
}

fn rank_validation(state: InsightValidationState) -> u8 {
    match state {
        InsightValidationState::Validated => 0,
        InsightValidationState::Testing => 1,
        InsightValidationState::Unvalidated => 2,
        InsightValidationState::Rejected => 3,
    }
}

fn validation_name(state: InsightValidationState) -> &'static str {
    match state {
        InsightValidationState::Unvalidated => "unvalidated",
        InsightValidationState::Testing => "testing",
        InsightValidationState::Validated => "validated",
        InsightValidationState::Rejected => "rejected",
    }
}
