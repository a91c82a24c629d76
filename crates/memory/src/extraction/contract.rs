//! The contracts for a model's proposals.

use std::sync::{Arc, LazyLock};

use countersign_contract::contract::{Contract, load_contract};
use countersign_contract::source::SourceFile;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;

/// Returns the contract for claims that a model proposes, `memory_candidates_v1`.
#[must_use]
pub fn candidates_contract() -> Arc<Contract> {
    static CONTRACT: LazyLock<Arc<Contract>> =
        LazyLock::new(|| load_shipped_contract("memory_candidates_v1"));
    Arc::clone(&CONTRACT)
}

/// Returns the contract for a summary that a model writes, `memory_summary_v1`.
#[must_use]
pub fn summary_contract() -> Arc<Contract> {
    static CONTRACT: LazyLock<Arc<Contract>> =
        LazyLock::new(|| load_shipped_contract("memory_summary_v1"));
    Arc::clone(&CONTRACT)
}

fn load_shipped_contract(id: &str) -> Arc<Contract> {
    let files =
        SHIPPED_CONTRACTS.iter().find(|shipped| shipped.id == id).expect("the contract is shipped");
    let source = SourceFile::new(format!("contracts/{id}.yaml"), files.contract);
    let contract = load_contract(source, &|_| Ok(files.schema.to_owned()));
    Arc::new(contract.expect("the shipped contracts are tested"))
}
