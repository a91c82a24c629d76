//! Insights: guesses for a planner; to a responder only validated ones, and only with leave.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::insight::{InsightItem, ValidationState};
use countersign_contracts::memory::meta::Purpose;
use countersign_contracts::{Nullable, Object};

use super::context::Context;
use super::cues::Target;
use super::fill::{Form, Tier};
use super::ledger::{Ledger, Ranked, Reason};
use super::moment;
use super::normal::normal;
use super::packet::fraction;
use crate::Scored;
use crate::policy::Strength;
use crate::record::{Expiry, Insight};
use crate::render::{self, Heading};

/// A guess that may go in.
#[derive(Debug)]
pub(super) struct InsightCandidate<'a> {
    row: &'a Insight,
    relevance: i64,
    rule: String,
}

impl Ranked for InsightCandidate<'_> {
    const KIND: &'static str = "insight";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// The guesses that may go in: the best tested first, then the most likely.
pub(super) fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Vec<InsightCandidate<'a>> {
    let mut list: Vec<InsightCandidate<'_>> =
        ctx.found.insights.iter().map(|scored| candidate(ctx, scored)).collect();
    list.sort_by(|one, other| {
        (&one.row.id, Reverse(one.row.revision)).cmp(&(&other.row.id, Reverse(other.row.revision)))
    });
    let mut ids = BTreeSet::new();
    list.retain(|candidate| {
        let row = candidate.row;
        let out = if ids.insert(row.id.as_str()) { filter(ctx, row) } else { Some(Reason::SameId) };
        if let Some(reason) = out {
            ledger.omit("insight", &row.id, reason);
        }
        out.is_none()
    });
    list.sort_by(|one, other| {
        let by_confidence = fraction(other.row.confidence).total_cmp(&fraction(one.row.confidence));
        tested(one.row.validation)
            .cmp(&tested(other.row.validation))
            .then(by_confidence)
            .then(other.relevance.cmp(&one.relevance))
            .then(other.row.recorded_at.cmp(&one.row.recorded_at))
            .then_with(|| one.row.id.cmp(&other.row.id))
    });
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    list.retain(|candidate| {
        let row = candidate.row;
        let first = texts.entry(normal(&row.statement)).or_insert_with(|| row.id.clone());
        if *first != row.id {
            let extra = Object::from_iter([("of".to_owned(), first.as_str().into())]);
            ledger.omit_for("insight", &row.id, Reason::Duplicate, extra);
        }
        *first == row.id
    });
    ledger.cap(&mut list, ctx.most(ctx.policy.caps.insights), Reason::Cap);
    list
}

fn candidate<'a>(ctx: &Context<'_>, scored: &'a Scored<Insight>) -> InsightCandidate<'a> {
    let Scored { row, score } = scored;
    let target = Target { text: &row.statement, tags: &[], entities: &[], time: None };
    let activated = ctx.cues.activate(target, &ctx.policy.activation);
    let mut rule = format!("{},confidence:{}", told(row.validation), fraction(row.confidence));
    activated.rules.iter().for_each(|it| rule.push_str(&format!(",{it}")));
    InsightCandidate { row, relevance: score.total.saturating_add(activated.points), rule }
}

/// A guess in a form: with its tests, or without.
pub(super) fn form(
    ctx: &Context<'_>,
    candidate: &InsightCandidate<'_>,
    tier: Tier,
) -> Option<Form<InsightItem>> {
    let row = candidate.row;
    let whole = ctx.whole(&row.statement);
    let tests: Vec<String> = row.tests.iter().map(|test| ctx.short(test).text).collect();
    let (statement, tests, name) = match tier {
        Tier::Raw => (whole.text, tests, "raw"),
        Tier::Short => {
            let short = ctx.short(&row.statement).text;
            let name = if short == whole.text && tests.is_empty() { "raw" } else { "short" };
            (short, Vec::new(), name)
        }
        Tier::Ref => return None,
    };
    let expires = match row.expires {
        Expiry::RunEnd => "run_end".to_owned(),
        Expiry::At(last) => last.to_string(),
    };
    let item = InsightItem {
        id: row.id.clone(),
        kind: row.kind,
        statement,
        trigger: Some(row.trigger),
        confidence: Some(fraction(row.confidence)),
        validation_state: row.validation,
        tests_suggested: (!tests.is_empty()).then_some(tests),
        expires_at: Some(Nullable::Value(expires)),
        sources: Some(ctx.evidences.resolving(row.sources.iter())),
    };
    let line = render::insight(&item, &ctx.marks);
    let shared = vec![Heading::Guesses.line().to_owned()];
    Some(Form { item, shared, line, name, cut: whole.cut })
}

/// Whether guesses may go to this purpose at all.
pub(super) fn strength(ctx: &Context<'_>) -> Strength {
    match ctx.request.purpose {
        Purpose::Planner => ctx.row.insights,
        Purpose::Responder if ctx.policy.allow_in_responder => ctx.row.insights,
        Purpose::Tool | Purpose::Responder => Strength::None,
    }
}

fn filter(ctx: &Context<'_>, row: &Insight) -> Option<Reason> {
    let validated = row.validation == ValidationState::Validated;
    let invalid = matches!(row.expires, Expiry::At(last) if moment::told(last).is_none());
    if row.validation == ValidationState::Rejected {
        Some(Reason::Rejected)
    } else if strength(ctx) == Strength::None || !(ctx.is_planner() || validated) {
        Some(Reason::Purpose)
    } else if ctx.is_over(row.expires, &row.run) {
        Some(Reason::Expired)
    } else if invalid || row.statement.trim().is_empty() {
        Some(Reason::Invalid)
    } else {
        None
    }
}

fn tested(state: ValidationState) -> u8 {
    match state {
        ValidationState::Validated => 0,
        ValidationState::Testing => 1,
        ValidationState::Unvalidated => 2,
        ValidationState::Rejected => 3,
    }
}

fn told(state: ValidationState) -> &'static str {
    match state {
        ValidationState::Unvalidated => "unvalidated",
        ValidationState::Testing => "testing",
        ValidationState::Validated => "validated",
        ValidationState::Rejected => "rejected",
    }
}
