//! Cases: a store refuses invalid requests with a reason, and keeps nothing of them.

use std::sync::Arc;

use super::sample::{self, NOW, load_stored_run};
use crate::{Lease, NewRun, RunCommit, RunId, Store, StoreError, TenantId};

/// Asserts that a call failed as malformed, with `reason` in its message.
#[track_caller]
fn assert_malformed<T: std::fmt::Debug>(answer: Result<T, StoreError>, reason: &str) {
    match answer {
        Err(StoreError::Malformed { reason: what }) if what.contains(reason) => {}
        other => panic!("expected a refusal with `{reason}`, found {other:?}"),
    }
}

pub async fn what_contradicts_itself_is_refused_whole(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let before = load_stored_run(&*store, &run).await;
    let spoiled = |spoil: fn(&mut RunCommit)| {
        let mut commit = sample::full_step(&run, 1, "a");
        spoil(&mut commit);
        commit
    };
    let cases: [(RunCommit, &str); 14] = [
        (spoiled(|c| c.version = 3), "must create the next version, not 3"),
        (spoiled(|c| c.expected_version = u64::MAX), "must create the next version"),
        (spoiled(|c| c.entry.version = 1), "entry of version 1 is in the commit to version 2"),
        (spoiled(|c| c.entry.last_seq = 2), "from event 3 to event 2"),
        (spoiled(|c| c.entry.first_seq = 0), "from event 0 to event 4"),
        (spoiled(|c| c.entry.body = String::new()), "entry is empty"),
        (spoiled(|c| c.entry.body = "a\0b".into()), "entry contains the character U+0000"),
        (spoiled(|c| c.head.summary = "\0".into()), "summary contains the character U+0000"),
        (spoiled(|c| c.snapshot.as_mut().unwrap().version = 1), "snapshot has version 1"),
        (spoiled(|c| c.actions[1].id = "a-1".into()), "action `a-1` appears twice"),
        (spoiled(|c| c.actions[1].id = String::new()), "action is empty"),
        (spoiled(|c| c.waits_opened[0].run.id = "other".into()), "belongs to another run"),
        (spoiled(|c| c.idempotency_key = Some(String::new())), "idempotency key is empty"),
        (
            spoiled(|c| {
                let run = RunId::local("other");
                c.lease = Some(Lease { run, worker: "w".into(), epoch: 1, until: NOW });
            }),
            "lease belongs to another run",
        ),
    ];
    for (commit, reason) in cases {
        assert_malformed(store.append_commit(commit).await, reason);
    }
    assert_eq!(load_stored_run(&*store, &run).await, before);
    assert_eq!(store.find_key_version(&run, "a-key").await.unwrap(), None);
}

pub async fn an_id_in_use_is_refused_whole(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    let before = load_stored_run(&*store, &run).await;
    let action = RunCommit { actions: vec![sample::action("a-1")], ..sample::step(&run, 1) };
    assert_malformed(store.append_commit(action).await, "action `a-1` is already pending");
    let waits_opened = vec![sample::wait(&run, "a-wait", None)];
    let wait = RunCommit { waits_opened, ..sample::full_step(&run, 1, "b") };
    assert_malformed(store.append_commit(wait).await, "wait `a-wait` is already open");
    assert_eq!(load_stored_run(&*store, &run).await, before);
    assert_eq!(store.find_key_version(&run, "b-key").await.unwrap(), None);
    // Ids that the same commit removes are free to be used again.
    let again = RunCommit {
        finished_actions: vec!["a-1".into()],
        waits_closed: vec!["a-wait".into()],
        actions: vec![sample::action("a-1")],
        waits_opened: vec![sample::wait(&run, "a-wait", None)],
        ..sample::step(&run, 1)
    };
    store.append_commit(again).await.unwrap();
    let after = load_stored_run(&*store, &run).await;
    assert_eq!(after.actions, [sample::action("a-2"), sample::action("a-1")]);
    assert_eq!(after.waits, [sample::wait(&run, "a-wait", None)]);
}

pub async fn a_gap_in_the_log_is_refused(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let mut commit = sample::step(&run, 1);
    (commit.entry.first_seq, commit.entry.last_seq) = (4, 5);
    let reason = "the log ends at event 2, but the commit continues with event 4";
    assert_malformed(store.append_commit(commit).await, reason);
    let mut first = sample::step(&RunId::local("new"), 0);
    first.entry.first_seq = 2;
    let reason = "the log ends at event 0, but the commit continues with event 2";
    assert_malformed(store.create_run(sample::new_run(), first).await, reason);
    assert_eq!(store.load_head(&RunId::local("new")).await.unwrap(), None);
}

pub async fn names_are_not_empty(store: Arc<dyn Store>) {
    let nameless = RunId::local("");
    let created = store.create_run(sample::new_run(), sample::step(&nameless, 0)).await;
    assert_malformed(created, "run id is empty");
    let nobody = TenantId::new("");
    let created = store
        .create_run(sample::new_run(), sample::step(&RunId::new(nobody.clone(), "r"), 0))
        .await;
    assert_malformed(created, "tenant is empty");
    let run = RunId::local("r");
    let odd = NewRun { workflow: "a\0".into(), ..sample::new_run() };
    assert_malformed(store.create_run(odd, sample::step(&run, 0)).await, "workflow contains");
    assert_malformed(
        store.create_run(sample::new_run(), sample::step(&run, 1)).await,
        "expects version 0, not 1",
    );
    let tenant = TenantId::default();
    assert_malformed(store.put_blob(&nobody, sample::blob("a")).await, "tenant is empty");
    assert_malformed(store.put_protocol(&tenant, "", "text").await, "digest is empty");
    assert_malformed(store.put_protocol(&tenant, "d", "\0").await, "protocol contains");
}
