//! Expense approval, as stories.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[expect(dead_code, unused_imports, reason = "no story of a template is lived again")]
mod stories;

stories::stories!("expense":
    a_denied_claim_is_corrected,
    a_missing_receipt_is_asked_for,
    a_small_claim_is_paid,
    corrections_are_limited,
    nobody_approves_a_claim_of_their_own,
    nobody_decides_in_time,
);
