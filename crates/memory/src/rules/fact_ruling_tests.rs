//! One table per rule: the current facts, the claim, and the result for both.

use ClaimAssurance::{Claimed, Confirmed};
use MemoryOrigin::{Imported, Model, System, Tool, User, Web};
use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use serde_json::{Value, json};

use super::fact_ruling::check_fact;
use super::{ClaimAssurance, ClaimOutcome, FactRevision, resolve_fact_claim};
use crate::MemorySubject;
use crate::record::{FactEvidence, MemoryFact, MemoryOrigin};

fn subject() -> MemorySubject {
    MemorySubject { tenant: "t".to_owned(), user: "u".to_owned(), agent: "a".to_owned() }
}

pub(super) fn fact(id: &str, value: Value, origin: MemoryOrigin) -> FactRevision {
    let evidence = vec![FactEvidence { event: format!("said-{id}"), quote: None }];
    let fact = MemoryFact {
        id: id.to_owned(),
        revision: 1,
        key: "home.city".to_owned(),
        value,
        status: FactStatus::Active,
        level: ScopeLevel::User,
        valid_from: None,
        valid_to: None,
        recorded_at: Timestamp(1),
        confidence: 0.5,
        evidence,
        preference: false,
        tags: Vec::new(),
        entities: Vec::new(),
        notes: String::new(),
        superseded_by: None,
    };
    FactRevision { fact, origin, claimed_by: subject(), sources: vec![subject()] }
}

pub(super) fn during(mut one: FactRevision, from: Option<i64>, to: Option<i64>) -> FactRevision {
    one.fact.valid_from = from.map(Timestamp);
    one.fact.valid_to = to.map(Timestamp);
    one
}

pub(super) fn sure(mut one: FactRevision, confidence: f64) -> FactRevision {
    one.fact.confidence = confidence;
    one
}

pub(super) fn paris(origin: MemoryOrigin) -> FactRevision {
    fact("old", json!("Paris"), origin)
}

pub(super) fn rome(origin: MemoryOrigin) -> FactRevision {
    fact("new", json!("Rome"), origin)
}

/// Checks the outcome, then each written revision as `id.revision status ->superseded_by`.
#[track_caller]
fn check(
    claim: FactRevision,
    assurance: ClaimAssurance,
    standing: &[FactRevision],
    expected: &[&str],
) {
    let ruling = resolve_fact_claim(claim, assurance, standing, Timestamp(9));
    let outcome = match &ruling.outcome {
        ClaimOutcome::Added => "kept".to_owned(),
        ClaimOutcome::Supported(id) => format!("supports {id}"),
        ClaimOutcome::Superseded(ids) => format!("supersedes {}", ids.join(",")),
        ClaimOutcome::Outdated(id) => format!("outdated by {id}"),
        ClaimOutcome::Disputed(ids) => format!("disputes {}", ids.join(",")),
    };
    let mut told = vec![outcome];
    for FactRevision { fact, .. } in &ruling.writes {
        assert_eq!(fact.recorded_at, Timestamp(9));
        let status = format!("{:?}", fact.status).to_lowercase();
        let by = fact.superseded_by.as_ref().map(|by| format!(" ->{by}")).unwrap_or_default();
        told.push(format!("{}.{} {status}{by}", fact.id, fact.revision));
    }
    assert_eq!(told, expected);
}

#[test]
fn the_first_of_a_key_is_kept() {
    check(rome(User), Claimed, &[], &["kept", "new.1 active"]);
}

#[test]
fn the_newer_one_takes_the_place() {
    let claim = during(rome(User), Some(5), None);
    let won = ["supersedes old", "old.2 deprecated ->new", "new.1 active"];
    check(claim.clone(), Claimed, &[paris(User)], &won);
    check(claim.clone(), Claimed, &[during(paris(User), Some(4), None)], &won);
    let later = during(paris(User), Some(6), None);
    check(claim, Claimed, &[later], &["outdated by old", "new.1 deprecated ->old"]);
}

#[test]
fn the_more_confident_one_takes_the_place_by_the_margin() {
    let won = ["supersedes old", "old.2 deprecated ->new", "new.1 active"];
    let even = ["disputes old", "old.2 disputed", "new.1 disputed"];
    let lost = ["outdated by old", "new.1 deprecated ->old"];
    check(sure(rome(User), 0.7), Claimed, &[paris(User)], &won);
    check(sure(rome(User), 0.699), Claimed, &[paris(User)], &even);
    check(rome(User), Claimed, &[paris(User)], &even);
    check(sure(rome(User), 0.301), Claimed, &[paris(User)], &even);
    check(sure(rome(User), 0.3), Claimed, &[paris(User)], &lost);
}

#[test]
fn less_trust_never_replaces() {
    let even = ["disputes old", "old.2 disputed", "new.1 disputed"];
    for origin in [Imported, Model, Web, Tool, System] {
        check(during(rome(origin), Some(5), None), Claimed, &[paris(User)], &even);
        check(sure(rome(origin), 1.0), Claimed, &[paris(User)], &even);
    }
    check(during(rome(Model), Some(5), None), Claimed, &[paris(Tool)], &even);
}

#[test]
fn more_trust_decides_where_nothing_else_does() {
    let won = ["supersedes old", "old.2 deprecated ->new", "new.1 active"];
    check(rome(User), Claimed, &[paris(Model)], &won);
    check(rome(Tool), Claimed, &[paris(Imported)], &won);
    // If the older fact is more trusted, the result is a dispute.
    let later = during(paris(Web), Some(5), None);
    check(rome(User), Claimed, &[later], &["disputes old", "old.2 disputed", "new.1 disputed"]);
}

#[test]
fn a_person_confirms_whatever_the_origin() {
    let won = ["supersedes old", "old.2 deprecated ->new", "new.1 active"];
    for origin in [Imported, Model, Web] {
        check(rome(origin), Confirmed, &[during(paris(User), Some(5), None)], &won);
    }
}

#[test]
fn what_is_confirmed_stands_as_what_a_user_said() {
    let ruling = resolve_fact_claim(rome(Model), Confirmed, &[paris(User)], Timestamp(9));
    let kept = ruling.writes.last().unwrap();
    assert_eq!((&*kept.fact.id, kept.origin), ("new", User));
    let newer = during(fact("later", json!("Oslo"), Model), Some(8), None);
    let even = ["disputes new", "new.2 disputed", "later.1 disputed"];
    check(newer.clone(), Claimed, std::slice::from_ref(kept), &even);
    // The same holds if the value was known before.
    let again = fact("again", json!("Rome"), Model);
    let ruling = resolve_fact_claim(again, Confirmed, &[rome(Model)], Timestamp(9));
    let kept = &ruling.writes[0];
    assert_eq!((&*kept.fact.id, kept.fact.revision, kept.origin), ("new", 2, User));
    let even = ["disputes new", "new.3 disputed", "later.1 disputed"];
    check(newer, Claimed, std::slice::from_ref(kept), &even);
}

#[test]
fn the_same_value_adds_evidence_and_no_second_fact() {
    let again = fact("new", json!("Paris"), User);
    check(again.clone(), Claimed, &[paris(User)], &["supports old", "old.2 active"]);
    let ruling = resolve_fact_claim(sure(again, 0.9), Claimed, &[paris(Model)], Timestamp(9));
    let kept = &ruling.writes[0];
    let events: Vec<&str> = kept.fact.evidence.iter().map(|piece| &*piece.event).collect();
    assert_eq!(events, ["said-old", "said-new"]);
    assert_eq!((kept.fact.confidence, kept.origin, kept.sources.len()), (0.9, User, 2));
    // The claim adds nothing new.
    check(paris(User), Claimed, &[paris(User)], &["supports old"]);
}

#[test]
fn times_apart_bother_nobody() {
    let then = during(paris(User), None, Some(4));
    check(
        during(rome(User), Some(5), None),
        Claimed,
        std::slice::from_ref(&then),
        &["kept", "new.1 active"],
    );
    // The end of a period is inclusive.
    let won = ["supersedes old", "old.2 deprecated ->new", "new.1 active"];
    check(during(rome(User), Some(4), None), Claimed, &[then], &won);
}

#[test]
fn a_dispute_ends_when_one_is_confirmed_or_wins_over_all() {
    let mut one = paris(User);
    one.fact.status = FactStatus::Disputed;
    let mut other = fact("other", json!("Oslo"), User);
    other.fact.status = FactStatus::Disputed;
    let both = [one, other];
    let again = fact("new", json!("Paris"), User);
    check(
        again.clone(),
        Confirmed,
        &both,
        &["supports old", "other.2 deprecated ->old", "old.2 active"],
    );
    check(again, Claimed, &both, &["supports old", "old.2 disputed"]);
    check(
        during(rome(User), Some(5), None),
        Claimed,
        &both,
        &[
            "supersedes old,other",
            "old.2 deprecated ->new",
            "other.2 deprecated ->new",
            "new.1 active",
        ],
    );
    // A third claim joins the dispute; the facts that are already disputed stay unchanged.
    check(rome(User), Claimed, &both, &["disputes old,other", "new.1 disputed"]);
}

#[test]
fn a_fact_is_well_formed() {
    let refused = |claim: &FactRevision, assurance| {
        check_fact(claim, assurance).err().map(|error| error.to_string())
    };
    assert_eq!(refused(&rome(User), Claimed), None);
    let mut nameless = rome(User);
    nameless.fact.key = " ".to_owned();
    assert_eq!(
        refused(&nameless, Claimed).unwrap(),
        "`key` must be a text without control characters"
    );
    for confidence in [-0.1, 1.1, f64::NAN] {
        let text = refused(&sure(rome(User), confidence), Claimed);
        assert_eq!(text.unwrap(), "`confidence` must be from 0 to 1");
    }
    let backward = during(rome(User), Some(5), Some(4));
    assert_eq!(refused(&backward, Claimed).unwrap(), "`valid_to` must be at or after `valid_from`");
    assert_eq!(refused(&during(rome(User), Some(5), Some(5)), Claimed), None);
}

#[test]
fn what_others_will_see_needs_trust_or_a_person() {
    for level in [ScopeLevel::Agent, ScopeLevel::Tenant] {
        for (origin, kept) in [
            (User, true),
            (Tool, true),
            (System, true),
            (Web, false),
            (Model, false),
            (Imported, false),
        ] {
            let mut claim = rome(origin);
            claim.fact.level = level;
            assert_eq!(check_fact(&claim, Claimed).is_ok(), kept, "{origin:?}");
            assert_eq!(check_fact(&claim, Confirmed), Ok(()));
        }
    }
}
