//! The contract of the document: what a model says cannot outweigh what the rules found.

use countersign_contract::reply::{AdmissionVerdict, RuleContext};
use countersign_protocol::Protocol;
use serde_json::{Value, json};

use super::protocol::{ask_question, shipped};

/// A document that has come to its answer.
fn answered(protocol: &Protocol) -> Value {
    let mut document =
        (*ask_question(protocol, "How many tasks of ATLAS are late?").document).clone();
    let more = json!({
        "analyst_plan": {
            "intent": "count", "request_type": "STATUS_METRIC", "track": "QUALITY",
            "required_sources": ["db"], "missing_info_questions": ["Which project?"],
            "expected_output_schema": "answer_v1_markdown",
        },
        "architect_spec": {
            "response_format": "markdown", "domain_terms": [], "forbidden_content": ["guesses"],
            "required_sections": ["Answer"],
        },
        "evidence": [{ "source": "db", "ref": "q", "snippet": "late: 1", "confidence": 0.9 }],
        "draft_answer": "## Answer\n1 task is late [1].",
        "guardian": { "verdict": "PASS", "reasons": [], "required_actions": [], "risk_level": "low" },
        "final_answer": "## Answer\n1 task is late [1].",
        "outcome": "ANSWERED",
    });
    for (name, value) in more.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
}

/// The rules that a change of that document breaks.
fn broken(change: impl Fn(&mut Value)) -> Vec<String> {
    let protocol = shipped();
    let mut document = answered(&protocol);
    change(&mut document);
    let contract = protocol.document.contract.as_ref().unwrap();
    let context = RuleContext { state: None, run: None, new: None };
    match contract.admit_value(&document, &context) {
        AdmissionVerdict::Accepted(_) => Vec::new(),
        AdmissionVerdict::Refused(violations) => {
            violations.iter().map(|violation| violation.code.to_string()).collect()
        }
    }
}

#[test]
fn a_pass_of_the_model_does_not_outweigh_a_rule() {
    assert_eq!(broken(|_| {}), [] as [String; 0]);
    let finding = json!({ "check": "contract", "rule": "contract.numbers", "action": "ADD_EVIDENCE_REFERENCES", "detail": ["7"] });
    assert_eq!(
        broken(|document| document["findings"] = json!([finding])),
        ["rule:rules_outweigh_the_model"]
    );
}

#[test]
fn no_final_answer_without_pass_and_no_other_than_the_draft() {
    for verdict in ["RETRY", "FAIL"] {
        let found = broken(|document| document["guardian"]["verdict"] = json!(verdict));
        assert_eq!(found, ["rule:final_answer_needs_pass"], "{verdict}");
    }
    let found = broken(|document| document["final_answer"] = json!("Something else."));
    assert_eq!(found, ["rule:final_answer_is_the_draft"]);
    let found = broken(|document| document["outcome"] = json!("SAFE_REFUSAL"));
    assert_eq!(found, ["rule:answered_or_noticed"]);
}

#[test]
fn no_stage_leaves_its_result_without_the_one_before() {
    let without = |name: &'static str| {
        broken(move |document| drop(document.as_object_mut().unwrap().remove(name)))
    };
    assert_eq!(without("analyst_plan"), ["rule:evidence_needs_plan"]);
    assert_eq!(without("architect_spec"), ["rule:draft_needs_spec"]);
    assert_eq!(without("guardian"), ["rule:final_answer_needs_pass"]);
}

#[test]
fn forbidden_evidence_never_gets_into_the_document() {
    let found = broken(|document| document["evidence"][0]["source"] = json!("doc"));
    assert_eq!(found, ["rule:forbidden_source_absent", "rule:status_without_doc_evidence"]);
}

#[test]
fn a_notice_is_no_free_text() {
    let noticed = |text: &'static str| {
        broken(move |document| {
            document.as_object_mut().unwrap().remove("final_answer");
            document["outcome"] = json!("ASK_MINIMAL_QUESTION");
            document["notice"] = json!(text);
        })
    };
    assert_eq!(noticed("Which project?"), [] as [String; 0]);
    assert_eq!(noticed("All is well, trust me."), ["rule:notice_is_declared"]);
}

#[test]
fn two_retries_are_all() {
    assert_eq!(broken(|document| document["retry_count"] = json!(3)), ["maximum"]);
}

#[test]
fn every_end_says_which_run_how_long_by_which_way_and_after_how_many_retries() {
    for name in ["trace_id", "route_reason"] {
        let found = broken(|document| drop(document.as_object_mut().unwrap().remove(name)));
        assert_eq!(found, ["rule:end_gives_account"], "{name}");
    }
    // The schema wants these from the beginning, so the rule is not reached.
    for name in ["timings_ms", "retry_count"] {
        let found = broken(|document| drop(document.as_object_mut().unwrap().remove(name)));
        assert_eq!(found, ["required"], "{name}");
    }
}

#[test]
fn a_source_that_is_set_aside_stays_out() {
    assert_eq!(
        broken(|document| document["set_aside"] = json!(["db"])),
        ["rule:set_aside_stays_out"]
    );
}

#[test]
fn nothing_is_answered_without_evidence_but_small_talk() {
    let rule = ["rule:answer_rests_on_evidence"];
    assert_eq!(broken(|document| document["evidence"] = json!([])), rule);
    let small_talk = |document: &mut Value| {
        document["evidence"] = json!([]);
        document["request_type"] = json!("CASUAL");
    };
    assert_eq!(broken(small_talk), [] as [String; 0]);
}

#[test]
fn the_user_is_asked_as_often_as_the_policy_says() {
    let asked = json!({ "asked_by": "analyst", "question": "Which?", "answer": "That." });
    let often = |times: usize| {
        broken(|document| document["clarifications"] = json!(vec![asked.clone(); times]))
    };
    assert_eq!(often(2), [] as [String; 0]);
    assert_eq!(often(3), ["rule:questions_are_limited"]);
}
