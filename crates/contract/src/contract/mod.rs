//! Contracts: the schema, the rules and the intake settings that a reply must satisfy. A contract
//! is compiled once and used for many replies.

mod schema;
mod schema_bounds;
mod pattern_budget;
mod reference_resolver;
mod schema_graph;
mod schema_explainer;
mod explain_cost;
mod explain_branches;
mod validator_options;
mod schema_defaults;
mod default_check;
mod fill_and_validate;
mod describe_schema;
mod schema_excerpt;
mod schema_implication;
mod contract_rule;
mod contract_definition;
mod load_contract;
mod contract_registry;
mod lenient_fields;
mod lint;

pub use contract_definition::{CompatibilityLevel, Contract, OnExhausted, OnViolation};
pub use contract_registry::{ContractRegistry, ContractRegistryError, contract_version_key};
pub use contract_rule::{ContractRule, RULE_VARIABLES};
pub(crate) use lenient_fields::leave_out_fields;
pub use lenient_fields::{EmptyFieldPolicy, ExtraFieldPolicy};
pub use lint::{check_contract, check_schema};
pub use load_contract::{
    CONTRACT_FILE_SCHEMA, ContractFileReader, load_contract, load_contract_value,
    load_contract_with_base, load_inline_contract,
};
pub use reference_resolver::{DATA_KEYWORDS, ReferenceResolver, is_draft_07};
pub use schema::{Schema, SchemaError};
pub use schema_defaults::BrokenDefault;
pub use schema_excerpt::excerpt_schema;
pub use schema_implication::SchemaView;
