//! Facts: those that hold at the moment, of the nearest level; contradictions together, to a planner.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::{
    Fact as PacketFact, FactStatus, ScopeLevel, Validity,
};
use countersign_contracts::memory::report::Conflict;
use countersign_contracts::{Nullable, Object};
use countersign_core::run::Time;
use serde_json::Value;

use super::context::Context;
use super::cues::Target;
use super::fill::{Filled, Form, Tier};
use super::ledger::{Ledger, Ranked, Reason, Step};
use super::moment;
use super::normal::normal;
use super::packet::fraction;
use crate::Scored;
use crate::policy::Strength;
use crate::record::Fact;
use crate::render::{self, REF, flat};

/// One fact, or all that contradict one another on a key.
#[derive(Debug)]
pub(super) struct FactCandidate<'a> {
    facts: Vec<&'a Fact>,
    /// How they hold at the moment: one is active, or all are disputed.
    status: FactStatus,
    relevance: i64,
    /// Of the surest of them, from 0 to 1.
    confidence: f64,
    recorded: Time,
    /// The key and the value of the first.
    text: String,
    /// What each of them is given by, in their order.
    rules: Vec<String>,
}

impl Ranked for FactCandidate<'_> {
    const KIND: &'static str = "fact";

    fn ids(&self) -> Vec<&str> {
        self.facts.iter().map(|fact| fact.id.as_str()).collect()
    }

    fn rule(&self, id: &str) -> String {
        let place = self.facts.iter().position(|fact| fact.id == id);
        place.and_then(|place| self.rules.get(place)).cloned().unwrap_or_default()
    }
}

/// A fact, and its key and value as words.
struct Told<'a> {
    scored: &'a Scored<Fact>,
    text: String,
}

impl<'a> Told<'a> {
    fn fact(&self) -> &'a Fact {
        &self.scored.row
    }
}

/// A fact for the packet, and whether it is a preference.
pub(super) type Given = Vec<(PacketFact, bool)>;

/// The facts that may go in, in order.
pub(super) fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Vec<FactCandidate<'a>> {
    let mut rows: Vec<&Scored<Fact>> = ctx.found.facts.iter().collect();
    rows.sort_by_cached_key(|it| {
        (nearness(it.row.level), it.row.id.as_str(), Reverse(it.row.revision))
    });
    let mut ids = BTreeSet::new();
    let mut holding: Vec<Told<'_>> = Vec::new();
    for scored in rows {
        let fact = &scored.row;
        let text = format!("{} {}", fact.key, flat(&fact.value));
        let out = if ids.insert(fact.id.as_str()) {
            filter(ctx, fact, &text)
        } else {
            Some(Reason::SameId)
        };
        match out {
            Some(Reason::Deprecated) => {
                let by = fact.superseded_by.as_deref();
                let by = by.map(|by| ("superseded_by".to_owned(), by.into()));
                let extra = Object::from_iter(by);
                ledger.omit_for("fact", &fact.id, Reason::Deprecated, extra);
            }
            Some(reason) => ledger.omit("fact", &fact.id, reason),
            None => holding.push(Told { scored, text }),
        }
    }
    let mut list = settle_keys(ctx, ledger, holding);
    list.sort_by(|one, other| {
        let by_time =
            || (other.recorded, &one.facts[0].id).cmp(&(one.recorded, &other.facts[0].id));
        let by_confidence = other.confidence.total_cmp(&one.confidence);
        other.relevance.cmp(&one.relevance).then(by_confidence).then_with(by_time)
    });
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    list.retain(|candidate| {
        let [fact] = candidate.facts[..] else { return true };
        let first = texts.entry(normal(&candidate.text)).or_insert_with(|| fact.id.clone());
        if *first != fact.id {
            let extra = Object::from_iter([("of".to_owned(), first.as_str().into())]);
            ledger.omit_for("fact", &fact.id, Reason::Duplicate, extra);
            return false;
        }
        true
    });
    ledger.cap(&mut list, ctx.most(ctx.policy.caps.facts), Reason::Cap);
    list
}

/// What leaving facts out amounts to: those of low confidence are dropped, where all that stay out are less
/// sure than all that are in.
pub(super) fn fewer(list: &[FactCandidate<'_>], filled: &Filled<Given>) -> Step {
    let (kept, left) = list.split_at(filled.items.len());
    let least = kept.iter().map(|it| it.confidence).min_by(f64::total_cmp);
    let most = left.iter().map(|it| it.confidence).max_by(f64::total_cmp);
    if most < least { Step::DroppedLowConfidence } else { Step::FewerItems }
}

/// A fact in a form.
pub(super) fn form(ctx: &Context<'_>, candidate: &FactCandidate<'_>, tier: Tier) -> Form<Given> {
    let (mut given, mut shared, mut line) = (Vec::new(), Vec::new(), String::new());
    let (mut cut, mut less) = (false, false);
    for fact in &candidate.facts {
        let (value, is_cut, is_less) = value(ctx, &fact.value, tier);
        (cut, less) = (cut || is_cut, less || is_less);
        let item = packet_fact(ctx, fact, candidate.status, value);
        let heading = render::fact_heading(&item, fact.preference).line().to_owned();
        if !shared.contains(&heading) {
            shared.push(heading);
        }
        line.push_str(&render::fact(&item, &ctx.marks));
        given.push((item, fact.preference && candidate.status == FactStatus::Active));
    }
    let name = match tier {
        Tier::Short if less => "short",
        Tier::Ref if less => "ref",
        _ => "raw",
    };
    Form { item: given, shared, line, name, cut }
}

/// The value in a form; whether it is longer than any may be, and whether it is less than it would
/// be with more room.
fn value(ctx: &Context<'_>, value: &Value, tier: Tier) -> (Value, bool, bool) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => flat(other),
    };
    let whole = ctx.whole(&text);
    let told = match tier {
        Tier::Raw => whole.text.clone(),
        Tier::Short => ctx.short(&text).text,
        Tier::Ref if text.len() <= REF.len() => text.clone(),
        Tier::Ref => REF.to_owned(),
    };
    let less = told != whole.text;
    let given = if told == text { value.clone() } else { Value::String(told) };
    (given, whole.cut, less)
}

fn packet_fact(ctx: &Context<'_>, fact: &Fact, status: FactStatus, value: Value) -> PacketFact {
    let validity = (fact.valid_from.is_some() || fact.valid_to.is_some()).then(|| Validity {
        valid_from: fact.valid_from.and_then(moment::told),
        valid_to: fact.valid_to.and_then(moment::told).map(Nullable::Value),
    });
    PacketFact {
        fact_id: fact.id.clone(),
        fact_key: fact.key.clone(),
        value,
        status,
        validity,
        confidence: Some(fraction(fact.confidence)),
        sources: ctx.evidences.resolving(fact.evidence.iter().map(|evidence| &evidence.event)),
        scope_level: Some(fact.level),
        notes: None,
    }
}

fn filter(ctx: &Context<'_>, fact: &Fact, text: &str) -> Option<Reason> {
    let now = ctx.now();
    let times = [fact.valid_from, fact.valid_to];
    let told = times.into_iter().flatten().all(|time| moment::told(time).is_some());
    let evidence = fact.evidence.iter().map(|evidence| &evidence.event);
    if ctx.row.facts == Strength::None {
        Some(Reason::Purpose)
    } else if fact.status == FactStatus::Deprecated && !ctx.found.held(fact, now) {
        Some(Reason::Deprecated)
    } else if fact.valid_from.is_some_and(|from| from > now) {
        Some(Reason::NotYetValid)
    } else if fact.valid_to.is_some_and(|to| to < now) {
        Some(Reason::Expired)
    } else if fact.key.is_empty() || !told {
        Some(Reason::Invalid)
    } else if ctx.guard.withholds(text, &evidence, &ctx.evidences)
        || (!ctx.found.is_vouched(fact) && ctx.guard.taints(evidence))
    {
        Some(Reason::Quarantined)
    } else {
        None
    }
}

/// One candidate a key: the nearest level wins, and what is in dispute there goes together.
fn settle_keys<'a>(
    ctx: &Context<'a>,
    ledger: &mut Ledger,
    holding: Vec<Told<'a>>,
) -> Vec<FactCandidate<'a>> {
    let mut keys: BTreeMap<&str, Vec<Told<'a>>> = BTreeMap::new();
    for told in holding {
        keys.entry(&told.fact().key).or_default().push(told);
    }
    let mut list = Vec::new();
    for (key, rows) in keys {
        // Sorted by nearness, so the first is of the nearest level.
        let nearest = rows[0].fact().level;
        let (near, far): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|it| it.fact().level == nearest);
        for told in far {
            let extra = Object::from_iter([("by".to_owned(), near[0].fact().id.as_str().into())]);
            ledger.omit_for("fact", &told.fact().id, Reason::Overridden, extra);
        }
        // What nothing contradicts at this moment is not in dispute now.
        let (disputed, mut active): (Vec<_>, Vec<_>) = near.into_iter().partition(|it| {
            it.fact().status == FactStatus::Disputed && ctx.found.contested(it.fact(), ctx.now())
        });
        active.sort_by(|one, other| {
            let key = |it: &Told<'a>| {
                let Fact { status, recorded_at, id, .. } = it.fact();
                (*status == FactStatus::Deprecated, Reverse(*recorded_at), id)
            };
            key(one).cmp(&key(other))
        });
        for told in active.iter().skip(1) {
            let extra = Object::from_iter([("by".to_owned(), active[0].fact().id.as_str().into())]);
            ledger.omit_for("fact", &told.fact().id, Reason::SameKey, extra);
        }
        active.truncate(1);
        if let Some(first) = active.first() {
            superseded(ctx, ledger, first.fact());
            list.push(candidate(ctx, active, FactStatus::Active));
        }
        if disputed.is_empty() {
            continue;
        }
        ledger.conflicts.push(Conflict {
            kind: "disputed".to_owned(),
            detail: format!("`{key}` has {} values that nobody has settled", disputed.len()),
            fact_ids: Some(disputed.iter().map(|told| told.fact().id.clone()).collect()),
            extra: Object::new(),
        });
        if ctx.is_planner() {
            list.push(candidate(ctx, disputed, FactStatus::Disputed));
        } else {
            for it in &disputed {
                ledger.omit("fact", &it.fact().id, Reason::Disputed);
            }
        }
    }
    list
}

fn candidate<'a>(ctx: &Context<'_>, rows: Vec<Told<'a>>, status: FactStatus) -> FactCandidate<'a> {
    let (mut relevance, mut rules) = (i64::MIN, Vec::new());
    for Told { scored: Scored { row, score }, text } in &rows {
        let target = Target { text, tags: &row.tags, entities: &row.entities, time: None };
        let activated = ctx.cues.activate(target, &ctx.policy.activation);
        relevance = relevance.max(score.total.saturating_add(activated.points));
        for rule in activated.rules {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    let found = rules.iter().fold(String::new(), |told, rule| told + "," + rule);
    let facts: Vec<&Fact> = rows.iter().map(Told::fact).collect();
    let given = if status == FactStatus::Active { "active" } else { "disputed" };
    let rules = facts.iter().map(|fact| {
        let mut evidence = fact.evidence.iter();
        let supported = evidence.any(|piece| ctx.evidences.find(&piece.event).is_some());
        let unsupported = if supported { "" } else { ",unsupported" };
        format!("{given},valid{unsupported}{found}")
    });
    let rules = rules.collect();
    let recorded = facts.iter().map(|fact| fact.recorded_at).max().unwrap_or_default();
    let confidence = facts.iter().map(|fact| fraction(fact.confidence)).fold(0.0, f64::max);
    let text = rows.into_iter().next().map_or_else(String::new, |first| first.text);
    FactCandidate { facts, status, relevance, confidence, recorded, text, rules }
}

/// Names the facts whose place this one took.
fn superseded(ctx: &Context<'_>, ledger: &mut Ledger, fact: &Fact) {
    let mut older: Vec<&str> = ctx
        .found
        .facts
        .iter()
        .map(|scored| &scored.row)
        .filter(|other| other.superseded_by.as_deref() == Some(&fact.id) && other.id != fact.id)
        .map(|other| other.id.as_str())
        .collect();
    older.sort_unstable();
    older.dedup();
    for old in older {
        ledger.conflicts.push(Conflict {
            kind: "superseded".to_owned(),
            detail: format!("`{}` took the place of `{old}`", fact.id),
            fact_ids: Some(vec![old.to_owned(), fact.id.clone()]),
            extra: Object::new(),
        });
    }
}

fn nearness(level: ScopeLevel) -> u8 {
    match level {
        ScopeLevel::User => 0,
        ScopeLevel::Agent => 1,
        ScopeLevel::Tenant => 2,
    }
}
