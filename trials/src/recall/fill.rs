//! What of a ranking fits a budget: the longest prefix, as it would be written into a prompt.
//!
//! The date of a session is written once, before the first of its turns that is in.

use std::collections::BTreeSet;

use super::conversation::Conversation;

/// The turns that are in, for each budget.
pub(crate) fn fill(
    conversation: &Conversation,
    ranked: &[usize],
    budgets: &[u64],
) -> Vec<BTreeSet<usize>> {
    budgets.iter().map(|budget| within(conversation, ranked, *budget)).collect()
}

fn within(conversation: &Conversation, ranked: &[usize], budget: u64) -> BTreeSet<usize> {
    let (mut used, mut sessions, mut inside) = (0, BTreeSet::new(), BTreeSet::new());
    for at in ranked {
        let turn = &conversation.turns[*at];
        if sessions.insert(turn.session) {
            used += tokens(&format!("## {}\n", turn.date));
        }
        used += tokens(&turn.line());
        if used > budget {
            break;
        }
        inside.insert(*at);
    }
    inside
}

/// A quarter of the characters, rounded up.
fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}
