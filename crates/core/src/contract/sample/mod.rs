//! Values made from a schema: samples by number, and the values at its edges.
//!
//! The same schema and number give the same value, on every machine. Whatever comes out has been
//! put to the schema itself; where nothing valid was found there is no value, never a wrong one.
//! Not a test library: the comparison of contracts looks here for values that prove a difference.

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
