//! The runtime does what the core decided: it drives runs, performs actions, and keeps files.

pub mod recent;
pub mod folder;
pub mod workspace;
pub mod tool;
pub mod program;
pub mod hook;
pub mod effect;
pub mod trust;
pub mod projection;
pub mod clock;
pub mod private;
pub mod watch;
pub mod engine;
pub mod recall;
pub mod remember;
pub mod proof;
mod row_check;
pub mod transfer;
pub mod prune;
pub mod driver;
pub mod learn;
pub mod worker;
