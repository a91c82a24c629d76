//! The contracts that proposals of a model are held against.

use std::sync::{Arc, LazyLock};

use countersign_contracts::shipped::SHIPPED;
use countersign_core::contract::{Contract, load};
use countersign_core::spec::Source;

/// The contract of what a model proposes to remember.
#[must_use]
pub fn candidates_contract() -> Arc<Contract> {
    static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| shipped("memory_candidates_v1"));
    Arc::clone(&CONTRACT)
}

/// The contract of a summary that a model writes.
#[must_use]
pub fn summary_contract() -> Arc<Contract> {
    static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| shipped("memory_summary_v1"));
    Arc::clone(&CONTRACT)
}

fn shipped(id: &str) -> Arc<Contract> {
    let files = SHIPPED.iter().find(|shipped| shipped.id == id).expect("it ships");
    let source = Source::new(format!("contracts/{id}.yaml"), files.contract);
    let contract = load(source, &|_| Ok(files.schema.to_owned()));
    Arc::new(contract.expect("the shipped contracts are tested"))
}
