//! The scale trial: what the hot statements of the `PostgreSQL` store cost where there is much.
//!
//! ```text
//! an empty database ─► a million runs, ten million versions ─► every operation, many times
//!                                                          ─► times, and scans by table ─► report
//! ```
//!
//! The rows are made by the server itself and hold no real run: the store never looks into a body. What is
//! asked goes through the store, so that what is measured is what a worker sends; what was scanned is read
//! from the server's own counters.
mod generate;
mod hot;
mod scans;
mod trial;

pub(crate) use trial::{Settings, run};
