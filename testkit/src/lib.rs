//! What tests share: where public data lies, how a test says that it did not run, seeded chance,
//! hostile text, and a matcher of grammars.
//!
//! Never a dependency of anything that ships.

mod chance;
mod data;
mod gbnf;
mod hostile;

pub use chance::Chance;
pub use data::{data, not_run, root, seeds};
pub use gbnf::Matcher;
pub use hostile::hostile;
