//! What tests share: where public data lies, how a test says that it did not run, and seeded chance.
//!
//! Never a dependency of anything that ships.

mod chance;
mod data;
mod hostile;
mod gbnf;

pub use chance::Chance;
pub use data::{data, not_run, root, seeds};
pub use gbnf::Matcher;
pub use hostile::hostile;
