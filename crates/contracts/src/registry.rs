//! The shipped contracts, compiled.

use countersign_core::contract::{ContractRegistry, load_contract};
use countersign_core::source::SourceFile;

use crate::shipped::SHIPPED_CONTRACTS;

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
pub fn load_shipped_contracts() -> ContractRegistry {
    let mut registry = ContractRegistry::default();
    for shipped in SHIPPED_CONTRACTS {
        let source = SourceFile::new(format!("contracts/{}.yaml", shipped.id), shipped.contract);
        let contract = load_contract(source, &|_| Ok(shipped.schema.to_owned()))
            .unwrap_or_else(|faults| panic!("a shipped contract is broken: {}", faults[0]));
        registry.add(contract).expect("every shipped id stands once");
    }
    registry
}
