//! Contracts of Countersign: parses a model's reply, validates it, and applies patches within an
//! authority.
//!
//! The crate is pure: no I/O, no async, no clock, no randomness, no environment variables. A
//! contract takes the text of a reply and returns an accepted value or a list of violations.
//!
//! ```
//! use countersign_contract::contract::load_inline_contract;
//! use countersign_contract::reply::{AdmissionVerdict, FinishReason, RuleContext};
//!
//! let contract = load_inline_contract(r#"
//! id: verdict
//! version: 1.0.0
//! intake: tolerant
//! schema:
//!   type: object
//!   required: [score]
//!   properties: { score: { type: integer, maximum: 100 } }
//! "#).unwrap();
//!
//! let verdict =
//!     contract.admit("Sure! {\"score\": 101}", FinishReason::Stop, &RuleContext::default());
//! let AdmissionVerdict::Refused(violations) = verdict else { panic!() };
//! assert_eq!(violations[0].to_string(), "/score: expected at most 100, found 101 [maximum]");
//! ```

pub mod reply;
pub mod contract;
pub mod patch;
pub mod expr;
pub mod text;
pub mod source;
pub mod json;
pub mod limits;
mod service_url;
mod similar_name;
mod timestamp;

pub use service_url::{ServiceUrl, has_credentials, redact_credentials};
pub use similar_name::find_similar_name;
pub use timestamp::Timestamp;

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
