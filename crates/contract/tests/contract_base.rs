//! A contract that stands upon another takes what that one takes, and adds rules.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::contract::{
    Contract, ContractRegistry, OnExhausted, load_contract_with_base, load_inline_contract,
};
use countersign_contract::reply::{FinishReason, IntakeMode, RuleContext};
use countersign_contract::source::{Diagnostic, SourceFile};
use serde_json::json;

const BASE: &str = r"
id: note
version: 1.0.0
intake: fenced
schema: { type: object, required: [id, points], properties: { id: { type: string }, points: { type: integer } } }
rules: [ { id: few, then: reply.points < 10, at: /points, says: few points } ]
on_violation: { reask: 1, then: wait }
";

fn upon(base: &str, text: &str) -> Result<Contract, Vec<Diagnostic>> {
    let mut known = ContractRegistry::default();
    known.add(load_inline_contract(base).unwrap()).unwrap();
    load_contract_with_base(
        SourceFile::new("own.yaml", text),
        &|path| Err(format!("no {path}")),
        &known,
    )
}

fn refused(contract: &Contract, text: &str) -> Vec<String> {
    let state = json!({ "id": "a" });
    let context = RuleContext { state: Some(&state), ..RuleContext::default() };
    let verdict = contract.admit(text, FinishReason::Stop, &context);
    verdict.violations().iter().map(|one| one.code.to_string()).collect()
}

const OWN: &str = "id: own\nversion: 1.0.0\nbase: note\nrules: [ { id: same, then: reply.id === state.id, at: /id, says: the id is ours } ]";

#[test]
fn it_takes_what_its_base_takes_and_adds_rules() {
    let own = upon(BASE, OWN).unwrap();
    assert_eq!(own.intake, IntakeMode::Fenced);
    assert_eq!((own.on_violation.reask, own.on_violation.then), (1, OnExhausted::Wait));
    assert!(refused(&own, "```json\n{\"id\": \"a\", \"points\": 1}\n```").is_empty());
    assert_eq!(refused(&own, r#"{"id": "b", "points": 12}"#), ["rule:same", "rule:few"]);
    assert_eq!(refused(&own, r#"{"id": "a"}"#), ["required"], "the schema is the base's");
}

#[test]
fn it_may_say_otherwise_about_everything_but_schema_and_rules() {
    let own = format!("{OWN}\nintake: strict\non_violation: {{ reask: 0, then: fail }}");
    let own = upon(BASE, &own).unwrap();
    assert_eq!(refused(&own, "```json\n{\"id\": \"a\", \"points\": 1}\n```").len(), 1);
    assert_eq!((own.on_violation.reask, own.on_violation.then), (0, OnExhausted::Fail));
}

#[test]
fn its_digest_is_bound_to_its_base() {
    let own = upon(BASE, OWN).unwrap();
    assert_ne!(own.digest, load_inline_contract(BASE).unwrap().digest);
    let other = upon(&BASE.replace("< 10", "< 9"), OWN).unwrap();
    assert_ne!(own.digest, other.digest);
}

#[test]
fn what_is_wrong_is_told() {
    let messages = |text: &str| {
        let faults = upon(BASE, text).unwrap_err();
        faults.iter().map(|fault| format!("{}: {}", fault.code, fault.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        messages(&OWN.replace("base: note", "base: nite")),
        ["unknown_contract: no contract `nite`; did you mean `note`?"]
    );
    assert_eq!(
        messages(&OWN.replace("id: same", "id: few")),
        ["duplicate_id: rule `few` is already defined in the base"]
    );
    assert_eq!(messages(&format!("{OWN}\nschema: true")).len(), 1, "a schema or a base, not both");
    assert_eq!(messages("id: own\nversion: 1.0.0").len(), 1, "one of them there must be");
}
