//! Builds the registry of the shipped contracts.

use countersign_contract::contract::{ContractRegistry, load_contract};
use countersign_contract::source::SourceFile;

use crate::shipped::SHIPPED_CONTRACTS;

/// Compiles every shipped contract into a registry.
///
/// ```
/// let registry = countersign_shipped_contracts::load_shipped_contracts();
/// assert_eq!(registry.find("guardian_report").unwrap().version, "1.0.0");
/// ```
///
/// # Panics
/// Panics if a shipped contract does not compile. The files are embedded at build time and
/// covered by this crate's tests, so this does not happen in a tested build.
#[must_use]
pub fn load_shipped_contracts() -> ContractRegistry {
    let mut registry = ContractRegistry::default();
    for shipped in SHIPPED_CONTRACTS {
        let source = SourceFile::new(format!("contracts/{}.yaml", shipped.id), shipped.contract);
        let contract = load_contract(source, &|_| Ok(shipped.schema.to_owned()))
            .unwrap_or_else(|faults| panic!("a shipped contract is broken: {}", faults[0]));
        registry.add(contract).expect("every shipped id is unique");
    }
    registry
}
