//! The demo, as stories: a small example of how a shipped protocol is told.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

mod stories;

stories::stories!("demo": a_text_is_approved_after_a_restart);
