//! Cases: what no store may keep is refused with a reason, and nothing of it is kept.

use std::sync::Arc;

use super::sample::{self, NOW, told};
use crate::{Commit, Lease, NewRun, RunId, Store, StoreError, TenantId};

/// Refused as malformed, with this in the reason.
#[track_caller]
fn assert_malformed<T: std::fmt::Debug>(answer: Result<T, StoreError>, reason: &str) {
    match answer {
        Err(StoreError::Malformed { what }) if what.contains(reason) => {}
        other => panic!("expected a refusal with `{reason}`, found {other:?}"),
    }
}

pub async fn what_contradicts_itself_is_refused_whole(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::grow(&*store, &run, 1).await;
    let before = told(&*store, &run).await;
    let spoiled = |spoil: fn(&mut Commit)| {
        let mut commit = sample::full_step(&run, 1, "a");
        spoil(&mut commit);
        commit
    };
    let cases: [(Commit, &str); 14] = [
        (spoiled(|c| c.version = 3), "makes the next one, not 3"),
        (spoiled(|c| c.expected_version = u64::MAX), "makes the next one"),
        (spoiled(|c| c.entry.version = 1), "entry of version 1 stands in the commit to version 2"),
        (spoiled(|c| c.entry.last = 2), "from event 3 to event 2"),
        (spoiled(|c| c.entry.first = 0), "from event 0 to event 4"),
        (spoiled(|c| c.entry.body = String::new()), "entry is empty"),
        (spoiled(|c| c.entry.body = "a\0b".into()), "entry holds the character U+0000"),
        (spoiled(|c| c.head.summary = "\0".into()), "summary holds the character U+0000"),
        (spoiled(|c| c.snapshot.as_mut().unwrap().version = 1), "snapshot shows version 1"),
        (spoiled(|c| c.actions[1].id = "a-1".into()), "action `a-1` is given twice"),
        (spoiled(|c| c.actions[1].id = String::new()), "action is empty"),
        (spoiled(|c| c.waits_opened[0].run.id = "other".into()), "belongs to another run"),
        (spoiled(|c| c.key = Some(String::new())), "idempotency key is empty"),
        (
            spoiled(|c| {
                let run = RunId::local("other");
                c.lease = Some(Lease { run, worker: "w".into(), epoch: 1, until: NOW });
            }),
            "lease is one of another run",
        ),
    ];
    for (commit, reason) in cases {
        assert_malformed(store.append(commit).await, reason);
    }
    assert_eq!(told(&*store, &run).await, before);
    assert_eq!(store.keyed(&run, "a-key").await.unwrap(), None);
}

pub async fn an_id_in_use_is_refused_whole(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    store.create(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    let before = told(&*store, &run).await;
    let action = Commit { actions: vec![sample::action("a-1")], ..sample::step(&run, 1) };
    assert_malformed(store.append(action).await, "action `a-1` is outstanding already");
    let waits_opened = vec![sample::wait(&run, "a-wait", None)];
    let wait = Commit { waits_opened, ..sample::full_step(&run, 1, "b") };
    assert_malformed(store.append(wait).await, "wait `a-wait` is open already");
    assert_eq!(told(&*store, &run).await, before);
    assert_eq!(store.keyed(&run, "b-key").await.unwrap(), None);
    // Taken away and given again in one commit, they are free.
    let again = Commit {
        finished: vec!["a-1".into()],
        waits_closed: vec!["a-wait".into()],
        actions: vec![sample::action("a-1")],
        waits_opened: vec![sample::wait(&run, "a-wait", None)],
        ..sample::step(&run, 1)
    };
    store.append(again).await.unwrap();
    let after = told(&*store, &run).await;
    assert_eq!(after.actions, [sample::action("a-2"), sample::action("a-1")]);
    assert_eq!(after.waits, [sample::wait(&run, "a-wait", None)]);
}

pub async fn a_gap_in_the_log_is_refused(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::grow(&*store, &run, 1).await;
    let mut commit = sample::step(&run, 1);
    (commit.entry.first, commit.entry.last) = (4, 5);
    let reason = "the log ends at event 2, and the commit goes on with event 4";
    assert_malformed(store.append(commit).await, reason);
    let mut first = sample::step(&RunId::local("new"), 0);
    first.entry.first = 2;
    let reason = "the log ends at event 0, and the commit goes on with event 2";
    assert_malformed(store.create(sample::new_run(), first).await, reason);
    assert_eq!(store.head(&RunId::local("new")).await.unwrap(), None);
}

pub async fn names_are_not_empty(store: Arc<dyn Store>) {
    let nameless = RunId::local("");
    let created = store.create(sample::new_run(), sample::step(&nameless, 0)).await;
    assert_malformed(created, "run id is empty");
    let nobody = TenantId::new("");
    let created =
        store.create(sample::new_run(), sample::step(&RunId::new(nobody.clone(), "r"), 0)).await;
    assert_malformed(created, "tenant is empty");
    let run = RunId::local("r");
    let odd = NewRun { workflow: "a\0".into(), ..sample::new_run() };
    assert_malformed(store.create(odd, sample::step(&run, 0)).await, "workflow holds");
    assert_malformed(
        store.create(sample::new_run(), sample::step(&run, 1)).await,
        "expects version 0, not 1",
    );
    let tenant = TenantId::default();
    assert_malformed(store.put_blob(&nobody, sample::blob("a")).await, "tenant is empty");
    assert_malformed(store.put_protocol(&tenant, "", "text").await, "digest is empty");
    assert_malformed(store.put_protocol(&tenant, "d", "\0").await, "protocol holds");
}
