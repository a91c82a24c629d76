//! The interview, as stories: what people and models say, and everything that is then true.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

mod stories;

stories::stories!("intake": a_short_interview_hands_over);
