//! Tools for contracts: compares versions, generates sample values, and exports schemas for
//! providers.
//!
//! The crate is pure: no I/O, no async, no clock, no randomness, no environment variables. Samples
//! are generated from a seed, and work is limited by steps.

mod annotation_keywords;
mod work_budget;
mod sample;
mod compat;
mod export;

pub use compat::{
    CompatClaimError, CompatOutcome, ContractChange, ContractChangeKind, ContractComparison,
    ContractRecord, ContractRecordError, ContractRecords, check_compat_claim, compare,
    compare_with, compare_within,
};
pub use export::{ExportLoss, ExportTarget, ExportedContract, LossEffect, export_contract};
pub use sample::SchemaSampler;
pub use work_budget::WorkBudget;

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
