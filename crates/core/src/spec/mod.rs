//! The author's files: text with places, and faults that name them.
//!
//! Pure: a file comes in as text with a name, and whatever it refers to through a reader the
//! caller gives.

mod source;
mod diagnostic;
mod findings;
mod tree;
mod yaml;

pub use diagnostic::{Diagnostic, Severity};
pub use findings::Findings;
pub use source::{Place, Source};
pub use tree::Tree;
