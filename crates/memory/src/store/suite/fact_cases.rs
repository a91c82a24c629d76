//! Cases: facts, episodes, procedures and insights follow the rules.

use std::sync::Arc;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::report::FactConflict;

use super::sample::{
    NOW, append_user_event, build_request, build_scope, episode, fact, insight, procedure,
    record_claim, record_fact, retrieve_candidates, scope, with_evidence,
};
use crate::compose::compose_packet;
use crate::policy::MemoryPolicy;
use crate::record::{MemoryClaim, MemoryFact, MemoryOrigin};
use crate::rules::{ClaimAssurance, ClaimOutcome};
use crate::store::{Memory, RetrievalLimits};
use crate::tokens::find_counter;
use crate::{Candidates, MemoryScope, PacketRequest};

fn list_fact_texts(found: &Candidates) -> Vec<String> {
    let mut facts: Vec<String> = found
        .facts
        .iter()
        .map(|one| {
            let status = format!("{:?}", one.row.status).to_lowercase();
            format!("{}.{} {status}", one.row.id, one.row.revision)
        })
        .collect();
    facts.sort();
    facts
}

async fn put_refused_fact(memory: &dyn Memory, fact: MemoryFact, origin: MemoryOrigin) -> String {
    let claim = MemoryClaim::Fact(Box::new(fact));
    let answer = memory.record_claim(&scope(), claim, origin, ClaimAssurance::Claimed, NOW).await;
    answer.unwrap_err().to_string()
}

pub async fn the_newer_fact_takes_the_place(memory: Arc<dyn Memory>) {
    let scope = scope();
    record_fact(&*memory, &scope, fact("f1", "city", "Paris")).await;
    let newer = MemoryFact { valid_from: Some(NOW), ..fact("f2", "city", "Rome") };
    let kept = record_fact(&*memory, &scope, newer.clone()).await;
    assert_eq!(kept.outcome, ClaimOutcome::Superseded(vec!["f1".to_owned()]));
    let seen = retrieve_candidates(&*memory, &scope, "").await;
    assert_eq!(list_fact_texts(&seen), ["f1.2 deprecated", "f2.1 active"]);
    let old = seen.facts.iter().find(|one| one.row.id == "f1").unwrap();
    assert_eq!(old.row.superseded_by.as_deref(), Some("f2"));
    // Repeated claims change nothing: outdated facts stay outdated and active ones stay active.
    let again = record_fact(&*memory, &scope, fact("f1", "city", "Paris")).await;
    assert_eq!(again.outcome, ClaimOutcome::Outdated("f2".to_owned()));
    record_fact(&*memory, &scope, newer).await;
    assert_eq!(
        list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await),
        ["f1.2 deprecated", "f2.1 active"]
    );
    let other = put_refused_fact(&*memory, fact("f2", "city", "Oslo"), MemoryOrigin::User).await;
    assert_eq!(other, "fact `f2` already exists with different content");
}

/// Returns what a packet says about a key at a timestamp.
async fn list_packet_facts(memory: &dyn Memory, key: &str, at: Timestamp) -> Vec<String> {
    let request = PacketRequest { as_of: at, ..build_request(&scope(), "") };
    let policy = MemoryPolicy::load_shipped("default").unwrap();
    let found =
        memory.retrieve_candidates(&request, RetrievalLimits::from_policy(&policy)).await.unwrap();
    let packet =
        compose_packet(&request, &policy, &found, &*find_counter("chars/4").unwrap()).unwrap();
    // Disputed facts are conflicts of the packet, not facts.
    let disputed = packet.explain.conflicts.iter().flat_map(FactConflict::list_shown_facts);
    let facts = packet.long_term.facts.iter().cloned().map(|fact| (fact, ""));
    let facts = facts.chain(disputed.map(|fact| (fact, "disputed: ")));
    let facts = facts.filter(|(fact, _)| fact.fact_key == key);
    facts.map(|(fact, mark)| format!("{mark}{}", fact.value.as_str().unwrap())).collect()
}

fn from(from: Timestamp, fact: MemoryFact) -> MemoryFact {
    MemoryFact { valid_from: Some(from), ..fact }
}

pub async fn a_fact_that_begins_later_leaves_the_present_alone(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    record_fact(&*memory, &scope, with_evidence(fact("f1", "city", "Paris"), "e1", None)).await;
    let march = NOW.plus_millis(1_000);
    let kept = record_fact(&*memory, &scope, from(march, fact("f2", "city", "Rome"))).await;
    assert_eq!(kept.outcome, ClaimOutcome::Superseded(vec!["f1".to_owned()]));
    assert_eq!(
        list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await),
        ["f1.2 active", "f2.1 active"]
    );
    for (at, city) in [(NOW, "Paris"), (march.plus_millis(-1), "Paris"), (march, "Rome")] {
        assert_eq!(list_packet_facts(&*memory, "city", at).await, [city], "{at}");
    }
    // A fact that has already begun leaves the past to the older one.
    record_fact(&*memory, &scope, from(NOW, fact("f3", "city", "Oslo"))).await;
    let facts = list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await);
    assert_eq!(facts, ["f1.3 deprecated", "f2.1 active", "f3.1 active"]);
    for (at, city) in [(NOW.plus_millis(-1), "Paris"), (NOW, "Oslo"), (march, "Rome")] {
        assert_eq!(list_packet_facts(&*memory, "city", at).await, [city], "{at}");
    }
    let before = PacketRequest { as_of: NOW.plus_millis(-1), ..build_request(&scope, "") };
    let before = memory.retrieve_candidates(&before, RetrievalLimits::default()).await.unwrap();
    assert!(before.evidence.contains_key("e1"), "it is cited for the time in which it held");
}

pub async fn what_holds_for_a_while_lets_the_older_value_go_on(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    record_fact(&*memory, &scope, with_evidence(fact("f1", "city", "Paris"), "e1", None)).await;
    let week = |id: &str, city: &str, begin: i64| {
        let end = Some(NOW.plus_millis(begin + 7));
        from(NOW.plus_millis(begin), MemoryFact { valid_to: end, ..fact(id, "city", city) })
    };
    record_fact(&*memory, &scope, week("f2", "Rome", 10)).await;
    record_fact(&*memory, &scope, week("f3", "Oslo", 30)).await;
    let seen = retrieve_candidates(&*memory, &scope, "").await;
    let four = ["f1.2 active", "f1~2.2 active", "f1~3.1 active", "f2.1 active", "f3.1 active"];
    assert_eq!(list_fact_texts(&seen), four);
    let part = seen.facts.iter().find(|one| one.row.id == "f1~3").unwrap();
    assert_eq!(part.row.evidence[0].event, "e1");
    for (after, city) in [
        (0, "Paris"),
        (9, "Paris"),
        (10, "Rome"),
        (17, "Rome"),
        (18, "Paris"),
        (29, "Paris"),
        (30, "Oslo"),
        (37, "Oslo"),
        (38, "Paris"),
    ] {
        assert_eq!(
            list_packet_facts(&*memory, "city", NOW.plus_millis(after)).await,
            [city],
            "after {after}"
        );
    }
}

pub async fn a_dispute_is_of_the_time_in_which_both_hold(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "Perhaps in Rome.").await;
    record_fact(&*memory, &scope, fact("f1", "city", "Paris")).await;
    let later =
        with_evidence(from(NOW.plus_millis(10), fact("f2", "city", "Rome")), "e1", Some("in Rome"));
    let claim = MemoryClaim::Fact(Box::new(later));
    let kept = memory
        .record_claim(&scope, claim, MemoryOrigin::Model, ClaimAssurance::Claimed, NOW)
        .await
        .unwrap();
    assert_eq!(kept.outcome, ClaimOutcome::Disputed(vec!["f1".to_owned()]));
    assert_eq!(list_packet_facts(&*memory, "city", NOW.plus_millis(9)).await, ["Paris"]);
    assert_eq!(
        list_packet_facts(&*memory, "city", NOW.plus_millis(10)).await,
        ["disputed: Paris", "disputed: Rome"]
    );
}

pub async fn what_was_so_before_can_be_so_again(memory: Arc<dyn Memory>) {
    let scope = scope();
    let at = |after: i64, city: &str| from(NOW.plus_millis(after), fact(city, "city", city));
    for (after, city) in [(0, "Paris"), (1, "Rome"), (2, "Paris")] {
        let claim = MemoryClaim::Fact(Box::new(at(after, city)));
        let now = NOW.plus_millis(after);
        memory
            .record_claim(&scope, claim, MemoryOrigin::User, ClaimAssurance::Claimed, now)
            .await
            .unwrap();
    }
    for (after, city) in [(0, "Paris"), (1, "Rome"), (2, "Paris")] {
        assert_eq!(
            list_packet_facts(&*memory, "city", NOW.plus_millis(after)).await,
            [city],
            "after {after}"
        );
    }
    let cities = ["Paris.2 deprecated", "Paris~2.1 active", "Rome.2 deprecated"];
    assert_eq!(list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await), cities);
    // Without a period the claim is still outdated, unless a person confirms it.
    let rome = || MemoryClaim::Fact(Box::new(fact("Rome", "city", "Rome")));
    let now = NOW.plus_millis(3);
    let kept = memory
        .record_claim(&scope, rome(), MemoryOrigin::User, ClaimAssurance::Claimed, now)
        .await
        .unwrap();
    assert_eq!(kept.outcome, ClaimOutcome::Outdated("Paris~2".to_owned()));
    assert_eq!(list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await), cities);
    memory
        .record_claim(&scope, rome(), MemoryOrigin::User, ClaimAssurance::Confirmed, now)
        .await
        .unwrap();
    assert_eq!(list_packet_facts(&*memory, "city", now).await, ["Rome"]);
}

pub async fn a_fact_is_ended_by_saying_so(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I was a baker.").await;
    record_fact(&*memory, &scope, fact("f1", "job", "baker")).await;
    let end =
        |id: &str| MemoryFact { valid_to: Some(NOW.plus_millis(5)), ..fact(id, "job", "baker") };
    let less = MemoryClaim::Fact(Box::new(with_evidence(end("f2"), "e1", Some("baker"))));
    memory
        .record_claim(&scope, less, MemoryOrigin::Model, ClaimAssurance::Claimed, NOW)
        .await
        .unwrap();
    assert_eq!(
        list_packet_facts(&*memory, "job", NOW.plus_millis(6)).await,
        ["baker"],
        "a model ends nothing"
    );
    let kept = record_fact(&*memory, &scope, end("f3")).await;
    assert_eq!((kept.outcome, kept.revision), (ClaimOutcome::Supported("f1".to_owned()), 3));
    assert_eq!(list_packet_facts(&*memory, "job", NOW.plus_millis(5)).await, ["baker"]);
    assert!(list_packet_facts(&*memory, "job", NOW.plus_millis(6)).await.is_empty());
    // A repeated claim without a period does not change the end.
    record_fact(&*memory, &scope, fact("f1", "job", "baker")).await;
    assert_eq!(list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await), ["f1.3 active"]);
}

pub async fn what_a_person_confirmed_stands_as_what_a_user_said(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "Rome. Then Oslo.").await;
    let rome =
        MemoryClaim::Fact(Box::new(with_evidence(fact("f1", "city", "Rome"), "e1", Some("Rome."))));
    memory
        .record_claim(&scope, rome, MemoryOrigin::Model, ClaimAssurance::Confirmed, NOW)
        .await
        .unwrap();
    let oslo = with_evidence(from(NOW, fact("f2", "city", "Oslo")), "e1", Some("Oslo"));
    let oslo = MemoryClaim::Fact(Box::new(oslo));
    let kept = memory
        .record_claim(&scope, oslo, MemoryOrigin::Model, ClaimAssurance::Claimed, NOW)
        .await
        .unwrap();
    assert_eq!(kept.outcome, ClaimOutcome::Disputed(vec!["f1".to_owned()]));
}

pub async fn one_id_at_two_times_is_two_facts(memory: Arc<dyn Memory>) {
    let scope = scope();
    let until = MemoryFact { valid_to: Some(NOW.plus_millis(4)), ..fact("f1", "city", "Paris") };
    record_fact(&*memory, &scope, until).await;
    let again = from(NOW.plus_millis(6), fact("f1", "city", "Paris"));
    let kept = record_fact(&*memory, &scope, again.clone()).await;
    assert_eq!((&*kept.id, kept.revision, kept.outcome), ("f1~2", 1, ClaimOutcome::Added));
    let kept = record_fact(&*memory, &scope, again).await;
    assert_eq!(kept.outcome, ClaimOutcome::Supported("f1~2".to_owned()));
    assert_eq!(
        list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await),
        ["f1.1 active", "f1~2.1 active"]
    );
    for (after, known) in [(4, true), (5, false), (6, true)] {
        assert_eq!(
            list_packet_facts(&*memory, "city", NOW.plus_millis(after)).await.len(),
            usize::from(known)
        );
    }
}

pub async fn an_unresolved_contradiction_is_disputed_until_confirmed(memory: Arc<dyn Memory>) {
    let scope = scope();
    record_fact(&*memory, &scope, fact("f1", "city", "Paris")).await;
    let kept = record_fact(&*memory, &scope, fact("f2", "city", "Rome")).await;
    assert_eq!(kept.outcome, ClaimOutcome::Disputed(vec!["f1".to_owned()]));
    assert_eq!(
        list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await),
        ["f1.2 disputed", "f2.1 disputed"]
    );
    let claim = MemoryClaim::Fact(Box::new(fact("f3", "city", "Rome")));
    let confirmed = ClaimAssurance::Confirmed;
    let kept =
        memory.record_claim(&scope, claim, MemoryOrigin::User, confirmed, NOW).await.unwrap();
    assert_eq!((kept.id.as_str(), kept.revision), ("f2", 2));
    assert_eq!(
        list_fact_texts(&retrieve_candidates(&*memory, &scope, "").await),
        ["f1.3 deprecated", "f2.2 active"]
    );
}

pub async fn the_same_fact_again_adds_evidence(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    append_user_event(&*memory, &scope, "e2", "Paris is where I live.").await;
    let first = with_evidence(fact("f1", "city", "Paris"), "e1", Some("in Paris"));
    record_fact(&*memory, &scope, first.clone()).await;
    let second = with_evidence(fact("f2", "city", "Paris"), "e2", None);
    let kept = record_fact(&*memory, &scope, second).await;
    assert_eq!(kept.outcome, ClaimOutcome::Supported("f1".to_owned()));
    assert_eq!((kept.id.as_str(), kept.revision), ("f1", 2));
    let kept = record_fact(&*memory, &scope, first).await;
    assert_eq!(kept.revision, 2, "nothing new was said");
    let seen = retrieve_candidates(&*memory, &scope, "").await;
    assert_eq!(list_fact_texts(&seen), ["f1.2 active"]);
    let events: Vec<&str> = seen.facts[0].row.evidence.iter().map(|one| &*one.event).collect();
    assert_eq!(events, ["e1", "e2"]);
    assert_eq!(seen.facts[0].row.evidence[0].quote.as_deref(), Some("in Paris"));
}

pub async fn a_claim_must_show_the_words_it_rests_on(memory: Arc<dyn Memory>) {
    append_user_event(&*memory, &scope(), "e1", "I live in Paris.").await;
    append_user_event(&*memory, &build_scope("u2", "s1", "r1"), "theirs", "I live in Oslo.").await;
    let city = || fact("f1", "city", "Rome");
    let cases = [
        (
            with_evidence(city(), "e1", Some("I live in Rome")),
            "its quote does not occur exactly in event `e1`",
        ),
        (with_evidence(city(), "e9", None), "it cites event `e9`, which does not exist"),
        (with_evidence(city(), "theirs", None), "it cites event `theirs`, which does not exist"),
        (
            with_evidence(city(), "e1", None),
            "a claim of origin `model` must quote the event that supports it",
        ),
    ];
    for (claim, reason) in cases {
        assert_eq!(put_refused_fact(&*memory, claim, MemoryOrigin::Model).await, reason);
    }
    assert!(retrieve_candidates(&*memory, &scope(), "").await.facts.is_empty());
}

pub async fn levels_are_held_apart_and_seen_together(memory: Arc<dyn Memory>) {
    let at = |level, value: &str| MemoryFact { level, ..fact("f", "tone", value) };
    let other_agent = MemoryScope::new("t", "u", "b", "s", "r").unwrap();
    let other_tenant = MemoryScope::new("t2", "u", "a", "s", "r").unwrap();
    record_fact(&*memory, &scope(), at(ScopeLevel::User, "dry")).await;
    record_fact(&*memory, &scope(), at(ScopeLevel::Agent, "warm")).await;
    record_fact(&*memory, &scope(), at(ScopeLevel::Tenant, "formal")).await;
    let seen = async |scope: &MemoryScope| {
        let found = retrieve_candidates(&*memory, scope, "").await;
        let values = found.facts.iter().map(|one| one.row.value.as_str().unwrap().to_owned());
        values.collect::<Vec<_>>()
    };
    assert_eq!(seen(&scope()).await, ["dry", "warm", "formal"]);
    assert_eq!(seen(&build_scope("u2", "s", "r")).await, ["warm", "formal"]);
    assert_eq!(seen(&other_agent).await, ["formal"]);
    assert!(seen(&other_tenant).await.is_empty());
    let mut shared = at(ScopeLevel::Tenant, "loud");
    "f2".clone_into(&mut shared.id);
    append_user_event(&*memory, &scope(), "e1", "Be loud!").await;
    let reason =
        put_refused_fact(&*memory, with_evidence(shared, "e1", Some("loud")), MemoryOrigin::Web)
            .await;
    assert_eq!(
        reason,
        "a claim of origin `web` is stored for an agent or a tenant only if it is confirmed"
    );
}

pub async fn others_do_not_see_the_words_behind_a_shared_fact(memory: Arc<dyn Memory>) {
    let (one, other) = (scope(), build_scope("u2", "s1", "r1"));
    append_user_event(&*memory, &one, "e1", "We close at six, says Ann.").await;
    append_user_event(&*memory, &other, "e1", "Six is when we close.").await;
    let closing = |quote| {
        let fact = with_evidence(fact("f1", "closing", 18), "e1", Some(quote));
        MemoryFact { level: ScopeLevel::Tenant, ..fact }
    };
    record_fact(&*memory, &one, closing("We close at six")).await;
    record_fact(&*memory, &other, closing("Six is when")).await;
    for (scope, quote) in [(&one, "We close at six"), (&other, "Six is when")] {
        let seen = retrieve_candidates(&*memory, scope, "closing").await;
        assert_eq!(seen.facts.len(), 1);
        let quotes: Vec<_> =
            seen.facts[0].row.evidence.iter().map(|one| one.quote.clone()).collect();
        assert_eq!(quotes, [Some(quote.to_owned())]);
    }
    let third = retrieve_candidates(&*memory, &build_scope("u3", "s", "r"), "closing").await;
    assert!(third.facts[0].row.evidence.is_empty() && third.evidence.is_empty());
}

pub async fn rows_change_by_revision(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "words").await;
    let mut one = episode("ep", "A long tale.", &["e1"]);
    let keep_episode = async |row: &crate::record::MemoryEpisode| {
        record_claim(&*memory, &scope, MemoryClaim::Episode(Box::new(row.clone())))
            .await
            .unwrap()
            .revision
    };
    assert_eq!(keep_episode(&one).await, 1);
    assert_eq!(keep_episode(&one).await, 1);
    "A tale.".clone_into(&mut one.summary);
    assert_eq!(keep_episode(&one).await, 2);
    let seen = retrieve_candidates(&*memory, &scope, "tale").await;
    assert_eq!(seen.episodes.len(), 1);
    assert_eq!((seen.episodes[0].row.revision, &*seen.episodes[0].row.summary), (2, "A tale."));
    one.sources = vec!["e2".to_owned()];
    let refused =
        record_claim(&*memory, &scope, MemoryClaim::Episode(Box::new(one))).await.unwrap_err();
    assert_eq!(refused.to_string(), "it cites event `e2`, which does not exist");
    let other_run = MemoryClaim::Insight(Box::new(insight("i", "r2", "perhaps")));
    let refused = record_claim(&*memory, &scope, other_run).await.unwrap_err();
    assert_eq!(refused.to_string(), "`run` must be the run of the scope");
}

pub async fn an_insight_is_learned_when_it_is_validated(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "The build fails on Mondays.").await;
    let mut guess = insight("i1", "r1", "Mondays are bad.");
    guess.sources = vec!["e1".to_owned()];
    record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(guess.clone()))).await.unwrap();
    let learned = || MemoryClaim::Fact(Box::new(fact("f1", "bad.day", "Monday")));
    let learn = async |claim| {
        memory.learn_from_insight(&scope, "i1", claim, MemoryOrigin::System, NOW).await
    };
    let refused = learn(learned()).await.unwrap_err();
    assert_eq!(refused.to_string(), "insight `i1` is unvalidated, expected validated");
    guess.validation = InsightValidationState::Validated;
    let kept = record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    assert_eq!(kept.revision, 2);
    learn(learned()).await.unwrap();
    learn(MemoryClaim::Procedure(Box::new(procedure("p1", "release", "Wait for Tuesday."))))
        .await
        .unwrap();
    let seen = retrieve_candidates(&*memory, &scope, "").await;
    assert_eq!(seen.facts[0].row.evidence[0].event, "e1");
    assert_eq!(seen.facts[0].row.status, FactStatus::Active);
    let missing = memory
        .learn_from_insight(&scope, "i9", learned(), MemoryOrigin::System, NOW)
        .await
        .unwrap_err();
    assert_eq!(missing.to_string(), "no insight `i9` in this scope");
}
