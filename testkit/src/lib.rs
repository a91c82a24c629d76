//! Shared test support: the location of public data, reporting of skipped tests, a seeded random
//! number generator, hostile text, a grammar matcher, a private `PostgreSQL` server, and checks of its
//! query plans.
//!
//! No crate that ships depends on this one.

mod seeded_rng;
#[cfg(unix)]
mod postgres_cluster;
mod data;
mod gbnf;
mod growth;
mod hostile_texts;
mod query_plan;
mod trust;

pub use data::{find_data, find_seeds, report_not_run, workspace_root};
pub use gbnf::GbnfMatcher;
pub use growth::{
    GrowthCurve, GrowthSample, GrowthTarget, ResourceMeter, process_time, thread_time,
};
pub use hostile_texts::generate_hostile_texts;
#[cfg(unix)]
pub use postgres_cluster::{PostgresCluster, is_root};
pub use query_plan::check_index_search;
pub use seeded_rng::SeededRng;
pub use trust::{CONFIG_HOME, config_home, trust_protocol};
