//! What a reply is held against: a schema, rules, and how the text may arrive. Compiled once.

mod schema;
mod branch;
mod defaults;
mod describe;
mod rule;
mod definition;
mod load;
mod registry;

pub use definition::{Compatibility, Contract, OnViolation, Then};
pub use load::{FILE_SCHEMA, Reader, load, load_inline};
pub use registry::{Registry, RegistryError};
pub use rule::{NAMES, Rule};
pub use schema::{Schema, SchemaFault};
