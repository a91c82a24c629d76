//! The specification's own three tests of role outputs, as they are written there.

use countersign_contract::reply::RuleContext;
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::{Value, json};

/// What the specification calls `validate_role_output`: whether it is good, and the errors.
fn validate_role_output(role: &str, output: &Value) -> (bool, Vec<String>) {
    let contract = match role {
        "ANALYST" => "analyst_plan",
        "ARCHITECT" => "architect_spec",
        _ => "guardian_report",
    };
    let registry = load_shipped_contracts();
    let contract = registry.get(contract).expect("it ships");
    let verdict = contract.admit_value(output, &RuleContext::default());
    let errors: Vec<String> = verdict.violations().iter().map(ToString::to_string).collect();
    (verdict.as_accepted().is_some(), errors)
}

#[test]
fn analyst_plan_valid() {
    let (ok, errors) = validate_role_output(
        "ANALYST",
        &json!({
            "intent": "design doc generation",
            "request_type": "DESIGN_ARCH",
            "track": "QUALITY",
            "required_sources": ["doc", "policy"],
            "missing_info_questions": [],
            "expected_output_schema": "answer_v1_markdown",
        }),
    );
    assert!(ok);
    assert_eq!(errors, [""; 0]);
}

#[test]
fn analyst_plan_too_many_questions() {
    let (ok, errors) = validate_role_output(
        "ANALYST",
        &json!({
            "intent": "x",
            "request_type": "KNOWLEDGE_QA",
            "track": "FAST",
            "required_sources": [],
            "missing_info_questions": ["q1", "q2"],
            "expected_output_schema": "answer_v1_markdown",
        }),
    );
    assert!(!ok);
    assert!(errors.iter().any(|error| error.contains("missing_info_questions")), "{errors:?}");
}

#[test]
fn guardian_pass_with_actions_invalid() {
    let (ok, _) = validate_role_output(
        "GUARDIAN",
        &json!({
            "verdict": "PASS",
            "reasons": [],
            "required_actions": ["RETRIEVE_DB"],
            "risk_level": "low",
        }),
    );
    assert!(!ok);
}
