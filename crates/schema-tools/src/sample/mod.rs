//! Generates values from a schema: samples by seed, and boundary values.
//!
//! The same schema and seed give the same value on every machine. Every generated value has been
//! validated against the schema; if no valid one was found, there is no value. The comparison of
//! contracts uses these values to prove differences.

mod schema_sampler;
mod sample_generator;
mod flat_schema;
mod sample_object;
mod merge_schemas;
mod number_bounds;
mod sample_string;
mod regex_node;
mod splitmix64;
#[cfg(test)]
mod sample_tests;

pub use schema_sampler::SchemaSampler;

pub(super) use flat_schema::to_standalone_schema;
pub(super) use merge_schemas::merge_schemas;
pub(super) use regex_node::RegexNode;
