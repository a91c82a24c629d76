//! Loading: the texts of a folder become a [`super::Protocol`], or every fault with its place.
//!
//! ```text
//! Bundle ─► file (parse, keys, schema) ─► contracts, rules, agents, index ─► workflows ─► Protocol
//!                      └──────────────── faults of all of them, at once ────────┘
//! ```
//!
//! Nothing here looks at what a protocol does when it runs; that is `check`.

mod faults;
mod member;
mod known;
mod keys;
mod file;
mod folder;
mod place;
mod path;
mod expression;
mod duration;
mod text;
mod contracts;
mod rules;
mod bases;
mod sections;
mod agent;
mod index;
mod document;
mod hook;
mod policy;
mod memory;
mod host;
mod budget;
mod include;
mod workflow;
mod scope;
mod otherwise;
mod each;
mod gate;
mod retry;
mod phase;
mod work;
mod question;
mod input;
mod output;
mod effect;
mod change;

pub use file::{AGENT_SCHEMA, INDEX_SCHEMA, WORKFLOW_SCHEMA};
pub use folder::{Loaded, load};
pub(crate) use path::confined;
