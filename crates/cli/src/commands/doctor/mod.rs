//! `countersign doctor`: what is set up, which setting came from where, and what is wrong with it.

mod examine;
mod report;
mod server;

pub(super) use examine::run;
