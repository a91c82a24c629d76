//! The demo, as stories: a small example of how a shipped protocol is told.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[expect(dead_code, unused_imports, reason = "its gate asks for a file, so it is not lived again")]
mod stories;

stories::stories!("demo": a_text_is_approved_after_a_restart);
