//! The interview, as stories: what people and models say, and everything that is then true.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

mod stories;

use std::collections::BTreeMap;
use std::path::Path;

use countersign_protocol::load_protocol;
use countersign_run::{InputKind, PendingAction, RunInput, RunStart, RunState, Timestamp, decide};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_protocols::find_shipped_protocol;
use serde_json::{Value, json};

stories::stories!("intake", again a_short_interview_hands_over:
    a_blocker_is_a_veto,
    a_changed_plan_is_not_taken,
    a_clause_rests_on_facts,
    a_detected_conflict_is_a_veto,
    a_document_is_drafted_and_exported,
    a_document_is_drafted_in_russian,
    a_draft_survives_restarts,
    a_frozen_outline_stays,
    a_halt_waits_for_a_person,
    a_merge_patch_deletes_by_null,
    a_person_halts_and_resumes,
    a_person_takes_the_place_of_the_model,
    a_provider_that_is_away_is_asked_again,
    a_refused_step_leaves_nothing,
    a_run_in_russian_asks_in_russian,
    a_run_without_a_task_asks_for_it,
    a_russian_draft_is_attacked_and_interrupted,
    a_short_interview_hands_over,
    a_verdict_that_is_not_written_does_not_count,
    an_answer_is_one_of_the_choices,
    an_issue_that_does_not_fit_is_refused,
    an_open_critical_issue_is_a_veto,
    an_outline_needs_facts_that_exist,
    an_outline_that_fails_is_told,
    an_unconfirmed_assumption_is_a_veto,
    another_locale_is_not_taken,
    assumptions_may_be_let_through,
    closing_an_unknown_issue_is_refused,
    evidence_must_resolve,
    gate_check_writes_the_gate_only,
    interpret_cannot_add_outside_domain,
    interpret_cannot_copy_from_outside,
    interpret_cannot_copy_outside_domain,
    interpret_cannot_go_straight_to_the_skeleton,
    interpret_cannot_merge_outside_domain,
    interpret_cannot_move_outside_domain,
    interpret_cannot_remove_outside_domain,
    interpret_cannot_replace_outside_domain,
    interpret_cannot_test_alone_outside_domain,
    interpret_cannot_test_outside_domain,
    issues_are_found_by_id_then_by_key,
    limits_beyond_the_contract_are_not_taken,
    nobody_answers_for_a_month,
    nonsense_is_refused_and_sense_is_taken,
    old_turns_leave_and_cited_ones_stay,
    questions_are_limited,
    reviews_are_limited,
    steps_are_limited,
    the_gate_closes_no_issue,
    the_gate_makes_no_issue_lighter,
    the_gravest_veto_is_asked_about_first,
    the_interview_is_held_in_russian,
    the_interview_survives_restarts,
    the_model_s_own_doubt_goes_to_the_gate,
    the_same_question_is_known_in_chinese,
    the_same_question_is_known_in_other_scripts,
    the_same_question_is_not_asked_twice,
);

/// The schema of the later stages has every field of the specification's, unchanged but for more
/// values of the stage.
#[test]
fn the_state_of_a_document_extends_that_of_the_interview() {
    let base = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shipped-contracts/schemas/pre_skeleton_state.schema.json");
    let base: Value = serde_json::from_str(&std::fs::read_to_string(base).unwrap()).unwrap();
    let bundle = find_shipped_protocol("intake").unwrap().to_bundle();
    let ours = &bundle.files["contracts/document_state.schema.json"];
    let mut ours: Value = serde_json::from_str(ours).unwrap();
    let stage = &mut ours["properties"]["meta"]["properties"]["stage"]["enum"];
    assert_eq!(stage[0], "pre_skeleton");
    *stage = json!(["pre_skeleton"]);
    for part in ["properties", "$defs"] {
        for (name, schema) in base[part].as_object().unwrap() {
            assert_eq!(&ours[part][name], schema, "{part}/{name}");
        }
    }
    for name in base["required"].as_array().unwrap() {
        assert!(ours["required"].as_array().unwrap().contains(name), "{name}");
    }
    assert_eq!(ours["additionalProperties"], base["additionalProperties"]);
}

/// What the page says may stand in the place of `invoke`, for whoever wants to be called.
#[test]
fn a_callback_may_take_the_place_of_the_outline() {
    let mut bundle = find_shipped_protocol("intake").unwrap().to_bundle();
    let workflow = bundle.files.get_mut("workflows/intake.yaml").unwrap();
    let from = workflow.find("    invoke:\n").unwrap();
    let to = from + workflow[from..].find("    writes: [/control/flags/skeleton]\n").unwrap();
    let called = "    do: { http: { url: \"https://example.org/ready\", body: state } }\n";
    workflow.replace_range(from..to, called);
    let index = bundle.files.get_mut("index.yaml").unwrap();
    *index = index.replace("policy:\n", "policy:\n  hosts: [example.org]\n");
    let loaded = load_protocol(bundle, &load_shipped_contracts())
        .unwrap_or_else(|faults| panic!("{faults:#?}"));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let replayed = runtime.block_on(stories::Again::of("intake", "a_short_interview_hands_over"));
    let mut state = RunState::new("r1");
    for what in replayed.inputs {
        let what = match what {
            InputKind::Start(start) => InputKind::Start(Box::new(RunStart {
                protocol: loaded.protocol.digest.clone(),
                ..*start
            })),
            other => other,
        };
        let time = Timestamp(1_768_996_800_000 + i64::try_from(state.version).unwrap() * 1_000);
        let input = RunInput {
            time,
            idempotency_key: None,
            sender: None,
            files: BTreeMap::new(),
            file_digests: BTreeMap::new(),
            payload: what,
        };
        state = decide(&loaded.protocol, &state, &input).unwrap().state;
        if state.phase == "ready" {
            break;
        }
    }
    let mut requested = state.pending.values().filter_map(|order| match order {
        PendingAction::Effect { effect, .. } => Some(serde_json::to_value(effect).unwrap()),
        _ => None,
    });
    let effect = requested.next().unwrap();
    assert_eq!(effect["url"], "https://example.org/ready");
    assert_eq!(effect["body"]["meta"]["status"], "ready");
    assert_eq!(effect["body"]["domain"], state.document["domain"]);
}
