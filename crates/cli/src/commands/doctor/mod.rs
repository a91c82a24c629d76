//! `countersign doctor`: what is set up, which setting came from where, and what is wrong with it.

mod checks;
mod doctor_report;
mod postgres_checks;

pub(super) use checks::run;
