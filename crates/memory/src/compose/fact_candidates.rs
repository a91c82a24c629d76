//! Selects facts: those valid at the timestamp of the request, at the nearest level. A planner
//! receives contradicting facts together, as a conflict.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::{
    FactStatus, FactValidity, PacketFact, ScopeLevel,
};
use countersign_shipped_contracts::memory::report::FactConflict;
use countersign_shipped_contracts::{JsonObject, Nullable};
use serde_json::Value;

use super::context::ComposeContext;
use super::cues::CueTarget;
use super::fill::{DetailTier, FilledSection, PacketItem};
use super::normalize::normalize_text;
use super::packet::clamp_confidence;
use super::selection_log::{DegradationStep, OmissionReason, RankedItem, SelectionLog};
use super::timestamp;
use crate::ScoredRow;
use crate::policy::InjectionStrength;
use crate::record::MemoryFact;
use crate::render::{self, REFERENCE_ELLIPSIS, flatten_value};

/// One fact, or all facts that contradict each other on a key.
#[derive(Debug)]
pub(super) struct FactCandidate<'a> {
    facts: Vec<&'a MemoryFact>,
    /// The status at the timestamp of the request: one active fact, or all disputed.
    status: FactStatus,
    relevance: i64,
    /// The highest confidence among the facts, from 0 to 1.
    confidence: f64,
    recorded: Timestamp,
    /// The key and value of the first fact.
    text: String,
    /// The rule that selected each fact, in their order.
    rules: Vec<String>,
}

impl RankedItem for FactCandidate<'_> {
    const KIND: &'static str = "fact";

    fn ids(&self) -> Vec<&str> {
        self.facts.iter().map(|fact| fact.id.as_str()).collect()
    }

    fn rule(&self, id: &str) -> String {
        let place = self.facts.iter().position(|fact| fact.id == id);
        place.and_then(|place| self.rules.get(place)).cloned().unwrap_or_default()
    }
}

impl<'a> FactCandidate<'a> {
    /// Lists the facts whose value is text, with the events that they cite.
    pub(super) fn list_statements(&self) -> impl Iterator<Item = (&'a str, &'a MemoryFact)> {
        self.facts.iter().filter_map(|fact| fact.value.as_str().map(|text| (text, *fact)))
    }
}

/// A fact with its key and value as text.
struct FactText<'a> {
    scored: &'a ScoredRow<MemoryFact>,
    text: String,
}

impl<'a> FactText<'a> {
    fn fact(&self) -> &'a MemoryFact {
        &self.scored.row
    }
}

/// Packet facts, each with a flag that says whether it is a preference.
pub(super) type PacketFacts = Vec<(PacketFact, bool)>;

/// Selects the facts that may go into the packet, ranked.
pub(super) fn select_facts<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> Vec<FactCandidate<'a>> {
    let mut rows: Vec<&ScoredRow<MemoryFact>> = ctx.candidates.facts.iter().collect();
    rows.sort_by_cached_key(|it| {
        (rank_level(it.row.level), it.row.id.as_str(), Reverse(it.row.revision))
    });
    let mut ids = BTreeSet::new();
    let mut holding: Vec<FactText<'_>> = Vec::new();
    for scored in rows {
        let fact = &scored.row;
        let text = format!("{} {}", fact.key, flatten_value(&fact.value));
        let out = if ids.insert(fact.id.as_str()) {
            find_omission_reason(ctx, fact, &text)
        } else {
            Some(OmissionReason::SameId)
        };
        match out {
            Some(OmissionReason::Deprecated) => {
                let by = fact.superseded_by.as_deref();
                let by = by.map(|by| ("superseded_by".to_owned(), by.into()));
                let extra = JsonObject::from_iter(by);
                ledger.omit_with_details("fact", &fact.id, OmissionReason::Deprecated, extra);
            }
            Some(reason) => ledger.omit("fact", &fact.id, reason),
            None => holding.push(FactText { scored, text }),
        }
    }
    let mut list = resolve_key_conflicts(ctx, ledger, holding);
    list.sort_by(|one, other| {
        let by_time =
            || (other.recorded, &one.facts[0].id).cmp(&(one.recorded, &other.facts[0].id));
        let by_confidence = other.confidence.total_cmp(&one.confidence);
        other.relevance.cmp(&one.relevance).then(by_confidence).then_with(by_time)
    });
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    list.retain(|candidate| {
        let [fact] = candidate.facts[..] else { return true };
        let first = texts.entry(normalize_text(&candidate.text)).or_insert_with(|| fact.id.clone());
        if *first != fact.id {
            let extra = JsonObject::from_iter([("duplicate_of".to_owned(), first.as_str().into())]);
            ledger.omit_with_details("fact", &fact.id, OmissionReason::Duplicate, extra);
            return false;
        }
        true
    });
    ledger.truncate_to_cap(
        &mut list,
        ctx.limit_candidates(ctx.policy.caps.facts),
        OmissionReason::Cap,
    );
    list
}

/// Classifies the omission of facts: low confidence is dropped if every omitted fact is less
/// confident than every selected one.
pub(super) fn classify_reduction(
    list: &[FactCandidate<'_>],
    filled: &FilledSection<PacketFacts>,
) -> DegradationStep {
    let (kept, left) = list.split_at(filled.items.len());
    let least = kept.iter().map(|it| it.confidence).min_by(f64::total_cmp);
    let most = left.iter().map(|it| it.confidence).max_by(f64::total_cmp);
    if most < least { DegradationStep::DroppedLowConfidence } else { DegradationStep::FewerItems }
}

/// Builds the packet item of a fact at a detail tier.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &FactCandidate<'_>,
    tier: DetailTier,
) -> PacketItem<PacketFacts> {
    let (mut given, mut shared, mut line) = (Vec::new(), Vec::new(), String::new());
    let (mut cut, mut less) = (false, false);
    for fact in &candidate.facts {
        let (value, is_cut, is_less) = fit_value(ctx, &fact.value, tier);
        (cut, less) = (cut || is_cut, less || is_less);
        let item = build_packet_fact(ctx, fact, candidate.status, value);
        let heading = render::select_fact_heading(&item, fact.preference).line().to_owned();
        if !shared.contains(&heading) {
            shared.push(heading);
        }
        line.push_str(&render::render_fact(&item, &ctx.markers));
        given.push((item, fact.preference && candidate.status == FactStatus::Active));
    }
    let name = match tier {
        DetailTier::Short if less => "short",
        DetailTier::Ref if less => "ref",
        _ => "raw",
    };
    PacketItem { item: given, shared, line, name, is_truncated: cut }
}

/// Fits a value to a detail tier. Also returns whether the value exceeds the maximum length, and
/// whether the tier reduced it further.
fn fit_value(ctx: &ComposeContext<'_>, value: &Value, tier: DetailTier) -> (Value, bool, bool) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => flatten_value(other),
    };
    let whole = ctx.fit_to_longest(&text);
    let told = match tier {
        DetailTier::Raw => whole.text.clone(),
        DetailTier::Short => ctx.shorten_item(&text).text,
        DetailTier::Ref if text.len() <= REFERENCE_ELLIPSIS.len() => text.clone(),
        DetailTier::Ref => REFERENCE_ELLIPSIS.to_owned(),
    };
    let less = told != whole.text;
    let given = if told == text { value.clone() } else { Value::String(told) };
    (given, whole.is_truncated, less)
}

fn build_packet_fact(
    ctx: &ComposeContext<'_>,
    fact: &MemoryFact,
    status: FactStatus,
    value: Value,
) -> PacketFact {
    let validity = (fact.valid_from.is_some() || fact.valid_to.is_some()).then(|| FactValidity {
        valid_from: fact.valid_from.and_then(timestamp::format_timestamp),
        valid_to: fact.valid_to.and_then(timestamp::format_timestamp).map(Nullable::Value),
    });
    PacketFact {
        fact_id: fact.id.clone(),
        fact_key: fact.key.clone(),
        value,
        status,
        validity,
        confidence: Some(clamp_confidence(fact.confidence)),
        sources: ctx
            .evidence_index
            .filter_citable(fact.evidence.iter().map(|evidence| &evidence.event)),
        scope_level: Some(fact.level),
        notes: select_notes(ctx, fact),
    }
}

/// Returns the remark about a fact. It is not rendered, so it costs nothing; one that must not be
/// visible is left out.
fn select_notes(ctx: &ComposeContext<'_>, fact: &MemoryFact) -> Option<String> {
    let evidence = fact.evidence.iter().map(|evidence| &evidence.event);
    let withheld = ctx.guard.must_withhold_text(&fact.notes, &evidence, &ctx.evidence_index);
    let notes = ctx.fit_to_longest(&fact.notes).text;
    (!fact.notes.is_empty() && !withheld).then_some(notes)
}

fn find_omission_reason(
    ctx: &ComposeContext<'_>,
    fact: &MemoryFact,
    text: &str,
) -> Option<OmissionReason> {
    let now = ctx.now();
    let times = [fact.valid_from, fact.valid_to];
    let told = times.into_iter().flatten().all(|time| timestamp::format_timestamp(time).is_some());
    let evidence = fact.evidence.iter().map(|evidence| &evidence.event);
    if ctx.row.facts == InjectionStrength::None {
        Some(OmissionReason::Purpose)
    } else if fact.status == FactStatus::Deprecated && !ctx.candidates.was_valid_at(fact, now) {
        Some(OmissionReason::Deprecated)
    } else if fact.valid_from.is_some_and(|from| from > now) {
        Some(OmissionReason::NotYetValid)
    } else if fact.valid_to.is_some_and(|to| to < now) {
        Some(OmissionReason::Expired)
    } else if fact.key.is_empty() || !told {
        Some(OmissionReason::Invalid)
    } else if ctx.guard.must_withhold_text(text, &evidence, &ctx.evidence_index)
        || (!ctx.candidates.is_vouched(fact) && ctx.guard.has_tainted_source(evidence))
    {
        Some(OmissionReason::Quarantined)
    } else {
        None
    }
}

/// Reduces each key to one candidate: the nearest level wins, and disputed facts of that level stay
/// together.
fn resolve_key_conflicts<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
    holding: Vec<FactText<'a>>,
) -> Vec<FactCandidate<'a>> {
    let mut keys: BTreeMap<&str, Vec<FactText<'a>>> = BTreeMap::new();
    for told in holding {
        keys.entry(&told.fact().key).or_default().push(told);
    }
    let mut list = Vec::new();
    for (key, rows) in keys {
        // The rows are sorted by level, so the first one has the nearest level.
        let nearest = rows[0].fact().level;
        let (near, far): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|it| it.fact().level == nearest);
        for told in far {
            let extra = JsonObject::from_iter([(
                "overridden_by".to_owned(),
                near[0].fact().id.as_str().into(),
            )]);
            ledger.omit_with_details("fact", &told.fact().id, OmissionReason::Overridden, extra);
        }
        // A disputed fact that nothing contradicts at this timestamp is not disputed now.
        let (disputed, mut active): (Vec<_>, Vec<_>) = near.into_iter().partition(|it| {
            it.fact().status == FactStatus::Disputed
                && ctx.candidates.is_contested(it.fact(), ctx.now())
        });
        active.sort_by(|one, other| {
            let key = |it: &FactText<'a>| {
                let MemoryFact { status, recorded_at, id, .. } = it.fact();
                (*status == FactStatus::Deprecated, Reverse(*recorded_at), id)
            };
            key(one).cmp(&key(other))
        });
        for told in active.iter().skip(1) {
            let extra = JsonObject::from_iter([(
                "preferred".to_owned(),
                active[0].fact().id.as_str().into(),
            )]);
            ledger.omit_with_details("fact", &told.fact().id, OmissionReason::SameKey, extra);
        }
        active.truncate(1);
        if let Some(first) = active.first() {
            report_superseded(ctx, ledger, first.fact());
            list.push(build_candidate(ctx, active, FactStatus::Active));
        }
        if disputed.is_empty() {
            continue;
        }
        ledger.conflicts.push(FactConflict {
            kind: "disputed".to_owned(),
            detail: format!("`{key}` has {} disputed values", disputed.len()),
            fact_ids: Some(disputed.iter().map(|told| told.fact().id.clone()).collect()),
            extra: JsonObject::new(),
        });
        if ctx.is_planner() {
            list.push(build_candidate(ctx, disputed, FactStatus::Disputed));
        } else {
            for it in &disputed {
                ledger.omit("fact", &it.fact().id, OmissionReason::Disputed);
            }
        }
    }
    list
}

fn build_candidate<'a>(
    ctx: &ComposeContext<'_>,
    rows: Vec<FactText<'a>>,
    status: FactStatus,
) -> FactCandidate<'a> {
    let (mut relevance, mut rules) = (i64::MIN, Vec::new());
    for FactText { scored: ScoredRow { row, score }, text } in &rows {
        let target = CueTarget { text, tags: &row.tags, entities: &row.entities, time: None };
        let activated = ctx.cues.match_target(target, &ctx.policy.activation);
        relevance = relevance.max(score.total.saturating_add(activated.points));
        for rule in activated.rules {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    let found = rules.iter().fold(String::new(), |told, rule| told + "," + rule);
    let facts: Vec<&MemoryFact> = rows.iter().map(FactText::fact).collect();
    let given = if status == FactStatus::Active { "active" } else { "disputed" };
    let rules = facts.iter().map(|fact| {
        let mut evidence = fact.evidence.iter();
        let supported = evidence.any(|piece| ctx.evidence_index.find_event(&piece.event).is_some());
        let unsupported = if supported { "" } else { ",unsupported" };
        format!("{given},valid{unsupported}{found}")
    });
    let rules = rules.collect();
    let recorded = facts.iter().map(|fact| fact.recorded_at).max().unwrap_or_default();
    let confidence = facts.iter().map(|fact| clamp_confidence(fact.confidence)).fold(0.0, f64::max);
    let text = rows.into_iter().next().map_or_else(String::new, |first| first.text);
    FactCandidate { facts, status, relevance, confidence, recorded, text, rules }
}

/// Reports the facts that this one superseded.
fn report_superseded(ctx: &ComposeContext<'_>, ledger: &mut SelectionLog, fact: &MemoryFact) {
    let mut older: Vec<&str> = ctx
        .candidates
        .facts
        .iter()
        .map(|scored| &scored.row)
        .filter(|other| other.superseded_by.as_deref() == Some(&fact.id) && other.id != fact.id)
        .map(|other| other.id.as_str())
        .collect();
    older.sort_unstable();
    older.dedup();
    for old in older {
        ledger.conflicts.push(FactConflict {
            kind: "superseded".to_owned(),
            detail: format!("`{}` replaced `{old}`", fact.id),
            fact_ids: Some(vec![old.to_owned(), fact.id.clone()]),
            extra: JsonObject::new(),
        });
    }
}

fn rank_level(level: ScopeLevel) -> u8 {
    match level {
        ScopeLevel::User => 0,
        ScopeLevel::Agent => 1,
        ScopeLevel::Tenant => 2,
    }
}
