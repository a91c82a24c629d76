//! Support triage, as stories.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[expect(dead_code, unused_imports, reason = "no story of a template is lived again")]
mod stories;

stories::stories!("triage":
    a_critical_ticket_goes_to_a_person,
    a_refund_is_promised_only_with_a_quote,
    a_ticket_is_answered_with_quotes,
);
