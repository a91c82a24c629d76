//! Effects: what a run does to the world outside, so that doing it again after a crash is safe.

mod error;
mod journal;
mod sweep;
mod source;
mod files;
mod lossless;
mod host;
mod http;
mod run;
mod perform;

pub use error::{EffectError, EffectErrorKind};
pub use files::Files;
pub use host::HostRule;
pub use journal::{Journal, JournalError};
pub use perform::{World, perform};
pub use source::{BoxFuture, Source, SourceKinds, Sources};
pub use sweep::sweep_journal;
