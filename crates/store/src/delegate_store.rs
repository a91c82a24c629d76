//! Delegation for stores that wrap another store.

/// Expands to every method of [`Store`](crate::Store) except `create_run` and `append_commit`; each
/// calls the same method of the named field. It is meant for stores that count, check or encrypt
/// commits and leave the rest to another store. The trait must be in scope.
///
/// ```
/// use countersign_store::{
///     InMemoryStore, NewRun, RunCommit, Store, StoreFuture, delegate_store,
/// };
///
/// struct Wrapper {
///     inner: InMemoryStore,
/// }
///
/// impl Store for Wrapper {
///     fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
///         self.inner.create_run(run, commit)
///     }
///
///     fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
///         self.inner.append_commit(commit)
///     }
///
///     delegate_store!(inner);
/// }
/// ```
#[macro_export]
macro_rules! delegate_store {
    ($inner:ident) => {
        fn load_head<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Option<$crate::RunHead>> {
            self.$inner.load_head(run)
        }

        fn load_run<'a>(
            &'a self,
            run: &'a $crate::RunId,
            at: Option<u64>,
        ) -> $crate::StoreFuture<'a, Option<$crate::LoadedRun>> {
            self.$inner.load_run(run, at)
        }

        fn read_log<'a>(
            &'a self,
            run: &'a $crate::RunId,
            after_version: u64,
            limit: usize,
        ) -> $crate::StoreFuture<'a, Vec<$crate::LogEntryRow>> {
            self.$inner.read_log(run, after_version, limit)
        }

        fn list_runs<'a>(
            &'a self,
            filter: &'a $crate::RunFilter,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunHead>> {
            self.$inner.list_runs(filter)
        }

        fn list_waits<'a>(
            &'a self,
            filter: &'a $crate::WaitFilter,
        ) -> $crate::StoreFuture<'a, Vec<$crate::WaitRow>> {
            self.$inner.list_waits(filter)
        }

        fn list_actions<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Vec<$crate::ActionRow>> {
            self.$inner.list_actions(run)
        }

        fn find_key_version<'a>(
            &'a self,
            run: &'a $crate::RunId,
            key: &'a str,
        ) -> $crate::StoreFuture<'a, Option<u64>> {
            self.$inner.find_key_version(run, key)
        }

        fn list_keys<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Vec<(String, u64)>> {
            self.$inner.list_keys(run)
        }

        fn acquire_due_runs<'a>(
            &'a self,
            taking: &'a $crate::DueRunsRequest,
        ) -> $crate::StoreFuture<'a, Vec<$crate::Lease>> {
            self.$inner.acquire_due_runs(taking)
        }

        fn acquire_lease<'a>(
            &'a self,
            run: &'a $crate::RunId,
            worker: &'a str,
            now: i64,
            until: i64,
        ) -> $crate::StoreFuture<'a, Option<$crate::Lease>> {
            self.$inner.acquire_lease(run, worker, now, until)
        }

        fn release_lease<'a>(&'a self, lease: &'a $crate::Lease) -> $crate::StoreFuture<'a, ()> {
            self.$inner.release_lease(lease)
        }

        fn expire_lease<'a>(&'a self, lease: &'a $crate::Lease) -> $crate::StoreFuture<'a, ()> {
            self.$inner.expire_lease(lease)
        }

        fn list_parked_runs<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            now: i64,
            limit: usize,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunHead>> {
            self.$inner.list_parked_runs(tenant, now, limit)
        }

        fn unpark_run<'a>(
            &'a self,
            run: &'a $crate::RunId,
            now: i64,
        ) -> $crate::StoreFuture<'a, bool> {
            self.$inner.unpark_run(run, now)
        }

        fn suspend_run<'a>(
            &'a self,
            lease: &'a $crate::Lease,
            version: u64,
            wake_at: Option<i64>,
        ) -> $crate::StoreFuture<'a, bool> {
            self.$inner.suspend_run(lease, version, wake_at)
        }

        fn list_leases(
            &self,
            now: i64,
            limit: usize,
        ) -> $crate::StoreFuture<'_, Vec<$crate::Lease>> {
            self.$inner.list_leases(now, limit)
        }

        fn record_heartbeat<'a>(
            &'a self,
            worker: &'a $crate::WorkerInfo,
            now: i64,
            until: i64,
        ) -> $crate::StoreFuture<'a, ()> {
            self.$inner.record_heartbeat(worker, now, until)
        }

        fn remove_worker<'a>(&'a self, name: &'a str) -> $crate::StoreFuture<'a, ()> {
            self.$inner.remove_worker(name)
        }

        fn list_workers(&self, now: i64) -> $crate::StoreFuture<'_, Vec<$crate::WorkerRow>> {
            self.$inner.list_workers(now)
        }

        fn list_tenants(&self) -> $crate::StoreFuture<'_, Vec<$crate::TenantId>> {
            self.$inner.list_tenants()
        }

        fn read_watermark(&self) -> $crate::StoreFuture<'_, $crate::StoreWatermark> {
            self.$inner.read_watermark()
        }

        fn prune_run<'a>(
            &'a self,
            pruning: &'a $crate::PruneRequest,
        ) -> $crate::StoreFuture<'a, $crate::PruneStats> {
            self.$inner.prune_run(pruning)
        }

        fn check_ready(&self) -> $crate::StoreFuture<'_, ()> {
            self.$inner.check_ready()
        }

        fn subscribe_wakes(&self) -> $crate::WakeListener {
            self.$inner.subscribe_wakes()
        }

        fn put_blob<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            blob: $crate::Blob,
        ) -> $crate::StoreFuture<'a, ()> {
            self.$inner.put_blob(tenant, blob)
        }

        fn load_blob<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            digest: &'a str,
        ) -> $crate::StoreFuture<'a, Option<Vec<u8>>> {
            self.$inner.load_blob(tenant, digest)
        }

        fn put_protocol<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            digest: &'a str,
            text: &'a str,
        ) -> $crate::StoreFuture<'a, ()> {
            self.$inner.put_protocol(tenant, digest, text)
        }

        fn load_protocol<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            digest: &'a str,
        ) -> $crate::StoreFuture<'a, Option<String>> {
            self.$inner.load_protocol(tenant, digest)
        }

        fn resolve_run_id<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            prefix: &'a str,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunId>> {
            self.$inner.resolve_run_id(tenant, prefix)
        }
    };
}
