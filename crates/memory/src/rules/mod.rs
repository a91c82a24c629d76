//! The rules by which claims become memory, as pure functions of the claim and of what stands. *Not
//! here*: reading or writing anything.

mod refusal;
mod trust;
mod evidence;
mod weigh;
mod span;
mod support;
mod fact;
#[cfg(test)]
mod fact_tests;
mod gone;
#[cfg(test)]
mod time_tests;
mod expiry;
mod learning;
mod condense;
mod ageing;
#[cfg(test)]
mod ageing_tests;

pub(crate) use fact::check_fact;
pub(crate) use gone::without;
pub(crate) use span::Span;

pub use ageing::{Aged, Ages, age, due_level};
pub use condense::condensed;
pub use evidence::check_evidence;
pub use expiry::is_over;
pub use fact::{Assurance, Outcome, Ruling, Standing, rule_on_fact};
pub use learning::check_learning;
pub use refusal::Refusal;
pub use trust::{needs_quote, trust};
pub use weigh::{MARGIN, Weight, weigh};
