//! The chaos trial: kills, suspends and resumes real workers on one store at random while they
//! drive runs of the shipped protocols. Afterwards a checker that only reads the tables verifies
//! the result.
//!
//! The trial uses nothing of the product except its program and the event fold of
//! `countersign-contract`.

mod chaos_args;
mod chaos_workspace;
mod worker_pool;
mod acknowledged_inputs;
mod fault_injector;
mod store_tables;
mod check;
mod chaos_trial;

pub(crate) use chaos_args::ChaosTrialArgs;
pub(crate) use chaos_trial::run;
