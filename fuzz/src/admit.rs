//! Replies: four bytes choose contract, terms and context, the rest is what the model wrote.

use std::sync::LazyLock;

use countersign_contract::contract::{
    Contract, ContractRegistry, EmptyFieldPolicy, ExtraFieldPolicy,
};
use countersign_contract::json::{Repair, RepairKind, RepairLevel};
use countersign_contract::reply::{
    AcceptedValue, AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, RuleContext,
    render_reask,
};
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::{Value, json};

use super::text_ranges::assert_inside;

/// The longest text a model may be sent back, in bytes.
const LONGEST_REASK: usize = 2_000;

static REGISTRY: LazyLock<ContractRegistry> = LazyLock::new(load_shipped_contracts);

/// What rules may look at: enough for some, too little for others.
static AROUND: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "task_id": "t-1", "phase": "INTERPRET", "attempt_count": 1, "meta": {"state_version": 3},
        "domain": {"facts": {"confirmed": {}}}, "issues": [], "dialogue": {"asked": [], "history": []},
    })
});

/// Puts a reply to a shipped contract.
///
/// # Panics
/// Where an invariant of verdicts is broken.
pub fn admit(input: &[u8]) {
    let Some((&[contract, intake, repairs, rest], reply)) = input.split_first_chunk() else {
        return;
    };
    let contracts: Vec<_> = REGISTRY.iter().collect();
    let contract = contracts[usize::from(contract) % contracts.len()];
    let terms = AdmissionOptions {
        intake: IntakeMode::ALL[usize::from(intake) % 3],
        repairs: RepairLevel::ALL[usize::from(repairs) % 4],
        finish: if rest & 1 == 0 { FinishReason::Stop } else { FinishReason::Length },
    };
    let around = (rest & 2 != 0).then_some(&*AROUND);
    let context = RuleContext { state: around, run: around, new: around };
    match contract.admit_bytes(reply, terms, &context) {
        AdmissionVerdict::Accepted(accepted) => {
            check_accepted(contract, reply, terms, &context, &accepted);
        }
        refused @ AdmissionVerdict::Refused(_) => check_refused(contract, reply, &refused),
    }
}

fn check_accepted(
    contract: &Contract,
    reply: &[u8],
    terms: AdmissionOptions,
    context: &RuleContext<'_>,
    accepted: &AcceptedValue,
) {
    let text = std::str::from_utf8(reply).expect("what is accepted is text");
    assert!(contract.schema.is_valid(accepted.value()), "accepted, and against the schema");
    assert!(accepted.value().is_object());
    assert_inside(text, accepted.span().expect("it was text").range(), accepted);
    for repair in accepted.repairs() {
        assert_inside(text, repair.span.range(), repair);
        let allowed = terms.repairs.allows(repair.class) || declared(contract, repair);
        assert!(decoration(repair) || allowed, "{repair:?} not allowed");
        assert!(
            decoration(repair) || terms.finish == FinishReason::Stop,
            "{repair:?} in a cut reply"
        );
    }
    for pointer in accepted.defaults() {
        assert!(accepted.value().pointer(pointer).is_some(), "no default at {pointer}");
    }
    let again = contract.admit_value(accepted.value(), context);
    assert_eq!(again.as_accepted().map(AcceptedValue::value), Some(accepted.value()));
}

/// What stands around the object and not in it.
fn decoration(repair: &Repair) -> bool {
    matches!(repair.kind, RepairKind::CodeFence | RepairKind::ByteOrderMark)
}

/// What the contract allows by a key of its own, whatever the level of repairs is.
fn declared(contract: &Contract, repair: &Repair) -> bool {
    match repair.kind {
        RepairKind::ExtraField => contract.extra_fields == ExtraFieldPolicy::Report,
        RepairKind::EmptyField => contract.empty_fields == EmptyFieldPolicy::Omit,
        RepairKind::PlainText => contract.text_field.is_some(),
        _ => false,
    }
}

fn check_refused(contract: &Contract, reply: &[u8], verdict: &AdmissionVerdict) {
    let violations = verdict.violations();
    assert!(!violations.is_empty(), "refused without a violation");
    let text = std::str::from_utf8(reply);
    for violation in violations {
        let Some(span) = violation.span else { continue };
        match text {
            Ok(text) => assert_inside(text, span.range(), violation),
            Err(_) => assert!(reply.get(span.range()).is_some(), "{violation:?}"),
        }
    }
    let text = render_reask(contract, violations);
    assert_eq!(text, render_reask(contract, violations));
    assert!(text.len() <= LONGEST_REASK, "{} bytes: {text}", text.len());
}
