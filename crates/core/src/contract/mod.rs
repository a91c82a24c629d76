//! Contracts: the schema, the rules and the intake settings that a reply must satisfy. A contract
//! is compiled once and used for many replies.

mod schema;
mod schema_bounds;
mod pattern_budget;
mod reference_resolver;
mod schema_graph;
mod work_budget;
mod schema_explainer;
mod explain_cost;
mod explain_branches;
mod validator_options;
mod schema_defaults;
mod default_check;
mod fill_and_validate;
mod describe_schema;
mod contract_rule;
mod contract_definition;
mod load_contract;
mod contract_registry;
mod lint;
mod sample;
mod compat;
mod export;

pub use compat::{
    CompatOutcome, ContractChange, ContractChangeKind, ContractComparison, compare, compare_with,
    compare_within,
};
pub use contract_definition::{CompatibilityLevel, Contract, OnExhausted, OnViolation};
pub use contract_registry::{ContractRegistry, ContractRegistryError};
pub use contract_rule::{ContractRule, RULE_VARIABLES};
pub use export::{ExportLoss, ExportTarget, ExportedContract, LossEffect, export_contract};
pub use lint::{check_contract, check_schema};
pub use load_contract::{
    CONTRACT_FILE_SCHEMA, ContractFileReader, load_contract, load_contract_with_base,
    load_inline_contract,
};
pub use sample::SchemaSampler;
pub use schema::{Schema, SchemaError};
pub use schema_defaults::BrokenDefault;
pub use work_budget::WorkBudget;
