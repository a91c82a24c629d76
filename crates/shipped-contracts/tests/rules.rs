//! Every rule of every shipped contract, by cases: `tests/rules/<id>.json`.
//!
//! `samples` are values the contract takes. Each of `cases` changes one of them, and exactly the
//! rules named in `refused_by` must refuse the result, `rule` at exactly `pointers`. Each of
//! `schema_refuses` breaks the schema. `state`, where a file has one, is what its rules read as such. A rule without a case, or a case without a rule, fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;

use countersign_contract::contract::{Contract, ContractRegistry};
use countersign_contract::reply::{AdmissionVerdict, RuleContext, Violation};
use countersign_shipped_contracts::answer::{ChatRequestType, GuardianAction};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;
use serde_json::Value;

#[test]
fn every_sample_is_accepted() {
    each_contract(|contract, file| {
        for (name, sample) in file["samples"].as_object().unwrap() {
            let refused = violations(contract, file, sample);
            assert!(refused.is_empty(), "{}: sample `{name}`: {refused:#?}", contract.id);
        }
    });
}

#[test]
fn every_case_is_refused_by_its_rules() {
    each_contract(|contract, file| {
        for case in file["cases"].as_array().unwrap() {
            let refused = violations(contract, file, &changed(file, case));
            let codes: BTreeSet<_> =
                refused.iter().map(|violation| violation.code.to_string()).collect();
            let expected = texts(&case["refused_by"]).map(|rule| format!("rule:{rule}")).collect();
            assert_eq!(codes, expected, "{}: {case:#}", contract.id);

            let rule = format!("rule:{}", case["rule"].as_str().unwrap());
            let own = refused.iter().filter(|violation| violation.code.to_string() == rule);
            let pointers: Vec<_> = own.map(|violation| violation.pointer.as_str()).collect();
            assert_eq!(
                pointers,
                texts(&case["pointers"]).collect::<Vec<_>>(),
                "{}: {case:#}",
                contract.id
            );
        }
    });
}

#[test]
fn every_rule_has_a_case() {
    each_contract(|contract, file| {
        let rules: BTreeSet<_> = contract.rules.iter().map(|rule| rule.id.as_str()).collect();
        let cases = file["cases"].as_array().unwrap();
        let covered = cases.iter().map(|case| case["rule"].as_str().unwrap()).collect();
        assert_eq!(rules, covered, "{}", contract.id);
    });
}

#[test]
fn every_break_of_the_schema_is_named() {
    each_contract(|contract, file| {
        for case in file["schema_refuses"].as_array().unwrap() {
            let refused = violations(contract, file, &changed(file, case));
            let named = refused.iter().any(|violation| {
                case["code"] == violation.code.to_string() && case["pointer"] == violation.pointer
            });
            assert!(named, "{}: {case:#}: {refused:#?}", contract.id);
        }
    });
}

/// What a rule lists, what it says, and what the types list are three writings of one thing.
#[test]
fn the_closed_lists_are_those_of_the_types() {
    let requests = ChatRequestType::ALL.map(|kind| serde_json::to_value(kind).unwrap());
    let actions = GuardianAction::ALL.map(|action| serde_json::to_value(action).unwrap());
    let lists = [
        ("analyst_plan", "request_type_known", &requests[..]),
        ("chat_state", "request_type_known", &requests[..]),
        ("chat_state", "planned_request_type_known", &requests[..]),
        ("guardian_report", "action_known", &actions[..]),
    ];
    let registry = load_shipped_contracts();
    for (id, rule, names) in lists {
        let contract = registry.get(id).unwrap();
        let rule = contract.rules.iter().find(|other| other.id == rule).unwrap();
        let (listed, _) = rule.then.source().split_once(".includes(").unwrap();
        let listed: Vec<Value> = serde_json::from_str(&listed.replace('\'', "\"")).unwrap();
        assert_eq!(listed, names, "{id}: {}", rule.id);
        if let Some((_, said)) =
            rule.says.split_once("is one of ").filter(|(_, said)| said.contains(','))
        {
            assert_eq!(
                said.split(", ").map(Value::from).collect::<Vec<_>>(),
                names,
                "{id}: {}",
                rule.id
            );
        }
    }
}

fn each_contract(check: impl Fn(&Contract, &Value)) {
    let registry: ContractRegistry = load_shipped_contracts();
    for shipped in SHIPPED_CONTRACTS {
        let contract = registry.get(shipped.id).expect("every shipped contract is registered");
        let path = format!("{}/tests/rules/{}.json", env!("CARGO_MANIFEST_DIR"), shipped.id);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        check(contract, &serde_json::from_str(&text).unwrap());
    }
}

fn violations(contract: &Contract, file: &Value, value: &Value) -> Vec<Violation> {
    let context = RuleContext { state: file.get("state"), ..RuleContext::default() };
    match contract.admit_value(value, &context) {
        AdmissionVerdict::Accepted(_) => Vec::new(),
        AdmissionVerdict::Refused(violations) => violations,
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap())
}

/// The sample a case starts from, with the add, replace and remove operations of its patch.
fn changed(file: &Value, case: &Value) -> Value {
    let mut value = file["samples"][case["base"].as_str().unwrap()].clone();
    assert!(!value.is_null(), "no such sample: {case:#}");
    for operation in case["patch"].as_array().unwrap() {
        let (parent, name) = operation["path"].as_str().unwrap().rsplit_once('/').unwrap();
        let added = operation["value"].clone();
        let target = value.pointer_mut(parent).unwrap_or_else(|| panic!("no `{parent}`: {case:#}"));
        match (operation["op"].as_str().unwrap(), target) {
            ("add", Value::Array(items)) if name == "-" => items.push(added),
            ("add" | "replace", Value::Object(fields)) => {
                let was_there = fields.insert(name.to_owned(), added).is_some();
                assert_eq!(was_there, operation["op"] == "replace", "{case:#}");
            }
            ("replace", Value::Array(items)) => items[name.parse::<usize>().unwrap()] = added,
            ("remove", Value::Object(fields)) => assert!(fields.remove(name).is_some(), "{case:#}"),
            (op, _) => panic!("cannot {op} here: {case:#}"),
        }
    }
    value
}
