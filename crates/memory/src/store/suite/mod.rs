//! The test suite that every memory must pass: one list of cases that
//! [`memory_suite!`](crate::memory_suite) expands to one test each. The cases use only the trait;
//! each backend has its own tests for what is specific to it.

#![expect(clippy::unwrap_used, reason = "a case that cannot go on has failed")]
#![expect(missing_docs, reason = "the name of a case is its sentence")]
#![expect(clippy::must_use_candidate, reason = "what a case makes, it uses")]

pub mod sample;
pub mod canaries;
pub mod event_cases;
pub mod states;
pub mod fact_cases;
pub mod candidate_cases;
pub mod finding;
pub mod similarity_cases;
pub mod build_cases;
pub mod packets;
pub mod sweeping;
pub mod ageing_cases;
pub mod export_import_cases;
pub mod forgetting;
pub mod isolation;

/// Expands to a module with a `#[tokio::test]` for each case.
///
/// The expression is evaluated for each case and returns a pair: an empty memory as `Arc<dyn
/// Memory>`, and a value that must live as long as the memory.
#[macro_export]
macro_rules! memory_suite {
    ($name:ident, $open:expr) => {
        mod $name {
            use super::*;

            $crate::memory_suite! { @cases $open,
                event_cases::the_same_event_twice_is_one,
                event_cases::another_event_under_the_same_id_is_refused,
                event_cases::events_get_places_in_their_session,
                event_cases::a_batch_is_kept_whole_or_not_at_all,
                event_cases::what_has_no_name_is_refused,
                event_cases::the_last_event_of_a_run_is_known,
                event_cases::a_session_is_read_in_its_order,
                states::one_of_two_writers_is_told,
                states::a_summary_is_kept_by_revision,
                states::states_belong_to_their_run_and_session,
                states::the_latest_state_of_a_run_is_read_alone,
                states::a_summary_is_made_of_what_is_new_and_what_it_kept,
                states::a_summary_is_made_without_unvalidated_insights,
                fact_cases::the_newer_fact_takes_the_place,
                fact_cases::a_fact_that_begins_later_leaves_the_present_alone,
                fact_cases::what_holds_for_a_while_lets_the_older_value_go_on,
                fact_cases::a_dispute_is_of_the_time_in_which_both_hold,
                fact_cases::what_was_so_before_can_be_so_again,
                fact_cases::a_fact_is_ended_by_saying_so,
                fact_cases::what_a_person_confirmed_stands_as_what_a_user_said,
                fact_cases::one_id_at_two_times_is_two_facts,
                fact_cases::an_unresolved_contradiction_is_disputed_until_confirmed,
                fact_cases::the_same_fact_again_adds_evidence,
                fact_cases::a_claim_must_show_the_words_it_rests_on,
                fact_cases::levels_are_held_apart_and_seen_together,
                fact_cases::others_do_not_see_the_words_behind_a_shared_fact,
                fact_cases::rows_change_by_revision,
                fact_cases::an_insight_is_learned_when_it_is_validated,
                candidate_cases::a_candidate_is_promoted_by_the_rules,
                candidate_cases::a_candidate_is_refused_and_says_why,
                candidate_cases::a_candidate_is_ruled_on_once,
                finding::events_are_found_in_every_script,
                finding::the_best_event_comes_first,
                finding::what_ends_with_its_run_is_seen_in_no_other,
                finding::what_is_over_is_not_found,
                finding::the_window_is_the_end_of_the_session,
                finding::what_rows_cite_is_there,
                finding::procedures_are_those_of_the_task,
                finding::procedures_of_other_tasks_crowd_none_out,
                finding::a_procedure_is_found_by_the_task_of_its_latest_revision,
                finding::many_events_are_ranked_alike_however_they_came,
                finding::what_happened_in_a_time_is_found_by_it,
                finding::episodes_of_a_time_are_found_behind_any_number_of_later_ones,
                similarity_cases::what_is_near_in_meaning_is_found_without_its_words,
                similarity_cases::what_is_near_and_says_the_same_crowds_nothing_out,
                similarity_cases::words_and_meaning_are_weighed,
                similarity_cases::no_more_vectors_are_read_than_allowed,
                similarity_cases::events_without_a_vector_are_known,
                similarity_cases::vectors_of_another_length_are_refused,
                similarity_cases::vectors_go_with_their_events,
                similarity_cases::a_build_needs_no_vector_again,
                build_cases::a_build_is_read_as_it_was_found,
                build_cases::a_build_whose_rows_are_gone_is_told,
                build_cases::the_same_build_twice_is_one,
                build_cases::the_build_before_is_of_the_same_session_and_purpose,
                packets::an_insight_of_another_run_is_kept_from_a_responder,
                packets::what_was_written_after_an_insight_is_kept_from_a_responder,
                packets::of_too_many_insights_the_newest_are_kept_back,
                packets::what_is_said_again_and_again_crowds_nothing_out,
                packets::how_far_was_read_on_is_told,
                packets::a_larger_budget_buys_more_quotes,
                packets::a_long_message_answers_with_the_piece_that_matches,
                packets::a_window_is_looked_up_where_a_policy_gives_one,
                sweeping::what_is_over_is_swept_with_its_index,
                sweeping::a_run_that_ends_takes_its_own,
                sweeping::an_insight_ends_as_its_latest_revision_says,
                sweeping::what_a_build_used_is_swept_only_when_that_is_said,
                sweeping::junk_is_counted_with_examples,
                ageing_cases::what_is_old_is_told_shorter_and_as_one,
                ageing_cases::a_build_of_before_is_composed_as_before,
                ageing_cases::whoever_is_forgotten_has_not_aged,
                export_import_cases::an_export_comes_back_as_it_was,
                export_import_cases::what_was_confirmed_and_what_has_times_comes_back,
                export_import_cases::what_comes_from_elsewhere_is_imported,
                export_import_cases::a_line_that_is_refused_holds_up_no_other,
                export_import_cases::what_is_there_is_newer_than_what_is_brought,
                export_import_cases::an_insight_imported_without_an_end_ends_with_its_run,
                forgetting::nothing_is_left_of_a_subject,
                forgetting::a_user_is_forgotten_with_every_agent,
                forgetting::what_was_forgotten_does_not_come_back,
                forgetting::others_and_their_evidence_stay,
                forgetting::what_only_the_forgotten_replaced_stands_again,
                forgetting::a_packet_that_was_under_way_brings_nothing_back,
                forgetting::packets_at_the_same_moment_bring_nothing_back,
                forgetting::those_who_still_contradict_each_other_do,
                forgetting::nobody_is_not_everybody,
                isolation::nothing_crosses_between_subjects,
                isolation::scores_know_nothing_of_others,
                isolation::rows_lie_where_their_scope_says,
            }
        }
    };
    (@cases $open:expr, $($group:ident :: $case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (memory, _kept) = $open;
                $crate::store::suite::$group::$case(memory).await;
            }
        )*

        /// Checks that the list contains every case of the suite.
        #[test]
        fn no_case_is_left_out() {
            $crate::store::suite::sample::assert_all_cases_listed(&[$(stringify!($case)),*]);
        }
    };
}
