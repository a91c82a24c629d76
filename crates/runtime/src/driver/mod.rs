//! The driver: does what runs order, and gives them what came of it.
//!
//! It is the first user of the door that everybody has: it asks a run what is out, does it, and hands
//! the result in. Each order has an id that stays the same after a crash, so an order may be done again
//! and none is lost.

mod models;
mod presence;
mod hold;
mod orders;
mod asking;
mod data;
mod perform;
mod family;
mod documents;
mod outlook;
mod side_by_side;
mod rest;
mod body;

pub(crate) use asking::meant;
pub use body::Driver;
pub use data::data_folder;
pub use hold::TERM;
pub use models::{Connected, Models};
pub use outlook::Outlook;
pub use perform::{Hands, handed_in};
pub use presence::Presence;
pub use rest::Rest;
