//! The tables: complete, the seed's where the seed has them, and one with what they speak of.

use std::collections::BTreeSet;

use countersign_shipped_contracts::answer::GuardianAction;
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::{Value, json};

use super::protocol::{TYPES, WORKFLOW, ask_question, read, shipped};

/// A table of the policy, as runs have it.
fn table(name: &str) -> Value {
    ask_question(&shipped(), "Hello!").document["policy"][name].clone()
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn evidence_is_ruled_as_the_seeds_table_has_it() {
    let types = table("types");
    for (request_type, allowed, required, forbidden) in [
        ("STATUS_METRIC", json!(["db"]), json!(["db"]), json!(["doc"])),
        ("STATUS_SUMMARY", json!(["db"]), json!(["db"]), json!(["doc"])),
        ("STATUS_LIST", json!(["db"]), json!(["db"]), json!(["doc"])),
        ("HOWTO_POLICY", json!(["policy", "doc"]), json!([]), json!([])),
        ("DESIGN_ARCH", json!(["doc", "policy"]), json!([]), json!([])),
        ("DATA_DEFINITION", json!(["policy", "doc"]), json!([]), json!([])),
        ("TROUBLESHOOTING", json!(["db", "neo4j"]), json!([]), json!([])),
        ("KNOWLEDGE_QA", json!(["doc", "neo4j"]), json!([]), json!([])),
        ("CASUAL", json!([]), json!([]), json!([])),
    ] {
        let found = &types[request_type];
        assert_eq!(found["allowed"], allowed, "{request_type}");
        assert_eq!(found["required"], required, "{request_type}");
        assert_eq!(found["forbidden"], forbidden, "{request_type}");
        let (allowed, forbidden) = (names(&found["allowed"]), names(&found["forbidden"]));
        assert!(allowed.is_disjoint(&forbidden), "{request_type}");
        assert!(names(&found["any_of"]).is_subset(&allowed), "{request_type}");
    }
    assert_eq!(types.as_object().unwrap().len(), TYPES.len());
}

#[test]
fn sections_and_terms_exist_for_every_type_in_both_languages() {
    let (sections, terms) = (table("sections"), table("terms"));
    for language in ["en", "ko"] {
        for request_type in TYPES {
            let of_type = names(&sections[language][request_type]).len();
            assert!((1..=8).contains(&of_type), "{language} {request_type}");
            assert!(terms[language][request_type].is_array(), "{language} {request_type}");
        }
    }
}

#[test]
fn every_action_of_the_closed_list_has_one_stage() {
    let all: BTreeSet<String> = GuardianAction::ALL
        .iter()
        .map(|action| serde_json::to_value(action).unwrap().as_str().unwrap().to_owned())
        .collect();
    let actions = table("actions");
    let staged: Vec<&str> =
        actions.as_object().unwrap().values().flat_map(|stage| names(stage)).collect();
    assert_eq!(staged.len(), all.len(), "none stands under two stages");
    assert_eq!(staged.iter().map(|one| (*one).to_owned()).collect::<BTreeSet<_>>(), all);
    let schema = read("contracts/answer_state.schema.json");
    let found = names(&schema["$defs"]["Finding"]["properties"]["action"]["enum"]).len();
    assert_eq!(found, all.len());
}

#[test]
fn queries_that_may_be_chosen_are_those_that_are_declared() {
    let index = read("index.yaml");
    let queries = table("queries");
    for source in ["db", "neo4j"] {
        let declared = index["policy"]["sources"][source]["queries"].as_object().unwrap();
        let declared: BTreeSet<&str> = declared.keys().map(String::as_str).collect();
        assert_eq!(names(&queries[source]), declared, "{source}");
        for (request_type, of_type) in table("types").as_object().unwrap() {
            let chosen = names(&of_type["queries"][source]);
            assert!(chosen.is_subset(&declared), "{request_type} {source}");
            let allowed = names(&of_type["allowed"]).contains(source);
            assert_eq!(allowed, !chosen.is_empty(), "{request_type} {source}");
        }
    }
}

#[test]
fn stages_leave_what_the_seeds_contracts_describe() {
    let schema = read("contracts/answer_state.schema.json");
    let registry = load_shipped_contracts();
    let chat = registry.get("chat_state").unwrap().schema.source();
    for name in ["AnalystPlan", "ArchitectSpec", "GuardianReport", "EvidenceItem"] {
        assert_eq!(schema["$defs"][name], chat["$defs"][name], "{name}");
    }
    let fields = |schema: &Value| -> BTreeSet<String> {
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    assert!(fields(chat).is_subset(&fields(&schema)), "every field of the seed's state is there");
}

#[test]
fn free_text_of_models_stands_in_the_draft_and_the_final_answer_alone() {
    let workflow = read(super::protocol::WORKFLOW);
    for phase in workflow["phases"].as_array().unwrap() {
        let writes = phase["writes"].as_array().map_or(&[][..], Vec::as_slice);
        let writes: Vec<&str> = writes.iter().map(|one| one.as_str().unwrap()).collect();
        let id = phase["id"].as_str().unwrap();
        assert!(phase.get("agent").is_none() || !writes.is_empty(), "{id} says what it writes");
        assert_eq!(writes.contains(&"/draft_answer"), id == "draft", "{id}");
        for engine_or_way in
            ["/final_answer", "/notice", "/outcome", "/findings", "/policy", "/retry_count"]
        {
            assert!(!writes.contains(&engine_or_way), "{id} writes {engine_or_way}");
        }
    }
    // What a stage leaves beside is held by a contract whose lists are closed or whose texts are data.
    let schema = read("contracts/answer_state.schema.json");
    let open: BTreeSet<&str> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, field)| field["type"] == "string")
        .map(|(name, _)| name.as_str())
        .filter(|name| {
            !["user_query", "trace_id", "track", "route_reason", "notice"].contains(name)
        })
        .collect();
    assert_eq!(open, BTreeSet::from(["draft_answer", "final_answer"]));
}

/// The rules in words are the same in number in both languages, and every prompt of a role that they
/// judge shows those that judge it.
#[test]
fn the_rules_of_the_guardian_are_shown_to_those_they_judge() {
    let rules = table("rules");
    for part in ["evidence", "any", "fast", "quality", "status"] {
        let count = |language: &str| rules[language][part].as_array().unwrap().len();
        assert_eq!(count("en"), count("ko"), "{part}");
    }
    let workflow = read(WORKFLOW);
    for (phase, parts) in [
        ("analyst", &["evidence"][..]),
        ("lookup", &["evidence"]),
        ("architect", &["quality"]),
        ("draft", &["any", "fast", "quality", "status"]),
    ] {
        let phases = workflow["phases"].as_array().unwrap();
        let found = phases.iter().find(|one| one["id"] == phase).unwrap();
        for language in ["en", "ko"] {
            let prompt = found["prompt"][language].as_str().unwrap();
            for part in parts {
                let shown = format!("state.policy.rules.{language}.{part}");
                assert!(prompt.contains(&shown), "{phase} {language}: {shown}");
            }
        }
    }
}
