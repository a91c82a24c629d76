//! Cases: what lists contain, in which order, and what they leave out.

use std::sync::Arc;

use super::sample::{self, NOW, all_waits};
use crate::{NewRun, RESOLVE_LIMIT, RunCommit, RunFilter, RunId, Store, TenantId, WaitFilter};

async fn run_ids(store: &dyn Store, filter: &RunFilter) -> Vec<String> {
    store.list_runs(filter).await.unwrap().into_iter().map(|head| head.run.id).collect()
}

async fn wait_ids(store: &dyn Store, filter: &WaitFilter) -> Vec<String> {
    store.list_waits(filter).await.unwrap().into_iter().map(|wait| wait.id).collect()
}

pub async fn runs_come_newest_first(store: Arc<dyn Store>) {
    // Two runs have the same creation time, so the id decides. Later steps do not change the order.
    for (id, created_at) in [("b", 20), ("a", 20), ("d", 30), ("c", 10), ("e", i64::MAX)] {
        let run = NewRun { created_at, ..sample::new_run() };
        store.create_run(run, sample::step(&RunId::local(id), 0)).await.unwrap();
    }
    store.append_commit(sample::step(&RunId::local("c"), 1)).await.unwrap();
    let mut filter = RunFilter::newest(TenantId::default(), 100);
    assert_eq!(run_ids(&*store, &filter).await, ["e", "d", "b", "a", "c"]);
    filter.limit = 0;
    assert!(run_ids(&*store, &filter).await.is_empty());
    filter.limit = 2;
    let mut pages = Vec::new();
    loop {
        let page = store.list_runs(&filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.after = Some(last.to_cursor());
        pages.push(page.into_iter().map(|head| head.run.id).collect::<String>());
    }
    assert_eq!(pages, ["ed", "ba", "c"]);
}

pub async fn runs_are_filtered(store: Arc<dyn Store>) {
    for (id, status, workflow) in
        [("a", "running", "intake"), ("b", "done", "intake"), ("c", "done", "answer")]
    {
        let mut commit = sample::step(&RunId::local(id), 0);
        commit.head.status = status.into();
        let run = NewRun { workflow: workflow.into(), ..sample::new_run() };
        store.create_run(run, commit).await.unwrap();
    }
    let all = RunFilter::newest(TenantId::default(), 100);
    let status = RunFilter { status: Some("done".into()), ..all.clone() };
    assert_eq!(run_ids(&*store, &status).await, ["c", "b"]);
    let both = RunFilter { workflow: Some("intake".into()), ..status.clone() };
    assert_eq!(run_ids(&*store, &both).await, ["b"]);
    let phase = RunFilter { phase: Some("phase-2".into()), ..all.clone() };
    assert!(run_ids(&*store, &phase).await.is_empty());
    store.append_commit(sample::step(&RunId::local("b"), 1)).await.unwrap();
    assert_eq!(run_ids(&*store, &phase).await, ["b"]);
    assert_eq!(run_ids(&*store, &status).await, ["c"]);
    let protocol = RunFilter { protocol: Some("sha256:bb".into()), ..all };
    assert!(run_ids(&*store, &protocol).await.is_empty());
}

pub async fn waits_come_by_deadline(store: Arc<dyn Store>) {
    let (one, two) = (RunId::local("one"), RunId::local("two"));
    let mut old = sample::wait(&one, "old", None);
    old.opened_at = NOW - 5;
    let waits_opened = vec![
        sample::wait(&one, "open-b", None),
        sample::wait(&one, "open-a", None),
        old,
        sample::wait(&one, "late", Some(NOW + 90)),
    ];
    let first = RunCommit { waits_opened, ..sample::step(&one, 0) };
    store.create_run(sample::new_run(), first).await.unwrap();
    let waits_opened = vec![
        sample::wait(&two, "soon", Some(NOW - 10)),
        sample::wait(&two, "late", Some(NOW + 90)),
        sample::wait(&two, "open-a", None),
    ];
    let second = RunCommit { waits_opened, ..sample::step(&two, 0) };
    store.create_run(sample::new_run(), second).await.unwrap();

    let mut filter = all_waits(&TenantId::default());
    let expected = ["soon", "late", "late", "old", "open-a", "open-b", "open-a"];
    assert_eq!(wait_ids(&*store, &filter).await, expected);
    let inbox = store.list_waits(&filter).await.unwrap();
    let runs: Vec<&str> = inbox.iter().map(|wait| wait.run.id.as_str()).collect();
    assert_eq!(runs, ["two", "one", "two", "one", "one", "one", "two"]);
    filter.limit = 2;
    let mut joined = Vec::new();
    loop {
        let page = store.list_waits(&filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.after = Some(last.to_cursor());
        joined.extend(page);
    }
    assert_eq!(joined, inbox);
    // The same holds within one run.
    let mut filter = WaitFilter { run: Some("one".into()), limit: 3, ..all_waits(&one.tenant) };
    assert_eq!(wait_ids(&*store, &filter).await, ["late", "old", "open-a"]);
    filter.after = Some(inbox[4].to_cursor());
    assert_eq!(wait_ids(&*store, &filter).await, ["open-b"]);
}

pub async fn waits_are_filtered(store: Arc<dyn Store>) {
    let (one, two) = (RunId::local("one"), RunId::local("two"));
    let mut annas = sample::wait(&one, "annas", Some(1));
    annas.who = vec!["anna".into(), "group:audit".into()];
    let mut bens = sample::wait(&one, "bens", Some(2));
    bens.who = vec!["ben".into(), "annabel".into()];
    bens.kind = "approval".into();
    let waits_opened = vec![annas, bens, sample::wait(&one, "anyones", Some(3))];
    let first = RunCommit { waits_opened, ..sample::step(&one, 0) };
    store.create_run(sample::new_run(), first).await.unwrap();
    let waits_opened = vec![sample::wait(&two, "twos", Some(4))];
    let second = RunCommit { waits_opened, ..sample::step(&two, 0) };
    store.create_run(sample::new_run(), second).await.unwrap();

    let all = all_waits(&TenantId::default());
    let anna = WaitFilter { who: vec!["anna".into()], ..all.clone() };
    let auditor = vec!["zoe".into(), "group:audit".into()];
    let auditor = WaitFilter { who: auditor, ..all.clone() };
    assert_eq!(wait_ids(&*store, &auditor).await, ["annas", "anyones", "twos"]);
    assert_eq!(wait_ids(&*store, &anna).await, ["annas", "anyones", "twos"]);
    let approvals = WaitFilter { kind: Some("approval".into()), ..all.clone() };
    assert_eq!(wait_ids(&*store, &approvals).await, ["bens"]);
    let of_two = WaitFilter { run: Some("two".into()), ..all.clone() };
    assert_eq!(wait_ids(&*store, &of_two).await, ["twos"]);
    let none = WaitFilter { kind: Some("approval".into()), ..anna.clone() };
    assert!(wait_ids(&*store, &none).await.is_empty());
    let narrow = WaitFilter { run: Some("one".into()), kind: Some("question".into()), ..anna };
    assert_eq!(wait_ids(&*store, &narrow).await, ["annas", "anyones"]);
    let few = WaitFilter { limit: 0, ..all };
    assert!(wait_ids(&*store, &few).await.is_empty());
}

pub async fn a_closed_wait_is_gone(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    let all = all_waits(&run.tenant);
    assert_eq!(wait_ids(&*store, &all).await, ["a-wait"]);
    let closing = RunCommit { waits_closed: vec!["a-wait".into()], ..sample::step(&run, 1) };
    store.append_commit(closing).await.unwrap();
    assert!(wait_ids(&*store, &all).await.is_empty());
}

pub async fn actions_are_outstanding_in_order(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let ids = ["r/1/10", "r/1/9", "r/1/0"];
    let first = RunCommit { actions: ids.map(sample::action).into(), ..sample::step(&run, 0) };
    store.create_run(sample::new_run(), first).await.unwrap();
    for expected in 1..11 {
        let actions = vec![sample::action(&format!("r/{}/0", expected + 1))];
        store.append_commit(RunCommit { actions, ..sample::step(&run, expected) }).await.unwrap();
    }
    let finished = vec!["r/1/9".into(), "r/5/0".into()];
    store
        .append_commit(RunCommit { finished_actions: finished, ..sample::step(&run, 11) })
        .await
        .unwrap();
    let told = store.list_actions(&run).await.unwrap();
    let told: Vec<&str> = told.iter().map(|action| action.id.as_str()).collect();
    let expected = [
        "r/1/10", "r/1/0", "r/2/0", "r/3/0", "r/4/0", "r/6/0", "r/7/0", "r/8/0", "r/9/0", "r/10/0",
        "r/11/0",
    ];
    assert_eq!(told, expected);
    assert!(store.list_actions(&RunId::local("nobody")).await.unwrap().is_empty());
}

pub async fn finishing_what_is_not_there_is_no_fault(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    let finished = vec!["a-1".into(), "a-1".into(), "never".into()];
    let waits_closed = vec!["never".into()];
    let commit = RunCommit { finished_actions: finished, waits_closed, ..sample::step(&run, 1) };
    store.append_commit(commit).await.unwrap();
    let told = sample::load_stored_run(&*store, &run).await;
    assert_eq!(told.actions, [sample::action("a-2")]);
    assert_eq!(told.waits, [sample::wait(&run, "a-wait", Some(NOW + 60))]);
    let finished = vec!["a-1".into()];
    store
        .append_commit(RunCommit { finished_actions: finished, ..sample::step(&run, 2) })
        .await
        .unwrap();
    assert_eq!(store.list_actions(&run).await.unwrap(), [sample::action("a-2")]);
}

pub async fn short_ids_are_resolved(store: Arc<dyn Store>) {
    for id in ["01ab", "01ac", "01b", "ü1", "ü2", "ý", "a_b", "axb", "a%", "z\u{10ffff}z"] {
        sample::create_run_at_version(&*store, &RunId::local(id), 1).await;
    }
    let tenant = TenantId::default();
    for (prefix, expected) in [
        ("01a", vec!["01ab", "01ac"]),
        ("01ab", vec!["01ab"]),
        ("01abc", vec![]),
        ("ü", vec!["ü1", "ü2"]),
        ("a_", vec!["a_b"]),
        ("a%", vec!["a%"]),
        ("A", vec![]),
        ("z\u{10ffff}", vec!["z\u{10ffff}z"]),
    ] {
        let found = store.resolve_run_id(&tenant, prefix).await.unwrap();
        let found: Vec<&str> = found.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(found, expected, "{prefix}");
    }
    for number in 0..RESOLVE_LIMIT {
        sample::create_run_at_version(&*store, &RunId::local(format!("n{number:02}")), 1).await;
    }
    let found = store.resolve_run_id(&tenant, "").await.unwrap();
    assert_eq!(found.len(), RESOLVE_LIMIT);
    assert!(found.is_sorted());
}
