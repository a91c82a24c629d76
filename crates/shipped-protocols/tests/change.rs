//! Change requests, as stories.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[expect(dead_code, unused_imports, reason = "no story of a template is lived again")]
mod stories;

stories::stories!("change":
    a_change_is_tested_first,
    a_denied_change_goes_back,
);
