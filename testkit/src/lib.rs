//! What tests share: where public data lies, how a test says that it did not run, seeded chance,
//! hostile text, a matcher of grammars, and a `PostgreSQL` server of one's own.
//!
//! Never a dependency of anything that ships.

mod chance;
#[cfg(unix)]
mod cluster;
mod data;
mod gbnf;
mod growth;
mod hostile;
mod trust;

pub use chance::Chance;
#[cfg(unix)]
pub use cluster::{Cluster, is_root};
pub use data::{data, not_run, root, seeds};
pub use gbnf::Matcher;
pub use growth::{Growth, GrowthDoor, Meter, Sample, process_time, thread_time};
pub use hostile::hostile;
pub use trust::{CONFIG_HOME, config_home, trust};
