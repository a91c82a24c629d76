//! Renders a packet as the text of a prompt. Pure: the same packet gives the same bytes.
//!
//! Sections that rarely change come first (procedures, facts, preferences, summary), and sections
//! that change with every turn come last (quotes, insights, the latest messages, the working
//! state), so that a provider's prompt cache survives a write. Every line ends with a line break
//! and begins with a fixed marker or a letter, so the token counts of lines add up and no
//! remembered text can look like a heading.

mod render_error;
mod lines;
mod citation_markers;
mod single_line;
mod prefix;
mod text;

pub use prefix::{CommonPrefix, measure_common_prefix};
pub use render_error::RenderError;
pub use text::{render_packet, render_packet_value};

pub(crate) use citation_markers::CitationMarkers;
pub(crate) use lines::{
    PacketHeading, REFERENCE_ELLIPSIS, render_constraint, render_decision, render_episode,
    render_extra, render_fact, render_goal, render_insight, render_message, render_open_loop,
    render_plan_step, render_procedure, render_quote, render_quote_date, render_risk, render_slot,
    render_summary, render_tool_evidence, select_fact_heading,
};
pub(crate) use single_line::{flatten_value, to_single_line};
