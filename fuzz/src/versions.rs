//! Two versions of a contract: a schema, a zero byte, and another one.

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::reply::{FinishReason, RuleContext};
use countersign_schema_tools::{
    CompatOutcome, ExportTarget, WorkBudget, compare_within, export_contract,
};
use serde_json::Value;

use super::text_ranges::parts;

/// A small part of what a comparison may take: here the ways matter, not the distance.
const STEPS: u64 = 20_000;

/// Compares two schemas in both directions, and exports them for every provider.
///
/// # Panics
/// Where an invariant of versions or of exports is broken.
pub fn versions(input: &[u8]) {
    let (old, new) = parts(input);
    let load = |text: &[u8]| {
        let schema = serde_json::from_slice::<Value>(text).ok()?;
        load_inline_contract(&format!("id: c\nversion: 1.0.0\nschema: {schema}\n")).ok()
    };
    let (Some(old), Some(new)) = (load(old), load(new)) else { return };
    let comparison = compare_within(&old, &new, &[], &WorkBudget::new(STEPS, &|| false));
    for answer in [&comparison.backward, &comparison.forward] {
        let CompatOutcome::No { witness, reply_text: text, .. } = answer else { continue };
        // What proves an answer is taken by the one version and not by the other.
        let context = RuleContext::default();
        let takes = |contract: &Contract| match text {
            Some(text) => {
                contract.admit(text, FinishReason::Stop, &context).as_accepted().is_some()
            }
            None => contract.admit_value(witness, &context).as_accepted().is_some(),
        };
        assert_ne!(takes(&old), takes(&new), "the witness {witness} proves nothing: {text:?}");
    }
    for target in ExportTarget::ALL {
        let first = export_contract(&old, target);
        assert_eq!(first, export_contract(&old, target), "{target:?} is exported in two ways");
    }
}
