//! The test suite that every store must pass: one list of cases, which
//! [`store_suite!`](crate::store_suite) expands to one test each, and which [`run_store_suite`] runs
//! in a program. It uses only the trait; tests of behavior that is specific to one store are next
//! to that store.
//!
//! ```text
//! countersign_store::store_suite!(memory, (Arc::new(InMemoryStore::new()) as Arc<dyn Store>, ()));
//! ```

#![expect(clippy::unwrap_used, reason = "a case that cannot go on has failed")]
#![expect(missing_docs, reason = "the name of a case is its sentence")]
#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]

pub mod sample;
pub mod commits;
pub mod refusals;
pub mod logs;
pub mod lists;
pub mod searches;
pub mod leases;
pub mod workers;
pub mod parking;
pub mod tenants;
pub mod crowds;
pub mod pruning;

use std::sync::Arc;

use crate::Store;

/// What became of one case of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCaseResult {
    /// Name of the case, which says what must hold.
    pub name: &'static str,
    /// The message of the failed assertion; `None` if the case passed.
    pub failure: Option<String>,
}

/// Runs every case, each over a new and empty store that `open` returns, and returns the results in
/// the order of the suite. Needs a multi-threaded tokio runtime: some cases write concurrently.
pub async fn run_store_suite(open: impl Fn() -> Arc<dyn Store>) -> Vec<StoreCaseResult> {
    let mut results = Vec::new();
    crate::store_suite! { @list run (results open) }
    results
}

/// Runs one case in a task of its own, so that a panic becomes a result.
async fn run_case(
    name: &'static str,
    case: impl Future<Output = ()> + Send + 'static,
) -> StoreCaseResult {
    let failure = tokio::spawn(case).await.err().map(|error| match error.try_into_panic() {
        Ok(panic) => match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (None, Some(text)) => (*text).to_owned(),
            (None, None) => "the case panicked".to_owned(),
        },
        Err(error) => error.to_string(),
    });
    StoreCaseResult { name, failure }
}

/// Expands to a module with a `#[tokio::test]` for each case.
///
/// The macro evaluates the expression once per case. It must return a pair: an empty store as
/// `Arc<dyn Store>`, and a value that must live as long as the store.
#[macro_export]
macro_rules! store_suite {
    ($name:ident, $open:expr) => {
        mod $name {
            use super::*;

            $crate::store_suite! { @list tests ($open) }
        }
    };
    (@list $expand:ident ($($arguments:tt)*)) => {
        $crate::store_suite! { @$expand ($($arguments)*)
            commits::a_commit_is_kept_whole,
            commits::a_run_begins_once,
            commits::a_conflict_leaves_nothing,
            commits::a_missing_run_is_told,
            commits::a_key_is_taken_once,
            commits::the_key_of_a_creation_is_taken_once,
            refusals::what_contradicts_itself_is_refused_whole,
            refusals::an_id_in_use_is_refused_whole,
            refusals::a_gap_in_the_log_is_refused,
            refusals::names_are_not_empty,
            logs::entries_come_back_byte_for_byte,
            logs::pages_of_the_log_join,
            logs::every_version_loads_as_its_prefix,
            logs::the_newest_snapshot_that_fits_is_chosen,
            logs::large_bodies_come_back,
            logs::blobs_and_protocols_are_kept_once,
            lists::runs_come_newest_first,
            lists::runs_are_filtered,
            lists::waits_come_by_deadline,
            lists::waits_are_filtered,
            lists::a_closed_wait_is_gone,
            lists::actions_are_outstanding_in_order,
            lists::finishing_what_is_not_there_is_no_fault,
            lists::short_ids_are_resolved,
            searches::the_head_keeps_what_lists_show,
            searches::runs_are_found_by_all_words,
            searches::a_change_of_words_replaces_them,
            searches::periods_versions_and_starters_filter,
            searches::children_come_by_parent,
            searches::statistics_sum_up_a_period,
            searches::absurd_words_are_refused,
            searches::a_pruned_run_is_not_found,
            leases::a_lease_is_taken_renewed_and_over,
            leases::a_released_lease_is_free,
            leases::a_late_worker_is_fenced,
            leases::a_commit_renews_its_lease,
            leases::a_lease_needs_a_run_a_worker_and_a_future,
            workers::due_is_what_must_wake_and_nobody_holds,
            workers::a_dead_workers_runs_are_taken_when_its_leases_are_over,
            workers::a_run_that_only_waits_is_never_due,
            workers::what_rests_is_due_when_it_says,
            workers::what_came_meanwhile_is_not_put_to_rest,
            workers::a_run_keeps_its_place_while_it_goes_on,
            workers::tenants_are_served_in_turn,
            workers::a_tenant_has_no_more_than_its_share,
            workers::what_is_held_is_told,
            workers::workers_come_and_go,
            workers::who_listens_hears_of_what_is_due,
            workers::no_run_is_taken_by_two,
            parking::a_run_is_parked_when_three_workers_ended_on_it,
            parking::progress_forgets_the_workers_that_ended,
            parking::a_worker_that_gives_a_run_back_has_not_ended_on_it,
            parking::a_holder_that_is_known_to_have_ended_counts_at_once,
            tenants::tenants_never_see_each_other,
            crowds::one_writer_wins_each_version,
            crowds::many_runs_go_on_at_once,
            crowds::one_worker_wins_a_lease,
            pruning::a_pruned_run_keeps_its_hashes_and_its_seal,
            pruning::what_is_elsewhere_or_absurd_is_not_pruned,
            pruning::bytes_go_unless_somebody_has_named_them_since,
        }
    };
    (@run ($results:ident $open:ident) $($group:ident :: $case:ident),* $(,)?) => {
        $($results.push(run_case(stringify!($case), $group::$case($open())).await);)*
    };
    (@tests ($open:expr) $($group:ident :: $case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                let (store, _kept) = $open;
                $crate::suite::$group::$case(store).await;
            }
        )*

        /// Checks that the list contains every case of the suite.
        #[test]
        fn no_case_is_left_out() {
            $crate::suite::sample::assert_all_cases_listed(&[$(stringify!($case)),*]);
        }
    };
}
