//! Cases: what is over goes, and junk is counted.

use std::sync::Arc;

use countersign_contracts::memory::insight::ValidationState;

use super::builds::build;
use super::sample::{NOW, ask, fact, ids, insight, keep, keep_fact, on, said, scope, tell, within};
use crate::record::{Claim, Expiry, Fact, Insight};
use crate::store::{Limits, Memory, MemoryError, Sweep, Swept};

pub async fn what_is_over_is_swept_with_its_index(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), within("u2", "s1", "r1"));
    let passing = |scope, number: i64| {
        let mut event = said(scope, &format!("p{number}"), &format!("herons pass {number}"));
        event.expires = Some(Expiry::At(NOW.after(number)));
        event
    };
    // The stay of the others is scored as if those that went had never been.
    memory.remember((0..200).map(|number| passing(&scope, number)).collect()).await.unwrap();
    for whose in [&scope, &other] {
        tell(&*memory, whose, "e1", "herons stay by the lake").await;
        tell(&*memory, whose, "e2", "the lake is cold").await;
    }
    let mut guess = insight("i1", "r1", "Herons leave.");
    (guess.expires, guess.validation) = (Expiry::At(NOW), ValidationState::Validated);
    keep(&*memory, &scope, Claim::Insight(Box::new(guess))).await.unwrap();
    let sweep = async |after| {
        let (scope, now) = (&scope, NOW.after(after));
        let told = memory.would_sweep(scope, Sweep::default(), now).await.unwrap();
        let swept = memory.sweep(scope, Sweep::default(), now).await.unwrap();
        assert_eq!(swept, told, "what was told is what was done");
        swept
    };
    assert_eq!(sweep(0).await, Swept::default());
    let elsewhere = memory.sweep(&other, Sweep::default(), NOW.after(1000)).await.unwrap();
    assert_eq!(elsewhere, Swept::default(), "what is another's stays");
    let swept = sweep(150).await;
    assert_eq!((swept.events, swept.insights), (150, 1));
    let swept = sweep(1000).await;
    assert_eq!((swept.events, swept.insights), (50, 0));
    let hits = async |whose| {
        let hits = memory.search(&ask(whose, "herons lake"), 10).await.unwrap();
        hits.into_iter().map(|hit| (hit.row.id, hit.score)).collect::<Vec<_>>()
    };
    assert_eq!(hits(&scope).await, hits(&other).await);
    // No place is given twice.
    let next = memory.remember(vec![said(&scope, "e3", "x")]).await.unwrap();
    assert_eq!(next[0].place.position, 203);
}

pub async fn a_run_that_ends_takes_its_own(memory: Arc<dyn Memory>) {
    let scope = scope();
    let mut note = said(&scope, "e1", "a passing note about herons");
    note.expires = Some(Expiry::RunEnd);
    memory.remember(vec![note]).await.unwrap();
    for (id, validation) in [("i1", ValidationState::Validated), ("i2", ValidationState::Rejected)]
    {
        let guess = Insight { validation, ..insight(id, "r1", "x") };
        keep(&*memory, &scope, Claim::Insight(Box::new(guess))).await.unwrap();
    }
    tell(&*memory, &scope, "e2", "herons remain").await;
    let ended = Sweep { run_ended: true, used: false };
    let elsewhere = memory.sweep(&within("u", "s1", "r2"), ended, NOW).await.unwrap();
    assert_eq!(elsewhere, Swept::default());
    let under_way = memory.sweep(&scope, Sweep::default(), NOW.after(1000)).await.unwrap();
    assert_eq!(under_way, Swept::default(), "a run that goes on keeps its own");
    let swept = memory.sweep(&scope, ended, NOW).await.unwrap();
    // The words of what was not validated are still to be kept from responders.
    assert_eq!(swept, Swept { events: 1, insights: 1, spared: 1 });
    let all = Sweep { run_ended: true, used: true };
    let swept = memory.sweep(&scope, all, NOW).await.unwrap();
    assert_eq!(swept, Swept { events: 0, insights: 1, spared: 0 });
    assert_eq!(ids(&*memory, &scope, "herons").await, ["e2"]);
}

pub async fn what_a_build_used_is_swept_only_when_that_is_said(memory: Arc<dyn Memory>) {
    let scope = scope();
    let passing = |id: &str, expires| {
        let mut event = said(&scope, id, "herons pass");
        event.expires = Some(expires);
        event
    };
    let dated = Expiry::At(NOW);
    memory.remember(vec![passing("e1", dated), passing("e2", Expiry::RunEnd)]).await.unwrap();
    let guess = |id: &str| {
        let validation = ValidationState::Validated;
        let guess = Insight { validation, ..insight(id, "r1", "Herons come back.") };
        Claim::Insight(Box::new(guess))
    };
    keep(&*memory, &scope, guess("i1")).await.unwrap();
    let request = ask(&scope, "herons");
    let then = memory.found(&request, Limits::default()).await.unwrap();
    memory.keep_build(build("b1", &request, &then)).await.unwrap();
    memory.remember(vec![passing("e3", dated), passing("e4", Expiry::RunEnd)]).await.unwrap();
    keep(&*memory, &scope, guess("i2")).await.unwrap();

    let ended = Sweep { run_ended: true, used: false };
    let now = NOW.after(1);
    let swept = memory.sweep(&scope, ended, now).await.unwrap();
    assert_eq!(swept, Swept { events: 2, insights: 1, spared: 3 });
    let again = memory.sweep(&scope, ended, now).await.unwrap();
    assert_eq!(again, Swept { events: 0, insights: 0, spared: 3 });
    let (_, found) = memory.build(&scope.subject(), "b1").await.unwrap().unwrap();
    assert_eq!(found, then, "it is composed as before");
    let mut elsewhere = ask(&within("u", "s1", "r2"), "herons");
    elsewhere.as_of = now;
    let seen = memory.found(&elsewhere, Limits::default()).await.unwrap();
    assert!(seen.quotes.is_empty() && seen.window.is_empty() && seen.insights.is_empty());

    let all = Sweep { run_ended: true, used: true };
    let swept = memory.sweep(&scope, all, now).await.unwrap();
    assert_eq!(swept, Swept { events: 2, insights: 1, spared: 0 });
    let gone = memory.build(&scope.subject(), "b1").await.unwrap_err();
    assert!(matches!(gone, MemoryError::Gone { .. }), "{gone}");
}

pub async fn junk_is_counted_with_examples(memory: Arc<dyn Memory>) {
    let scope = scope();
    tell(&*memory, &scope, "e1", "The price is twelve.").await;
    tell(&*memory, &scope, "e2", "The price is twelve.").await;
    tell(&*memory, &scope, "e3", "Twelve is the price!").await;
    let mut over = said(&scope, "e4", "an offer");
    over.expires = Some(Expiry::At(NOW));
    memory.remember(vec![over]).await.unwrap();
    keep_fact(&*memory, &scope, on(fact("f1", "price", 12), "e1", None)).await;
    keep_fact(&*memory, &scope, fact("f2", "city", "Paris")).await;
    keep_fact(&*memory, &scope, fact("f3", "city", "Rome")).await;
    let past = Fact { valid_to: Some(NOW), ..fact("f4", "job", "baker") };
    keep_fact(&*memory, &scope, past).await;
    let audit = memory.audit(&scope.subject(), NOW.after(1)).await.unwrap();
    assert_eq!((audit.events, audit.facts), (4, 4));
    assert_eq!(audit.exact_duplicates.examples, ["event e1 = event e2"]);
    assert_eq!(audit.near_duplicates.examples, ["event e1 = event e3"]);
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(audit.contradicted.examples), ["fact f2", "fact f3"]);
    assert_eq!(sorted(audit.unsupported.examples), ["fact f2", "fact f3", "fact f4"]);
    assert_eq!(audit.expired.examples, ["event e4", "fact f4"]);
    assert_eq!(audit.never_selected.count, 4);
    let other = memory.audit(&within("u2", "s", "r").subject(), NOW).await.unwrap();
    assert_eq!((other.events, other.never_selected.count), (0, 0));
}
