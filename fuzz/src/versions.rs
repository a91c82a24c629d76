//! Two versions of a contract: a schema, a zero byte, and another one.

use countersign_core::contract::{
    Answer, Contract, Target, WorkBudget, compare_within, export, load_inline,
};
use countersign_core::reply::{Context, Finish};
use serde_json::Value;

use super::places::parts;

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
        load_inline(&format!("id: c\nversion: 1.0.0\nschema: {schema}\n")).ok()
    };
    let (Some(old), Some(new)) = (load(old), load(new)) else { return };
    let comparison = compare_within(&old, &new, &[], &WorkBudget::new(STEPS, &|| false));
    for answer in [&comparison.backward, &comparison.forward] {
        let Answer::No { witness, text, .. } = answer else { continue };
        // What proves an answer is taken by the one version and not by the other.
        let context = Context::default();
        let takes = |contract: &Contract| match text {
            Some(text) => contract.admit(text, Finish::Stop, &context).accepted().is_some(),
            None => contract.admit_value(witness, &context).accepted().is_some(),
        };
        assert_ne!(takes(&old), takes(&new), "the witness {witness} proves nothing: {text:?}");
    }
    for target in Target::ALL {
        let first = export(&old, target);
        assert_eq!(first, export(&old, target), "{target:?} is exported in two ways");
    }
}
