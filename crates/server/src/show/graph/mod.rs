//! Workflows as pictures: what is drawn, where it stands, and how it is written down.
//!
//! ```text
//! Workflow (+ run) ──► Picture ──► mermaid::text
//!                         └──► Layout ──► svg::text
//! ```
//!
//! The same workflow gives the same bytes. Nothing here reads files or asks a store.

mod workflow_graph;
mod wrap;
mod mermaid;
mod layers;
mod layout;
mod style;
mod svg;

pub use mermaid::render_mermaid;
pub use svg::render_svg;
pub use workflow_graph::{WorkflowGraph, describe_gate, describe_work};
