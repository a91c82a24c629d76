//! The recall trial: how many of the turns that contain an answer are in the packet, by token
//! budget.
//!
//! ```text
//! LoCoMo ─► LocomoConversation ─► every system ranks the turns ─► compose to the budget
//!                                                               ─► tally ─► report
//! ```
//!
//! No model takes part unless an embedder is named: the questions name the turns that answer them.
//! The data is not shipped; if it is absent, the trial reports that.
mod conversation;
mod locomo_date;
mod events;
mod countersign_index;
mod bm25;
mod fts;
mod packet_composer;
mod vector_ranking;
mod recall_tally;
mod recall_report;
mod recall_trial;

pub(crate) use recall_trial::{RecallTrialArgs, run};
