//! Cases: a tenant sees and changes its own rows only, by whatever method.

use std::sync::Arc;

use super::sample::{self, NOW, every_wait, told};
use crate::{Blob, RunFilter, RunId, Store, StoreError, Taking, TenantId};

pub async fn tenants_never_see_each_other(store: Arc<dyn Store>) {
    let (ours, theirs) = (TenantId::new("ours"), TenantId::new("ours2"));
    let (run, same) = (RunId::new(ours.clone(), "r"), RunId::new(theirs.clone(), "r"));
    store.create(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    store.put_protocol(&ours, "sha256:p", "ours").await.unwrap();

    assert_eq!(store.tenants().await.unwrap(), std::slice::from_ref(&ours));

    // Nothing of ours is theirs.
    let nothing = told(&*store, &RunId::local("nobody")).await;
    assert_eq!(told(&*store, &same).await, nothing);
    assert_eq!(store.keyed(&same, "a-key").await.unwrap(), None);
    assert_eq!(store.blob(&theirs, "sha256:a").await.unwrap(), None);
    assert_eq!(store.protocol(&theirs, "sha256:p").await.unwrap(), None);
    assert!(store.runs(&RunFilter::newest(theirs.clone(), 10)).await.unwrap().is_empty());
    assert!(store.waits(&every_wait(&theirs)).await.unwrap().is_empty());
    assert!(store.resolve(&theirs, "").await.unwrap().is_empty());
    let append = store.append(sample::step(&same, 1)).await;
    assert!(matches!(append, Err(StoreError::NotFound { .. })), "{append:?}");
    let lease = store.lease(&same, "w", NOW, NOW + 1).await;
    assert!(matches!(lease, Err(StoreError::NotFound { .. })), "{lease:?}");

    // They may use the same names, and ours stay as they are.
    let before = told(&*store, &run).await;
    store.create(sample::new_run(), sample::full_step(&same, 0, "a")).await.unwrap();
    store.append(sample::full_step(&same, 1, "b")).await.unwrap();
    let finished = ["a-1", "a-2", "b-1"].map(str::to_owned).to_vec();
    let waits_closed = vec!["a-wait".to_owned()];
    let closing = crate::Commit { finished, waits_closed, ..sample::step(&same, 2) };
    store.append(closing).await.unwrap();
    let other = Blob { bytes: b"theirs".into(), digest: "sha256:c".into() };
    store.put_blob(&theirs, other).await.unwrap();
    store.put_protocol(&theirs, "sha256:p", "theirs").await.unwrap();
    let lease = store.lease(&same, "w", NOW, NOW + 10).await.unwrap().unwrap();
    assert_eq!(told(&*store, &run).await, before);
    assert_eq!(store.blob(&ours, "sha256:c").await.unwrap(), None);
    assert_eq!(store.protocol(&ours, "sha256:p").await.unwrap().as_deref(), Some("ours"));
    assert_eq!(store.keyed(&run, "b-key").await.unwrap(), None);
    assert_eq!(store.runs(&RunFilter::newest(ours.clone(), 10)).await.unwrap().len(), 1);
    assert_eq!(store.waits(&every_wait(&ours)).await.unwrap().len(), 1);
    assert_eq!(store.resolve(&ours, "r").await.unwrap().as_slice(), std::slice::from_ref(&run));

    // Their lease is not ours, and releasing ours is not theirs.
    let mine = store.lease(&run, "w2", NOW, NOW + 10).await.unwrap().unwrap();
    store.release(&mine).await.unwrap();
    assert_eq!(store.head(&same).await.unwrap().unwrap().lease, Some(lease));

    assert_eq!(store.tenants().await.unwrap(), [ours.clone(), theirs.clone()]);

    // What is due names its tenant.
    store.append(crate::Commit { wake_at: Some(NOW), ..sample::step(&same, 3) }).await.unwrap();
    let taking = Taking::new("w", NOW + 1000, NOW + 1001, 10);
    let taken = store.take(&taking).await.unwrap();
    assert_eq!(taken.into_iter().map(|lease| lease.run).collect::<Vec<_>>(), [run, same]);
}
