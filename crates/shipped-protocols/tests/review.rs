//! Document review with two approvers, as stories.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[expect(dead_code, unused_imports, reason = "no story of a template is lived again")]
mod stories;

stories::stories!("review":
    a_denial_leads_back,
    two_people_approve,
);
