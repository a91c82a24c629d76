//! The rolling summary of a session: by rules, or by a model under a contract. Pure.
//!
//! A summary is made of what is new and of what the one before it told, so that its cost does not grow with the
//! session. *Not here*: reading events, asking a model, writing anything.

mod material;
mod rolled;
mod told;

pub use material::Material;
pub use rolled::{BY_RULES, Rolling, rolled};
pub use told::told;
