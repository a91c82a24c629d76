//! Cases: how runs are found by words, period, starter and parent, and what statistics sum up.

use std::sync::Arc;

use super::sample::{self, NOW};
use crate::{
    ChildRunFilter, MAX_SEARCH_TERMS, NewRun, PruneRequest, PruneSeal, RunCommit, RunFilter,
    RunHeadUpdate, RunId, RunStatsFilter, Store, StoreError, StoreWatermark, TenantId,
};

const DAY: i64 = 86_400_000;

fn words(terms: &[&str]) -> Vec<String> {
    terms.iter().map(|term| (*term).to_owned()).collect()
}

async fn create(store: &dyn Store, run: &RunId, created_at: i64, terms: &[&str]) {
    let new = NewRun { created_at, ..sample::new_run() };
    let commit = RunCommit { search_terms: Some(words(terms)), ..sample::step(run, 0) };
    store.create_run(new, commit).await.unwrap();
}

async fn ids(store: &dyn Store, filter: &RunFilter) -> Vec<String> {
    store.list_runs(filter).await.unwrap().into_iter().map(|head| head.run.id).collect()
}

fn finding(terms: &[&str]) -> RunFilter {
    RunFilter { terms: words(terms), ..RunFilter::newest(TenantId::default(), 100) }
}

pub async fn the_head_keeps_what_lists_show(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let new = NewRun {
        protocol_version: "1.2.0".into(),
        started_by: Some("anna".into()),
        parent: Some("p".into()),
        ..sample::new_run()
    };
    let mut commit = sample::step(&run, 0);
    commit.head.title = "Договор 合同".into();
    commit.head.asks = "ben, role:legal".into();
    store.create_run(new, commit).await.unwrap();
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!((&*head.title, &*head.asks), ("Договор 合同", "ben, role:legal"));
    assert_eq!((&*head.protocol_version, head.started_by.as_deref()), ("1.2.0", Some("anna")));
    assert_eq!((head.parent.as_deref(), head.ended_at, head.cost), (Some("p"), None, 0));
    let mut commit = sample::step(&run, 1);
    let (input_tokens, output_tokens, cost) = (10, 20, i64::MAX as u64);
    commit.head = RunHeadUpdate {
        title: "two".into(),
        ended_at: Some(NOW + 9),
        input_tokens,
        output_tokens,
        cost,
        ..commit.head
    };
    store.append_commit(commit).await.unwrap();
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!((&*head.title, &*head.asks, head.ended_at), ("two", "", Some(NOW + 9)));
    assert_eq!((head.input_tokens, head.output_tokens, head.cost), (10, 20, i64::MAX as u64));
    assert_eq!(head.started_by.as_deref(), Some("anna"));
    let listed = store.list_runs(&RunFilter::newest(TenantId::default(), 1)).await.unwrap();
    assert_eq!(listed, [head]);
}

pub async fn runs_are_found_by_all_words(store: Arc<dyn Store>) {
    let run = RunId::local;
    create(&*store, &run("a"), 10, &["contract", "price", "合同"]).await;
    create(&*store, &run("b"), 20, &["contract", "договор"]).await;
    create(&*store, &run("c"), 20, &["contract", "price"]).await;
    let other = RunId::new(TenantId::new("other"), "a");
    create(&*store, &other, 10, &["contract", "price"]).await;
    assert_eq!(ids(&*store, &finding(&["contract"])).await, ["c", "b", "a"]);
    assert_eq!(ids(&*store, &finding(&["contract", "price"])).await, ["c", "a"]);
    assert_eq!(ids(&*store, &finding(&["price", "合同", "contract"])).await, ["a"]);
    assert_eq!(ids(&*store, &finding(&["договор"])).await, ["b"]);
    assert!(ids(&*store, &finding(&["contrac"])).await.is_empty());
    assert!(ids(&*store, &finding(&["договор", "price"])).await.is_empty());
    let theirs = RunFilter { tenant: other.tenant, ..finding(&["price"]) };
    assert_eq!(ids(&*store, &theirs).await, ["a"]);
    // Pages join, and other filters hold too.
    let mut filter = RunFilter { limit: 2, ..finding(&["contract"]) };
    let page = store.list_runs(&filter).await.unwrap();
    filter.after = page.last().map(crate::RunHead::to_cursor);
    assert_eq!(ids(&*store, &filter).await, ["a"]);
    let none = RunFilter { status: Some("done".into()), ..finding(&["contract"]) };
    assert!(ids(&*store, &none).await.is_empty());
    let late = RunFilter { since: Some(11), ..finding(&["price"]) };
    assert_eq!(ids(&*store, &late).await, ["c"]);
    let early = RunFilter { until: Some(20), ..finding(&["contract"]) };
    assert_eq!(ids(&*store, &early).await, ["a"]);
}

pub async fn a_change_of_words_replaces_them(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    create(&*store, &run, 10, &["one", "two"]).await;
    // A commit without words leaves them.
    store.append_commit(sample::step(&run, 1)).await.unwrap();
    assert_eq!(store.load_search_terms(&run).await.unwrap(), ["one", "two"]);
    let terms = Some(words(&["three", "two"]));
    let commit = RunCommit { search_terms: terms.clone(), ..sample::step(&run, 2) };
    store.append_commit(commit).await.unwrap();
    assert_eq!(store.load_search_terms(&run).await.unwrap(), ["three", "two"]);
    assert!(ids(&*store, &finding(&["one"])).await.is_empty());
    assert_eq!(ids(&*store, &finding(&["three", "two"])).await, ["r"]);
    // A refused commit changes no word.
    let late = RunCommit { search_terms: Some(words(&["one"])), ..sample::step(&run, 2) };
    assert!(matches!(store.append_commit(late).await, Err(StoreError::Conflict { .. })));
    assert_eq!(ids(&*store, &finding(&["three"])).await, ["r"]);
    let same = RunCommit { search_terms: terms, ..sample::step(&run, 3) };
    store.append_commit(same).await.unwrap();
    let empty = RunCommit { search_terms: Some(Vec::new()), ..sample::step(&run, 4) };
    store.append_commit(empty).await.unwrap();
    assert!(store.load_search_terms(&run).await.unwrap().is_empty());
    assert!(ids(&*store, &finding(&["two"])).await.is_empty());
    assert!(store.load_search_terms(&RunId::local("nobody")).await.unwrap().is_empty());
}

pub async fn periods_versions_and_starters_filter(store: Arc<dyn Store>) {
    let started = [("a", 10, "anna", "1"), ("b", 20, "ben", "1"), ("c", 30, "anna", "2")];
    for (id, created_at, by, version) in started {
        let new = NewRun {
            created_at,
            started_by: Some(by.into()),
            protocol_version: version.into(),
            ..sample::new_run()
        };
        store.create_run(new, sample::step(&RunId::local(id), 0)).await.unwrap();
    }
    let all = RunFilter::newest(TenantId::default(), 100);
    let annas = RunFilter { started_by: Some("anna".into()), ..all.clone() };
    assert_eq!(ids(&*store, &annas).await, ["c", "a"]);
    let both = RunFilter { workflow: Some("intake".into()), ..annas.clone() };
    assert_eq!(ids(&*store, &both).await, ["c", "a"]);
    let status = RunFilter { status: Some("done".into()), ..annas.clone() };
    assert!(ids(&*store, &status).await.is_empty());
    let old = RunFilter { protocol_version: Some("1".into()), ..all.clone() };
    assert_eq!(ids(&*store, &old).await, ["b", "a"]);
    let period = RunFilter { since: Some(10), until: Some(30), ..all.clone() };
    assert_eq!(ids(&*store, &period).await, ["b", "a"]);
    let since = RunFilter { since: Some(11), ..all.clone() };
    assert_eq!(ids(&*store, &since).await, ["c", "b"]);
    let late = RunFilter { since: Some(11), ..annas };
    assert_eq!(ids(&*store, &late).await, ["c"]);
    // The end of the period holds on every page.
    let cursor = Some(crate::RunCursor { created_at: 20, id: "b".into() });
    let next = RunFilter { after: cursor, until: Some(30), ..all.clone() };
    assert_eq!(ids(&*store, &next).await, ["a"]);
    let cursor = Some(crate::RunCursor { created_at: 99, id: "z".into() });
    let next = RunFilter { after: cursor, until: Some(20), ..all };
    assert_eq!(ids(&*store, &next).await, ["a"]);
}

pub async fn children_come_by_parent(store: Arc<dyn Store>) {
    let children = [("c2", "p", 20), ("c1", "p", 10), ("d", "q", 5), ("c3", "p", 30)];
    for (id, parent, created_at) in children {
        let new = NewRun { created_at, parent: Some(parent.into()), ..sample::new_run() };
        store.create_run(new, sample::step(&RunId::local(id), 0)).await.unwrap();
    }
    sample::create_run_at_version(&*store, &RunId::local("p"), 1).await;
    let list = async |parents: &[&str], open_only, limit| -> Vec<String> {
        let (tenant, parents) = (TenantId::default(), words(parents));
        let filter = ChildRunFilter { tenant, parents, open_only, limit };
        let listed = store.list_child_runs(&filter).await.unwrap();
        listed.into_iter().map(|head| head.run.id).collect()
    };
    assert_eq!(list(&["q", "p", "nobody", "p"], false, 9).await, ["c1", "c2", "c3", "d"]);
    assert_eq!(list(&["p", "q"], false, 2).await, ["c1", "c2", "d"]);
    let mut ended = sample::step(&RunId::local("c1"), 1);
    ended.head.ended_at = Some(NOW);
    store.append_commit(ended).await.unwrap();
    assert_eq!(list(&["p"], true, 9).await, ["c2", "c3"]);
    assert_eq!(list(&["p"], false, 9).await, ["c1", "c2", "c3"]);
    assert!(list(&[], true, 9).await.is_empty());
}

pub async fn statistics_sum_up_a_period(store: Arc<dyn Store>) {
    let today = NOW.div_euclid(DAY) * DAY;
    for number in 1..=20_i64 {
        let run = RunId::local(format!("r{number:02}"));
        let workflow = if number % 2 == 0 { "even" } else { "odd" };
        let created_at = if number <= 10 { today + number } else { today - DAY + number };
        let mut commit = sample::step(&run, 0);
        commit.head.status = if number == 20 { "waiting" } else { "completed" }.into();
        commit.head.ended_at = (number != 20).then_some(created_at + 100 * number);
        (commit.head.input_tokens, commit.head.output_tokens, commit.head.cost) = (2, 3, 5);
        let new = NewRun { workflow: workflow.into(), created_at, ..sample::new_run() };
        store.create_run(new, commit).await.unwrap();
    }
    let filter = RunStatsFilter {
        tenant: TenantId::default(),
        since: today - DAY,
        until: today + DAY,
        workflow: None,
        limit: 100,
    };
    let stats = store.read_run_stats(&filter).await.unwrap();
    let total = &stats.total;
    assert_eq!(
        (total.runs, total.input_tokens, total.output_tokens, total.cost),
        (20, 40, 60, 100)
    );
    assert_eq!((total.statuses["completed"], total.statuses["waiting"]), (19, 1));
    assert_eq!((total.duration_p50, total.duration_p95), (Some(1000), Some(1900)));
    let rows: Vec<_> =
        stats.rows.iter().map(|row| (row.day, &*row.workflow, row.totals.runs)).collect();
    let yesterday = today - DAY;
    let expected = [(today, "even", 5), (today, "odd", 5), (yesterday, "even", 5)];
    assert_eq!(rows[..3], expected);
    assert_eq!((rows[3], stats.truncated), ((yesterday, "odd", 5), false));
    // The percentiles of a day are those of all of its runs, whatever their workflow.
    let days: Vec<_> = stats.days.iter().map(|one| (one.day, one.totals.duration_p50)).collect();
    assert_eq!(days, [(today, Some(500)), (yesterday, Some(1500))]);
    assert_eq!((stats.days[0].totals.input_tokens, stats.days[0].totals.cost), (20, 50));
    let odd = RunStatsFilter { workflow: Some("odd".into()), ..filter.clone() };
    let stats = store.read_run_stats(&odd).await.unwrap();
    assert_eq!((stats.total.runs, stats.rows.len(), stats.total.cost), (10, 2, 50));
    let few = store.read_run_stats(&RunStatsFilter { limit: 7, ..filter.clone() }).await.unwrap();
    assert!(few.truncated);
    // The newest count: r10 to r04.
    assert_eq!((few.total.runs, few.total.duration_p95), (7, Some(1000)));
    let part = RunStatsFilter { since: today + 3, until: today + 5, ..filter.clone() };
    assert_eq!(store.read_run_stats(&part).await.unwrap().total.runs, 2);
    let other = RunStatsFilter { tenant: TenantId::new("other"), ..filter };
    assert_eq!(store.read_run_stats(&other).await.unwrap(), crate::RunStats::default());
}

pub async fn absurd_words_are_refused(store: Arc<dyn Store>) {
    let many: Vec<String> = (0..=MAX_SEARCH_TERMS).map(|number| format!("{number:05}")).collect();
    let absurd = [
        words(&[""]),
        words(&["two words"]),
        words(&["b", "a"]),
        words(&["a", "a"]),
        words(&["a\0"]),
        vec!["x".repeat(65)],
        many,
    ];
    let run = RunId::local("r");
    for terms in absurd {
        let commit = RunCommit { search_terms: Some(terms), ..sample::step(&run, 0) };
        let refused = store.create_run(sample::new_run(), commit).await;
        assert!(matches!(refused, Err(StoreError::Malformed { .. })), "{refused:?}");
    }
    assert!(store.load_head(&run).await.unwrap().is_none());
}

pub async fn a_pruned_run_is_not_found(store: Arc<dyn Store>) {
    let (run, other) = (RunId::local("r"), RunId::local("s"));
    create(&*store, &run, 10, &["one", "two"]).await;
    let mut commit = sample::step(&run, 1);
    commit.head.title = "one two".into();
    store.append_commit(commit).await.unwrap();
    create(&*store, &other, 10, &["one"]).await;
    let pruning = PruneRequest {
        run: run.clone(),
        version: 2,
        seal: PruneSeal { pruned_at: NOW, digest: "sha256:seal".into() },
        kept_snapshots: Vec::new(),
        blobs: Vec::new(),
        since: StoreWatermark(0),
    };
    store.prune_run(&pruning).await.unwrap();
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().title, "");
    assert_eq!(ids(&*store, &finding(&["one"])).await, ["s"]);
    assert!(ids(&*store, &finding(&["two"])).await.is_empty());
    assert!(store.load_search_terms(&run).await.unwrap().is_empty());
    assert_eq!(store.load_search_terms(&other).await.unwrap(), ["one"]);
}
