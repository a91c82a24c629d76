//! The recall trial: how many of the turns that contain an answer are in the packet, by token
//! budget.
//!
//! ```text
//! LoCoMo, or our own talks ─► RecallConversation, whole or in pieces
//!         ─► every system ranks the turns ─► compose to the budget ─► tally ─► report
//! ```
//!
//! No model takes part unless an embedder is named: the questions name the turns that answer them.
//! `LoCoMo` is not shipped; if it is absent, the trial reports that.
mod recall_data;
mod locomo;
mod locomo_date;
mod talk_source;
mod talk_generator;
mod piece_cutter;
mod events;
mod stored_conversation;
mod bm25;
mod fts;
mod packet_composer;
mod vector_ranking;
mod recall_tally;
mod recall_report;
mod recall_trial;

pub(crate) use recall_trial::{RecallTrialArgs, run};
