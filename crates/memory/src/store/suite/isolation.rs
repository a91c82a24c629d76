//! Cases: no subject can see, count or be affected by rows of another.

use std::sync::Arc;

use super::sample::{
    NOW, build_request, build_scope, build_user_event, episode, fact, insight, record_claim,
    record_fact, retrieve_candidates, with_evidence, working,
};
use crate::MemoryScope;
use crate::record::MemoryClaim;
use crate::store::{Memory, RetrievalLimits};

/// Names that differ only slightly or have a special meaning somewhere.
fn names() -> Vec<String> {
    let names = [
        "u",
        "u1",
        "u11",
        "U",
        "ü",
        "u\u{308}",
        "и",
        "u ",
        " u",
        "%",
        "_",
        "u%",
        "*",
        "u'; DROP TABLE events; --",
        "\" OR 1=1",
        "null",
        "0",
        "-1",
        "😀",
        "😁",
        "u/../u1",
        "\\",
        "[\"u\"]",
    ];
    let long = [format!("{}a", "x".repeat(254)), format!("{}b", "x".repeat(254))];
    names.into_iter().map(str::to_owned).chain(long).collect()
}

/// Returns scopes with every name as tenant, as user and as agent, next to ordinary names.
fn scopes() -> Vec<MemoryScope> {
    let scope = |tenant: &str, user: &str, agent: &str| {
        MemoryScope::new(tenant, user, agent, "s", "r").unwrap()
    };
    let each =
        |name: &String| [scope(name, "w", "w"), scope("w", name, "w"), scope("w", "w", name)];
    names().iter().flat_map(each).collect()
}

pub async fn nothing_crosses_between_subjects(memory: Arc<dyn Memory>) {
    let scopes = scopes();
    for (number, scope) in scopes.iter().enumerate() {
        let canary = format!("canary{number}x");
        let text = format!("the secret word is {canary}");
        memory.append_events(vec![build_user_event(scope, "e1", &text)]).await.unwrap();
        record_fact(
            &*memory,
            scope,
            with_evidence(fact("f1", "secret", canary.as_str()), "e1", Some(&canary)),
        )
        .await;
        record_claim(
            &*memory,
            scope,
            MemoryClaim::Episode(Box::new(episode("ep", &text, &["e1"]))),
        )
        .await
        .unwrap();
        record_claim(&*memory, scope, MemoryClaim::Insight(Box::new(insight("i1", "r", &text))))
            .await
            .unwrap();
        memory.write_working_memory(scope, 0, working(&text)).await.unwrap();
    }
    let subjects: Vec<_> = scopes.iter().map(MemoryScope::subject).collect();
    for (number, scope) in scopes.iter().enumerate() {
        let request = build_request(scope, "secret word canary0x canary7x");
        let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
        let mut told = serde_json::to_string(&found).unwrap();
        told.push_str(
            &serde_json::to_string(&memory.export(&scope.subject()).await.unwrap()).unwrap(),
        );
        let own = format!("canary{number}x");
        assert!(told.contains(&own));
        let others = (0..scopes.len()).map(|other| format!("canary{other}x"));
        let foreign: Vec<String> =
            others.filter(|other| *other != own && told.contains(other)).collect();
        assert!(foreign.is_empty(), "{scope:?} sees {foreign:?}");
        let audit = memory.audit(&subjects[number], NOW).await.unwrap();
        assert_eq!((audit.events, audit.facts, audit.exact_duplicates.count), (1, 1, 0));
    }
}

pub async fn scores_know_nothing_of_others(memory: Arc<dyn Memory>) {
    let (alone, beside) = (build_scope("alone", "s", "r"), build_scope("u", "s", "r"));
    let told = ["the red lamp", "a lamp by the river", "the river is red", "nothing at all"];
    for scope in [&alone, &beside] {
        let events = told.iter().enumerate();
        let events =
            events.map(|(number, text)| build_user_event(scope, &format!("e{number}"), text));
        memory.append_events(events.collect()).await.unwrap();
    }
    let before = retrieve_candidates(&*memory, &beside, "red lamp river").await;
    for user in ["u1", "U", "u "] {
        let foreign = build_scope(user, "s", "r");
        let events = (0..400).map(|number| {
            build_user_event(
                &foreign,
                &format!("e{number}"),
                &format!("red lamp lamp {}", number % 17),
            )
        });
        memory.append_events(events.collect()).await.unwrap();
    }
    let after = retrieve_candidates(&*memory, &beside, "red lamp river").await;
    assert_eq!(before, after);
    let alone = retrieve_candidates(&*memory, &alone, "red lamp river").await;
    let scores = |found: &crate::Candidates| {
        let scores = found.quotes.iter().map(|hit| (hit.row.id.clone(), hit.score.clone()));
        scores.collect::<Vec<_>>()
    };
    assert!(scores(&after).len() >= 3);
    assert_eq!(scores(&after), scores(&alone));
}

pub async fn rows_lie_where_their_scope_says(memory: Arc<dyn Memory>) {
    for scope in scopes().iter().take(9) {
        memory.append_events(vec![build_user_event(scope, "e1", "words")]).await.unwrap();
        record_fact(&*memory, scope, with_evidence(fact("f1", "k", "v"), "e1", None)).await;
        memory.write_working_memory(scope, 0, working("g")).await.unwrap();
    }
    assert_eq!(memory.find_scope_violations().await.unwrap(), []);
}
