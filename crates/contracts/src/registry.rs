//! The shipped contracts, compiled.

use countersign_core::contract::{Registry, load};
use countersign_core::spec::Source;

use crate::shipped::SHIPPED;

/// Compiles every shipped contract.
///
/// ```
/// let registry = countersign_contracts::registry();
/// assert_eq!(registry.find("guardian_report").unwrap().version, "1.0.0");
/// ```
///
/// # Panics
/// Never with the files this crate was tested with: they are compiled in.
#[must_use]
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    for shipped in SHIPPED {
        let source = Source::new(format!("contracts/{}.yaml", shipped.id), shipped.contract);
        let contract = load(source, &|_| Ok(shipped.schema.to_owned()))
            .unwrap_or_else(|faults| panic!("a shipped contract is broken: {}", faults[0]));
        registry.add(contract).expect("every shipped id stands once");
    }
    registry
}
