//! Cases: nothing of one subject is seen, counted or felt by another.

use std::sync::Arc;

use super::sample::{
    NOW, ask, episode, fact, found, insight, keep, keep_fact, on, said, within, working,
};
use crate::Scope;
use crate::record::Claim;
use crate::store::{Limits, Memory};

/// Names that only differ a little, or mean something to somebody.
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

/// Every name as a tenant, as a user and as an agent, besides ordinary ones.
fn scopes() -> Vec<Scope> {
    let scope =
        |tenant: &str, user: &str, agent: &str| Scope::new(tenant, user, agent, "s", "r").unwrap();
    let each =
        |name: &String| [scope(name, "w", "w"), scope("w", name, "w"), scope("w", "w", name)];
    names().iter().flat_map(each).collect()
}

pub async fn nothing_crosses_between_subjects(memory: Arc<dyn Memory>) {
    let scopes = scopes();
    for (number, scope) in scopes.iter().enumerate() {
        let canary = format!("canary{number}x");
        let text = format!("the secret word is {canary}");
        memory.remember(vec![said(scope, "e1", &text)]).await.unwrap();
        keep_fact(&*memory, scope, on(fact("f1", "secret", canary.as_str()), "e1", Some(&canary)))
            .await;
        keep(&*memory, scope, Claim::Episode(Box::new(episode("ep", &text, &["e1"]))))
            .await
            .unwrap();
        keep(&*memory, scope, Claim::Insight(Box::new(insight("i1", "r", &text)))).await.unwrap();
        memory.write_working(scope, 0, working(&text)).await.unwrap();
    }
    let subjects: Vec<_> = scopes.iter().map(Scope::subject).collect();
    for (number, scope) in scopes.iter().enumerate() {
        let request = ask(scope, "secret word canary0x canary7x");
        let found = memory.found(&request, Limits::default()).await.unwrap();
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
    let (alone, beside) = (within("alone", "s", "r"), within("u", "s", "r"));
    let told = ["the red lamp", "a lamp by the river", "the river is red", "nothing at all"];
    for scope in [&alone, &beside] {
        let events = told.iter().enumerate();
        let events = events.map(|(number, text)| said(scope, &format!("e{number}"), text));
        memory.remember(events.collect()).await.unwrap();
    }
    let before = found(&*memory, &beside, "red lamp river").await;
    for user in ["u1", "U", "u "] {
        let foreign = within(user, "s", "r");
        let events = (0..400).map(|number| {
            said(&foreign, &format!("e{number}"), &format!("red lamp lamp {}", number % 17))
        });
        memory.remember(events.collect()).await.unwrap();
    }
    let after = found(&*memory, &beside, "red lamp river").await;
    assert_eq!(before, after);
    let alone = found(&*memory, &alone, "red lamp river").await;
    let scores = |found: &crate::Found| {
        let scores = found.quotes.iter().map(|hit| (hit.row.id.clone(), hit.score.clone()));
        scores.collect::<Vec<_>>()
    };
    assert!(scores(&after).len() >= 3);
    assert_eq!(scores(&after), scores(&alone));
}

pub async fn rows_lie_where_their_scope_says(memory: Arc<dyn Memory>) {
    for scope in scopes().iter().take(9) {
        memory.remember(vec![said(scope, "e1", "words")]).await.unwrap();
        keep_fact(&*memory, scope, on(fact("f1", "k", "v"), "e1", None)).await;
        memory.write_working(scope, 0, working("g")).await.unwrap();
    }
    assert_eq!(memory.misplaced().await.unwrap(), []);
}
