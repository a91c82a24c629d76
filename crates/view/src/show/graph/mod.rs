//! Draws workflows: what to show, where to place it, and how to write it.
//!
//! ```text
//! WorkflowDefinition (+ run) ──► WorkflowGraph ──► render_mermaid
//!                                     └──► GraphLayout ──► render_svg
//! ```
//!
//! The same workflow gives the same bytes. This module reads no files and no store.

mod workflow_graph;
mod wrap;
mod mermaid;
mod layers;
mod layout;
mod style;
mod svg;

pub use mermaid::render_mermaid;
pub use svg::render_svg;
pub use workflow_graph::{WorkflowGraph, describe_condition, describe_work};
