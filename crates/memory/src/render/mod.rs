//! A packet as the text of a prompt. Pure: the same packet gives the same bytes.
//!
//! What changes seldom stands first (procedures, facts, preferences, summary), what changes with every
//! turn last (quotes, guesses, the latest messages, the working state), so that a provider's prompt
//! cache survives a write. Every line ends with a line break and begins with a sign of ours or a
//! letter: tokens of lines add up, and no remembered text can look like a heading.

mod error;
mod lines;
mod marks;
mod plain;
mod prefix;
mod text;

pub use error::RenderError;
pub use prefix::{CommonPrefix, common_prefix};
pub use text::{render, render_value};

pub(crate) use lines::{
    Heading, REF, constraint, decision, episode, extra, fact, fact_heading, goal, insight, message,
    open_loop, plan_step, procedure, quote, quote_date, risk, slot, summary, tool_evidence,
};
pub(crate) use marks::Marks;
pub(crate) use plain::{flat, plain};
