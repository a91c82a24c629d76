//! The HTTP door: a file a resource, and what they share.

mod problem;
mod app;
mod extract;
mod cursor;
mod etag;
mod guard;
mod router;
mod health;
mod me;
mod protocols;
mod contracts;
mod runs;
mod looks;
mod blobs;
mod idempotency;
mod given;
mod start;
mod inputs;
mod admit;
mod inbox;
mod stream;
mod rates;
mod metrics;
mod limits;
mod workers;
mod memory;
mod description;

pub use app::App;
pub use metrics::Metrics;
pub use problem::{ApiError, Problem};
pub use rates::Rates;
pub use router::router;
