//! What a reply is held against: a schema, rules, and how the text may arrive. Compiled once.

mod schema;
mod bounds;
mod pattern_cost;
mod reference;
mod graph;
mod budget;
mod explain;
mod explain_cost;
mod branch;
mod engine;
mod defaults;
mod default_check;
mod complete;
mod describe;
mod rule;
mod definition;
mod load;
mod registry;
mod lint;
mod sample;
mod compat;
mod export;

pub use budget::WorkBudget;
pub use compat::{Answer, Change, ChangeKind, Comparison, compare, compare_with, compare_within};
pub use defaults::BrokenDefault;
pub use definition::{Compatibility, Contract, OnViolation, Then};
pub use export::{Effect, Export, Loss, Target, export};
pub use lint::{check_contract, check_schema};
pub use load::{FILE_SCHEMA, Reader, load, load_inline, load_upon};
pub use registry::{Registry, RegistryError};
pub use rule::{NAMES, Rule};
pub use sample::Sampler;
pub use schema::{Schema, SchemaFault};
