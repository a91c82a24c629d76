//! What tests share: where public data lies, how a test says that it did not run, seeded chance,
//! hostile text, a matcher of grammars, and a `PostgreSQL` server of one's own.
//!
//! Never a dependency of anything that ships.

mod seeded_rng;
#[cfg(unix)]
mod postgres_cluster;
mod data;
mod gbnf;
mod growth;
mod hostile_texts;
mod trust;

pub use data::{find_data, find_seeds, report_not_run, workspace_root};
pub use gbnf::GbnfMatcher;
pub use growth::{
    GrowthCurve, GrowthSample, GrowthTarget, ResourceMeter, process_time, thread_time,
};
pub use hostile_texts::generate_hostile_texts;
#[cfg(unix)]
pub use postgres_cluster::{PostgresCluster, is_root};
pub use seeded_rng::SeededRng;
pub use trust::{CONFIG_HOME, config_home, trust_protocol};
