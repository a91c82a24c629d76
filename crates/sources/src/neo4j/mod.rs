//! A graph database as a source: Cypher over Bolt, in transactions that are never committed.

mod pack;
mod unpack;
mod temporal_values;
mod address;
mod bolt;
mod source;

pub(crate) use source::Neo4jSource;
