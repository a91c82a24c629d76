//! `countersign doctor`: reports the configuration, the origin of each setting, and problems.

mod checks;
mod doctor_report;
mod mcp_checks;
mod postgres_checks;

pub(super) use checks::run;
