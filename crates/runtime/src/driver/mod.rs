//! The driver performs the pending actions of runs and submits their results.
//!
//! It uses the same public interface as every other client: it asks a run for its pending actions,
//! performs them, and submits the results. Each action has an id that stays the same after a crash,
//! so an action may be performed again and none is lost.

mod model_resolver;
mod worker_heartbeat;
mod driver_lease;
mod next_action;
mod run_deliveries;
mod ask_step_model;
mod data_folder;
mod effect_executor;
mod child_runs;
mod document_arrival;
mod change_snapshot;
mod keyed_futures;
mod idle_reason;
mod driver;

pub(crate) use ask_step_model::drop_null_fields;
pub use change_snapshot::ChangeSnapshot;
pub use data_folder::data_folder_name;
pub use document_arrival::describe_unused_document;
pub use driver::Driver;
pub use driver_lease::DEFAULT_LEASE_TTL_MS;
pub use effect_executor::{EffectExecutor, build_manual_reply};
pub use idle_reason::IdleReason;
pub use model_resolver::{CachedModelResolver, ModelResolver};
pub use worker_heartbeat::WorkerHeartbeat;
