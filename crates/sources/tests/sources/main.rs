//! The sources, asked as the runtime asks them.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

mod asking;
mod sqlite;
mod documents;
mod postgres;
mod neo4j;
mod encryption;
mod data_set;
