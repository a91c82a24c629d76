//! The smallest protocol, as stories.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[expect(dead_code, unused_imports, reason = "no story of a template is lived again")]
mod stories;

stories::stories!("blank":
    a_person_ends_a_run_that_finds_no_answer,
    an_answer_is_kept,
    doubt_is_stated,
);
