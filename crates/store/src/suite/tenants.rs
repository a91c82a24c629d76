//! Cases: a tenant sees and changes only its own rows, with every method.

use std::sync::Arc;

use super::sample::{self, NOW, all_waits, load_stored_run};
use crate::{Blob, DueRunsRequest, RunFilter, RunId, Store, StoreError, TenantId};

pub async fn tenants_never_see_each_other(store: Arc<dyn Store>) {
    let (ours, theirs) = (TenantId::new("ours"), TenantId::new("ours2"));
    let (run, same) = (RunId::new(ours.clone(), "r"), RunId::new(theirs.clone(), "r"));
    store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    store.put_protocol(&ours, "sha256:p", "ours").await.unwrap();

    assert_eq!(store.list_tenants().await.unwrap(), std::slice::from_ref(&ours));

    // The other tenant sees none of our rows.
    let nothing = load_stored_run(&*store, &RunId::local("nobody")).await;
    assert_eq!(load_stored_run(&*store, &same).await, nothing);
    assert_eq!(store.find_key_version(&same, "a-key").await.unwrap(), None);
    assert_eq!(store.load_blob(&theirs, "sha256:a").await.unwrap(), None);
    assert_eq!(store.load_protocol(&theirs, "sha256:p").await.unwrap(), None);
    assert!(store.list_runs(&RunFilter::newest(theirs.clone(), 10)).await.unwrap().is_empty());
    assert!(store.list_waits(&all_waits(&theirs)).await.unwrap().is_empty());
    assert!(store.resolve_run_id(&theirs, "").await.unwrap().is_empty());
    let append = store.append_commit(sample::step(&same, 1)).await;
    assert!(matches!(append, Err(StoreError::NotFound { .. })), "{append:?}");
    let lease = store.acquire_lease(&same, "w", NOW, NOW + 1).await;
    assert!(matches!(lease, Err(StoreError::NotFound { .. })), "{lease:?}");

    // The other tenant may use the same names, and our rows stay unchanged.
    let before = load_stored_run(&*store, &run).await;
    store.create_run(sample::new_run(), sample::full_step(&same, 0, "a")).await.unwrap();
    store.append_commit(sample::full_step(&same, 1, "b")).await.unwrap();
    let finished = ["a-1", "a-2", "b-1"].map(str::to_owned).to_vec();
    let waits_closed = vec!["a-wait".to_owned()];
    let closing =
        crate::RunCommit { finished_actions: finished, waits_closed, ..sample::step(&same, 2) };
    store.append_commit(closing).await.unwrap();
    let other = Blob { bytes: b"theirs".into(), digest: "sha256:c".into() };
    store.put_blob(&theirs, other).await.unwrap();
    store.put_protocol(&theirs, "sha256:p", "theirs").await.unwrap();
    let lease = store.acquire_lease(&same, "w", NOW, NOW + 10).await.unwrap().unwrap();
    assert_eq!(load_stored_run(&*store, &run).await, before);
    assert_eq!(store.load_blob(&ours, "sha256:c").await.unwrap(), None);
    assert_eq!(store.load_protocol(&ours, "sha256:p").await.unwrap().as_deref(), Some("ours"));
    assert_eq!(store.find_key_version(&run, "b-key").await.unwrap(), None);
    assert_eq!(store.list_runs(&RunFilter::newest(ours.clone(), 10)).await.unwrap().len(), 1);
    assert_eq!(store.list_waits(&all_waits(&ours)).await.unwrap().len(), 1);
    assert_eq!(
        store.resolve_run_id(&ours, "r").await.unwrap().as_slice(),
        std::slice::from_ref(&run)
    );

    // Acquiring and releasing our lease does not change the other tenant's lease.
    let mine = store.acquire_lease(&run, "w2", NOW, NOW + 10).await.unwrap().unwrap();
    store.release_lease(&mine).await.unwrap();
    assert_eq!(store.load_head(&same).await.unwrap().unwrap().lease, Some(lease));

    assert_eq!(store.list_tenants().await.unwrap(), [ours.clone(), theirs.clone()]);

    // A lease on a due run names its tenant.
    store
        .append_commit(crate::RunCommit { wake_at: Some(NOW), ..sample::step(&same, 3) })
        .await
        .unwrap();
    let taking = DueRunsRequest::new("w", NOW + 1000, NOW + 1001, 10);
    let taken = store.acquire_due_runs(&taking).await.unwrap();
    assert_eq!(taken.into_iter().map(|lease| lease.run).collect::<Vec<_>>(), [run, same]);
}
