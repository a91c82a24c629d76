//! What a reply is held against: a schema, rules, and how the text may arrive. Compiled once.

mod schema;
mod explain;
mod branch;
mod alternatives;
mod defaults;
mod describe;
mod rule;
mod definition;
mod load;
mod registry;
mod sample;
mod compat;
mod export;

pub use compat::{Answer, Change, ChangeKind, Comparison, compare, compare_with};
pub use definition::{Compatibility, Contract, OnViolation, Then};
pub use export::{Effect, Export, Loss, Target, export};
pub use load::{FILE_SCHEMA, Reader, load, load_inline, load_upon};
pub use registry::{Registry, RegistryError};
pub use rule::{NAMES, Rule};
pub use sample::Sampler;
pub(crate) use schema::Likeness;
pub use schema::{Schema, SchemaFault};
