//! The rules by which claims become memory, as pure functions of a claim and the current rows. This
//! module reads and writes nothing.

mod refusal;
mod trust;
mod check_evidence;
mod compare_claim;
mod validity_period;
mod merge_claim;
mod fact_ruling;
#[cfg(test)]
mod fact_ruling_tests;
mod restore_facts;
#[cfg(test)]
mod validity_period_tests;
mod expiry;
mod learning;
mod condense;
mod plan_ageing;
#[cfg(test)]
mod plan_ageing_tests;

pub(crate) use fact_ruling::check_fact;
pub(crate) use restore_facts::restore_after_removal;
pub(crate) use validity_period::ValidityPeriod;

pub use check_evidence::check_evidence;
pub use compare_claim::{CONFIDENCE_MARGIN, ClaimComparison, compare_claim};
pub use condense::condense_episode;
pub use expiry::is_expired;
pub use fact_ruling::{ClaimAssurance, ClaimOutcome, FactRevision, FactRuling, resolve_fact_claim};
pub use learning::check_learning;
pub use plan_ageing::{AgedEpisode, AgeingPlan, compute_due_level, plan_ageing};
pub use refusal::MemoryRefusal;
pub use trust::{needs_quote, trust_level};
