//! The HTTP door: a file a resource, and what they share.

mod problem;
mod app;
pub(crate) mod extract;
pub(crate) mod cursor;
mod etag;
mod guard;
mod router;
mod health;
mod me;
pub(crate) mod protocols;
pub(crate) mod contracts;
pub(crate) mod runs;
pub(crate) mod looks;
mod blobs;
mod idempotency;
pub(crate) mod given;
pub(crate) mod start;
pub(crate) mod inputs;
pub(crate) mod admit;
pub(crate) mod inbox;
mod stream;
mod rates;
mod metrics;
pub(crate) mod traced;
mod limits;
mod workers;
pub(crate) mod memory;
mod description;

pub use app::App;
pub use metrics::Metrics;
pub use problem::{ApiError, Problem};
pub use rates::Rates;
pub use router::router;
pub use traced::Traces;
