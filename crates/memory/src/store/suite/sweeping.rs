//! Cases: expired rows are removed, and the audit counts low-value rows.

use std::sync::Arc;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;

use super::build_cases::build;
use super::sample::{
    NOW, append_user_event, build_request, build_scope, build_user_event, fact, insight,
    record_claim, record_fact, scope, search_ids, with_evidence,
};
use crate::record::{MemoryClaim, MemoryExpiry, MemoryFact, MemoryInsight};
use crate::store::{
    Memory, MemoryError, MemoryExportRow, RetrievalLimits, SweepOptions, SweepReport,
};

pub async fn what_is_over_is_swept_with_its_index(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), build_scope("u2", "s1", "r1"));
    let passing = |scope, number: i64| {
        let mut event =
            build_user_event(scope, &format!("p{number}"), &format!("herons pass {number}"));
        event.expires = Some(MemoryExpiry::Until(NOW.plus_millis(number)));
        event
    };
    // The remaining events are scored as if the removed ones had never existed.
    memory.append_events((0..200).map(|number| passing(&scope, number)).collect()).await.unwrap();
    for whose in [&scope, &other] {
        append_user_event(&*memory, whose, "e1", "herons stay by the lake").await;
        append_user_event(&*memory, whose, "e2", "the lake is cold").await;
    }
    let mut guess = insight("i1", "r1", "Herons leave.");
    (guess.expires, guess.validation) =
        (MemoryExpiry::Until(NOW), InsightValidationState::Validated);
    record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    let sweep = async |after| {
        let (scope, now) = (&scope, NOW.plus_millis(after));
        let told = memory.preview_sweep(scope, SweepOptions::default(), now).await.unwrap();
        let swept = memory.sweep_expired(scope, SweepOptions::default(), now).await.unwrap();
        assert_eq!(swept, told, "what was told is what was done");
        swept
    };
    assert_eq!(sweep(0).await, SweepReport::default());
    let elsewhere =
        memory.sweep_expired(&other, SweepOptions::default(), NOW.plus_millis(1000)).await.unwrap();
    assert_eq!(elsewhere, SweepReport::default(), "what is another's stays");
    let swept = sweep(150).await;
    assert_eq!((swept.events, swept.insights), (150, 1));
    let swept = sweep(1000).await;
    assert_eq!((swept.events, swept.insights), (50, 0));
    let hits = async |whose| {
        let hits = memory.search_events(&build_request(whose, "herons lake"), 10).await.unwrap();
        hits.into_iter().map(|hit| (hit.row.id, hit.score)).collect::<Vec<_>>()
    };
    assert_eq!(hits(&scope).await, hits(&other).await);
    // A location is never assigned twice.
    let next = memory.append_events(vec![build_user_event(&scope, "e3", "x")]).await.unwrap();
    assert_eq!(next[0].location.position, 203);
}

pub async fn a_run_that_ends_takes_its_own(memory: Arc<dyn Memory>) {
    let scope = scope();
    let mut note = build_user_event(&scope, "e1", "a passing note about herons");
    note.expires = Some(MemoryExpiry::RunEnd);
    memory.append_events(vec![note]).await.unwrap();
    for (id, validation) in
        [("i1", InsightValidationState::Validated), ("i2", InsightValidationState::Rejected)]
    {
        let guess = MemoryInsight { validation, ..insight(id, "r1", "x") };
        record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    }
    append_user_event(&*memory, &scope, "e2", "herons remain").await;
    let ended = SweepOptions { run_ended: true, include_used: false };
    let elsewhere = memory.sweep_expired(&build_scope("u", "s1", "r2"), ended, NOW).await.unwrap();
    assert_eq!(elsewhere, SweepReport::default());
    let under_way =
        memory.sweep_expired(&scope, SweepOptions::default(), NOW.plus_millis(1000)).await.unwrap();
    assert_eq!(under_way, SweepReport::default(), "a run that goes on keeps its own");
    let swept = memory.sweep_expired(&scope, ended, NOW).await.unwrap();
    // The words of the unvalidated insight must still be withheld from responders.
    assert_eq!(swept, SweepReport { events: 1, insights: 1, retained: 1 });
    let all = SweepOptions { run_ended: true, include_used: true };
    let swept = memory.sweep_expired(&scope, all, NOW).await.unwrap();
    assert_eq!(swept, SweepReport { events: 0, insights: 1, retained: 0 });
    assert_eq!(search_ids(&*memory, &scope, "herons").await, ["e2"]);
}

pub async fn an_insight_ends_as_its_latest_revision_says(memory: Arc<dyn Memory>) {
    let (scope, later) = (scope(), NOW.plus_millis(1000));
    let record = async |id: &str, expires| {
        let validation = InsightValidationState::Validated;
        let guess = MemoryInsight { validation, expires, ..insight(id, "r1", "Herons leave.") };
        record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    };
    // A timestamp before 1970 is one like any other.
    let (past, future) = (Timestamp(-1), later.plus_millis(1));
    for (id, first, last) in [
        ("i1", MemoryExpiry::RunEnd, MemoryExpiry::Until(past)),
        ("i2", MemoryExpiry::RunEnd, MemoryExpiry::Until(future)),
        ("i3", MemoryExpiry::Until(past), MemoryExpiry::RunEnd),
        ("i4", MemoryExpiry::Until(past), MemoryExpiry::Until(future)),
    ] {
        record(id, first).await;
        record(id, last).await;
    }
    let sweep = async |run: &str, run_ended| {
        let options = SweepOptions { run_ended, include_used: false };
        let scope = build_scope("u", "s1", run);
        memory.sweep_expired(&scope, options, later).await.unwrap().insights
    };
    assert_eq!(sweep("r2", true).await, 1, "only what is past its timestamp ends with another run");
    assert_eq!(sweep("r1", false).await, 0);
    assert_eq!(sweep("r1", true).await, 1);
    let lines = memory.export(&scope.subject()).await.unwrap();
    let left = lines.iter().filter_map(|line| match &line.row {
        MemoryExportRow::Insight(insight) => Some(&*insight.id),
        _ => None,
    });
    let left: std::collections::BTreeSet<&str> = left.collect();
    assert_eq!(left.into_iter().collect::<Vec<_>>(), ["i2", "i4"]);
}

pub async fn what_a_build_used_is_swept_only_when_that_is_said(memory: Arc<dyn Memory>) {
    let scope = scope();
    let passing = |id: &str, expires| {
        let mut event = build_user_event(&scope, id, "herons pass");
        event.expires = Some(expires);
        event
    };
    let dated = MemoryExpiry::Until(NOW);
    memory
        .append_events(vec![passing("e1", dated), passing("e2", MemoryExpiry::RunEnd)])
        .await
        .unwrap();
    let guess = |id: &str| {
        let validation = InsightValidationState::Validated;
        let guess = MemoryInsight { validation, ..insight(id, "r1", "Herons come back.") };
        MemoryClaim::Insight(Box::new(guess))
    };
    record_claim(&*memory, &scope, guess("i1")).await.unwrap();
    let request = build_request(&scope, "herons");
    let then = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    memory.store_build(build("b1", &request, &then)).await.unwrap();
    memory
        .append_events(vec![passing("e3", dated), passing("e4", MemoryExpiry::RunEnd)])
        .await
        .unwrap();
    record_claim(&*memory, &scope, guess("i2")).await.unwrap();

    let ended = SweepOptions { run_ended: true, include_used: false };
    let now = NOW.plus_millis(1);
    let swept = memory.sweep_expired(&scope, ended, now).await.unwrap();
    assert_eq!(swept, SweepReport { events: 2, insights: 1, retained: 3 });
    let again = memory.sweep_expired(&scope, ended, now).await.unwrap();
    assert_eq!(again, SweepReport { events: 0, insights: 0, retained: 3 });
    let (_, found) = memory.load_build(&scope.subject(), "b1").await.unwrap().unwrap();
    assert_eq!(found, then, "it is composed as before");
    let mut elsewhere = build_request(&build_scope("u", "s1", "r2"), "herons");
    elsewhere.as_of = now;
    let seen = memory.retrieve_candidates(&elsewhere, RetrievalLimits::default()).await.unwrap();
    assert!(seen.quotes.is_empty() && seen.window.is_empty() && seen.insights.is_empty());

    let all = SweepOptions { run_ended: true, include_used: true };
    let swept = memory.sweep_expired(&scope, all, now).await.unwrap();
    assert_eq!(swept, SweepReport { events: 2, insights: 1, retained: 0 });
    let gone = memory.load_build(&scope.subject(), "b1").await.unwrap_err();
    assert!(matches!(gone, MemoryError::RowGone { .. }), "{gone}");
}

pub async fn junk_is_counted_with_examples(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "The price is twelve.").await;
    append_user_event(&*memory, &scope, "e2", "The price is twelve.").await;
    append_user_event(&*memory, &scope, "e3", "Twelve is the price!").await;
    let mut over = build_user_event(&scope, "e4", "an offer");
    over.expires = Some(MemoryExpiry::Until(NOW));
    memory.append_events(vec![over]).await.unwrap();
    record_fact(&*memory, &scope, with_evidence(fact("f1", "price", 12), "e1", None)).await;
    record_fact(&*memory, &scope, fact("f2", "city", "Paris")).await;
    record_fact(&*memory, &scope, fact("f3", "city", "Rome")).await;
    let past = MemoryFact { valid_to: Some(NOW), ..fact("f4", "job", "baker") };
    record_fact(&*memory, &scope, past).await;
    let audit = memory.audit(&scope.subject(), NOW.plus_millis(1)).await.unwrap();
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
    let other = memory.audit(&build_scope("u2", "s", "r").subject(), NOW).await.unwrap();
    assert_eq!((other.events, other.never_selected.count), (0, 0));
}
