//! Admission of a model's reply: text becomes candidates, then one accepted value or violations.
//!
//! ```text
//! text ── intake ──► ParsedReply ── schema ──► ValidatedReply ── rules ──► AcceptedValue
//!            │                        │                            │
//!            └──────────────── Vec<Violation> ─────────────────────┘
//! ```

mod violation;
mod intake;
mod reply_markers;
mod reply_scanner;
mod wrapper;
mod plain_text;
mod rival_reply;
mod reporting_words;
mod quotation;
mod admission;
mod verdict;
mod violation_spans;
mod violation_list;
mod reask;

pub use admission::{AcceptedValue, ParsedReply, RuleContext, ValidatedReply};
pub use intake::{AdmissionOptions, FinishReason, IntakeMode, ReplyCandidate};
pub use reask::{ReaskDecision, render_reask};
pub use verdict::AdmissionVerdict;
pub use violation::{Violation, ViolationCode, format_value};
pub use violation_list::{ViolationList, count_violations};
