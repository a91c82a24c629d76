//! Effects: actions on the outside world that are safe to repeat after a crash.

mod effect_error;
mod effect_journal;
mod sweep_journal;
mod retriever;
mod files_retriever;
mod lossless_json;
mod host_rule;
mod effect_http_request;
mod run_program;
mod docx;
mod perform_effect;

pub use docx::render_docx;
pub use effect_error::{EffectError, EffectErrorKind};
pub(crate) use effect_http_request::install_tls_provider;
pub use effect_journal::{EffectJournal, EffectJournalError};
pub use files_retriever::FilesRetriever;
pub use host_rule::HostRule;
pub(crate) use host_rule::is_loopback;
pub use perform_effect::{EffectContext, perform_effect};
pub use retriever::{
    NoopRetrieverFactory, RetrieverFactory, RetrieverFuture, RetrieverRegistry, SourceRetriever,
};
pub use sweep_journal::sweep_journal;
