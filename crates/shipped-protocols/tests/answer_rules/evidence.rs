//! How much evidence is enough: the mean of the confidence, and how many sources must agree.

use countersign_contract::expr::Expr;
use serde_json::{Value, json};

use super::protocol::{TYPES, WORKFLOW, ask_question, read, shipped};

/// When the guardian's rules find this, as the workflow has it.
fn finds(rule: &str) -> Expr {
    let workflow = read(WORKFLOW);
    let ways = workflow["transitions"].as_array().unwrap();
    let way = ways.iter().find(|way| way["from"] == "draft" && way["to"] == "rules").unwrap();
    let changes = way["apply"].as_array().unwrap();
    let named = format!("rule: '{rule}'");
    let is_named = |change: &&Value| {
        change["append"]["value"].as_str().is_some_and(|value| value.contains(&named))
    };
    let change = changes.iter().find(is_named).unwrap();
    Expr::compile(change["when"].as_str().unwrap(), &["state"]).unwrap()
}

/// The policy that ships.
fn policy() -> Value {
    ask_question(&shipped(), "Hello!").document["policy"].clone()
}

/// A state with evidence by source and confidence.
fn state(policy: &Value, request_type: &str, evidence: &[(&str, f64)]) -> Value {
    let evidence: Vec<Value> = evidence
        .iter()
        .map(|(source, confidence)| json!({ "source": source, "confidence": confidence }))
        .collect();
    json!({ "policy": policy, "request_type": request_type, "evidence": evidence, "gaps": [] })
}

#[test]
fn the_mean_of_the_confidence_is_bounded_below_and_the_bound_is_enough() {
    let (wanting, policy) = (finds("evidence.confidence"), policy());
    let found = |confidence: &[f64]| {
        let evidence: Vec<(&str, f64)> = confidence.iter().map(|one| ("db", *one)).collect();
        wanting.eval_bool(&[Some(&state(&policy, "STATUS_METRIC", &evidence))]).unwrap()
    };
    for (confidence, expected) in [
        (&[0.6][..], false),
        (&[0.599], true),
        (&[0.601], false),
        (&[1.0], false),
        (&[0.0], true),
        (&[0.5, 0.7], false),
        (&[0.5, 0.699], true),
        (&[0.9, 0.3, 0.6], false),
        // No evidence at all is another rule's finding.
        (&[], false),
    ] {
        assert_eq!(found(confidence), expected, "{confidence:?}");
    }
    // Sums of tenths are not exact, and the bound holds for any number of pieces.
    for pieces in 1..=200 {
        assert!(!found(&vec![0.6; pieces]), "{pieces} pieces of 0.6");
        assert!(found(&vec![0.599; pieces]), "{pieces} pieces of 0.599");
    }
}

#[test]
fn as_many_sources_as_the_type_allows_and_two_at_most_must_agree() {
    let (wanting, policy) = (finds("evidence.diversity"), policy());
    for request_type in TYPES {
        let allowed = policy["types"][request_type]["allowed"].as_array().unwrap();
        let allowed: Vec<&str> = allowed.iter().map(|one| one.as_str().unwrap()).collect();
        for count in 0..=allowed.len() {
            let evidence: Vec<(&str, f64)> =
                allowed[..count].iter().flat_map(|one| [(*one, 0.9), (*one, 0.8)]).collect();
            let mut state = state(&policy, request_type, &evidence);
            let found = |state: &Value| wanting.eval_bool(&[Some(state)]).unwrap();
            assert_eq!(found(&state), count < allowed.len().min(2), "{request_type} {count}");
            // What cannot be asked is not asked for; what merely found nothing is.
            let rest = &allowed[count..];
            for (code, expected) in
                [("not_configured", false), ("not_allowed", false), ("nothing_found", true)]
            {
                let gaps: Vec<Value> =
                    rest.iter().map(|source| json!({ "source": source, "code": code })).collect();
                state["gaps"] = json!(gaps);
                let expected = expected && count < allowed.len().min(2);
                assert_eq!(found(&state), expected, "{request_type} {count} {code}");
            }
            state["gaps"] = json!([]);
            state["set_aside"] = json!(rest);
            assert!(!found(&state), "{request_type} {count}, the rest set aside");
        }
    }
}
