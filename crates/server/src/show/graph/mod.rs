//! Workflows as pictures: what is drawn, where it stands, and how it is written down.
//!
//! ```text
//! Workflow (+ run) ──► Picture ──► mermaid::text
//!                         └──► Layout ──► svg::text
//! ```
//!
//! The same workflow gives the same bytes. Nothing here reads files or asks a store.

mod picture;
mod wrapped;
mod mermaid;
mod order;
mod layout;
mod style;
mod svg;

pub use mermaid::mermaid;
pub use picture::{Picture, gate_text, work};
pub use svg::svg;
