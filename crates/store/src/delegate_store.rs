//! Delegation for stores that wrap another store.

/// Expands to the methods of one part of [`Store`](crate::Store); each calls the same method of the
/// named field. For `RunStore`, `create_run` and `append_commit` are left to you. It is meant for
/// stores that count, check or encrypt commits and leave the rest to another store.
///
/// ```
/// use countersign_store::{
///     ContentStore, InMemoryStore, LeaseStore, NewRun, RunCommit, RunStore, StoreFuture,
///     StoreMaintenance, delegate_store,
/// };
///
/// struct Wrapper {
///     inner: InMemoryStore,
/// }
///
/// impl RunStore for Wrapper {
///     fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
///         self.inner.create_run(run, commit)
///     }
///
///     fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
///         self.inner.append_commit(commit)
///     }
///
///     delegate_store!(inner: RunStore);
/// }
///
/// impl LeaseStore for Wrapper {
///     delegate_store!(inner: LeaseStore);
/// }
///
/// impl ContentStore for Wrapper {
///     delegate_store!(inner: ContentStore);
/// }
///
/// impl StoreMaintenance for Wrapper {
///     delegate_store!(inner: StoreMaintenance);
/// }
/// ```
#[macro_export]
macro_rules! delegate_store {
    ($inner:ident: RunStore) => {
        fn load_head<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Option<$crate::RunHead>> {
            $crate::RunStore::load_head(&self.$inner, run)
        }

        fn load_run<'a>(
            &'a self,
            run: &'a $crate::RunId,
            at: Option<u64>,
        ) -> $crate::StoreFuture<'a, Option<$crate::LoadedRun>> {
            $crate::RunStore::load_run(&self.$inner, run, at)
        }

        fn read_log<'a>(
            &'a self,
            run: &'a $crate::RunId,
            after_version: u64,
            limit: usize,
        ) -> $crate::StoreFuture<'a, Vec<$crate::LogEntryRow>> {
            $crate::RunStore::read_log(&self.$inner, run, after_version, limit)
        }

        fn list_runs<'a>(
            &'a self,
            filter: &'a $crate::RunFilter,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunHead>> {
            $crate::RunStore::list_runs(&self.$inner, filter)
        }

        fn list_child_runs<'a>(
            &'a self,
            filter: &'a $crate::ChildRunFilter,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunHead>> {
            $crate::RunStore::list_child_runs(&self.$inner, filter)
        }

        fn load_search_terms<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Vec<String>> {
            $crate::RunStore::load_search_terms(&self.$inner, run)
        }

        fn read_run_stats<'a>(
            &'a self,
            filter: &'a $crate::RunStatsFilter,
        ) -> $crate::StoreFuture<'a, $crate::RunStats> {
            $crate::RunStore::read_run_stats(&self.$inner, filter)
        }

        fn list_waits<'a>(
            &'a self,
            filter: &'a $crate::WaitFilter,
        ) -> $crate::StoreFuture<'a, Vec<$crate::WaitRow>> {
            $crate::RunStore::list_waits(&self.$inner, filter)
        }

        fn list_actions<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Vec<$crate::ActionRow>> {
            $crate::RunStore::list_actions(&self.$inner, run)
        }

        fn find_key_version<'a>(
            &'a self,
            run: &'a $crate::RunId,
            key: &'a str,
        ) -> $crate::StoreFuture<'a, Option<u64>> {
            $crate::RunStore::find_key_version(&self.$inner, run, key)
        }

        fn list_keys<'a>(
            &'a self,
            run: &'a $crate::RunId,
        ) -> $crate::StoreFuture<'a, Vec<(String, u64)>> {
            $crate::RunStore::list_keys(&self.$inner, run)
        }

        fn resolve_run_id<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            prefix: &'a str,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunId>> {
            $crate::RunStore::resolve_run_id(&self.$inner, tenant, prefix)
        }
    };
    ($inner:ident: LeaseStore) => {
        fn acquire_due_runs<'a>(
            &'a self,
            taking: &'a $crate::DueRunsRequest,
        ) -> $crate::StoreFuture<'a, Vec<$crate::Lease>> {
            $crate::LeaseStore::acquire_due_runs(&self.$inner, taking)
        }

        fn acquire_lease<'a>(
            &'a self,
            run: &'a $crate::RunId,
            worker: &'a str,
            now: i64,
            until: i64,
        ) -> $crate::StoreFuture<'a, Option<$crate::Lease>> {
            $crate::LeaseStore::acquire_lease(&self.$inner, run, worker, now, until)
        }

        fn release_lease<'a>(&'a self, lease: &'a $crate::Lease) -> $crate::StoreFuture<'a, ()> {
            $crate::LeaseStore::release_lease(&self.$inner, lease)
        }

        fn expire_lease<'a>(&'a self, lease: &'a $crate::Lease) -> $crate::StoreFuture<'a, ()> {
            $crate::LeaseStore::expire_lease(&self.$inner, lease)
        }

        fn list_parked_runs<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            now: i64,
            limit: usize,
        ) -> $crate::StoreFuture<'a, Vec<$crate::RunHead>> {
            $crate::LeaseStore::list_parked_runs(&self.$inner, tenant, now, limit)
        }

        fn unpark_run<'a>(
            &'a self,
            run: &'a $crate::RunId,
            now: i64,
        ) -> $crate::StoreFuture<'a, bool> {
            $crate::LeaseStore::unpark_run(&self.$inner, run, now)
        }

        fn suspend_run<'a>(
            &'a self,
            lease: &'a $crate::Lease,
            version: u64,
            wake_at: Option<i64>,
        ) -> $crate::StoreFuture<'a, bool> {
            $crate::LeaseStore::suspend_run(&self.$inner, lease, version, wake_at)
        }

        fn list_leases(
            &self,
            now: i64,
            limit: usize,
        ) -> $crate::StoreFuture<'_, Vec<$crate::Lease>> {
            $crate::LeaseStore::list_leases(&self.$inner, now, limit)
        }

        fn record_heartbeat<'a>(
            &'a self,
            worker: &'a $crate::WorkerInfo,
            now: i64,
            until: i64,
        ) -> $crate::StoreFuture<'a, ()> {
            $crate::LeaseStore::record_heartbeat(&self.$inner, worker, now, until)
        }

        fn remove_worker<'a>(&'a self, name: &'a str) -> $crate::StoreFuture<'a, ()> {
            $crate::LeaseStore::remove_worker(&self.$inner, name)
        }

        fn list_workers(&self, now: i64) -> $crate::StoreFuture<'_, Vec<$crate::WorkerRow>> {
            $crate::LeaseStore::list_workers(&self.$inner, now)
        }

        fn subscribe_wakes(&self) -> $crate::WakeListener {
            $crate::LeaseStore::subscribe_wakes(&self.$inner)
        }
    };
    ($inner:ident: ContentStore) => {
        fn put_blob<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            blob: $crate::Blob,
        ) -> $crate::StoreFuture<'a, ()> {
            $crate::ContentStore::put_blob(&self.$inner, tenant, blob)
        }

        fn load_blob<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            digest: &'a str,
        ) -> $crate::StoreFuture<'a, Option<Vec<u8>>> {
            $crate::ContentStore::load_blob(&self.$inner, tenant, digest)
        }

        fn put_protocol<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            digest: &'a str,
            text: &'a str,
        ) -> $crate::StoreFuture<'a, ()> {
            $crate::ContentStore::put_protocol(&self.$inner, tenant, digest, text)
        }

        fn load_protocol<'a>(
            &'a self,
            tenant: &'a $crate::TenantId,
            digest: &'a str,
        ) -> $crate::StoreFuture<'a, Option<String>> {
            $crate::ContentStore::load_protocol(&self.$inner, tenant, digest)
        }
    };
    ($inner:ident: StoreMaintenance) => {
        fn list_tenants(&self) -> $crate::StoreFuture<'_, Vec<$crate::TenantId>> {
            $crate::StoreMaintenance::list_tenants(&self.$inner)
        }

        fn read_watermark(&self) -> $crate::StoreFuture<'_, $crate::StoreWatermark> {
            $crate::StoreMaintenance::read_watermark(&self.$inner)
        }

        fn prune_run<'a>(
            &'a self,
            pruning: &'a $crate::PruneRequest,
        ) -> $crate::StoreFuture<'a, $crate::PruneStats> {
            $crate::StoreMaintenance::prune_run(&self.$inner, pruning)
        }

        fn check_ready(&self) -> $crate::StoreFuture<'_, ()> {
            $crate::StoreMaintenance::check_ready(&self.$inner)
        }
    };
}
