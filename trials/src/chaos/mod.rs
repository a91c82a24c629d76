//! Chaos: real workers on one store are killed, stopped and woken at random while runs of the shipped protocols go
//! through their hands; then a checker that knows nothing but the tables reads what is left.
//!
//! Nothing of the product is used here but its program, and the fold of `countersign-core`.

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
