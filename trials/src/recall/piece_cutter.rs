//! Cuts long messages into pieces, each a turn of its own, as a caller does who stores pieces.

use countersign_memory::tokens::TokenCounter;

use super::recall_data::{RecallConversation, RecallTurn};

/// Cuts every message of a conversation into pieces of at most so many tokens.
pub(crate) fn cut_messages(
    conversation: &RecallConversation,
    most: u64,
    counter: &dyn TokenCounter,
) -> RecallConversation {
    let cut = |turn: &RecallTurn| -> Vec<RecallTurn> {
        let pieces = cut_text(&turn.text, most, counter);
        let single = pieces.len() == 1;
        let piece = |(number, text): (usize, String)| RecallTurn {
            id: if single { turn.id.clone() } else { format!("{}.{}", turn.id, number + 1) },
            text,
            ..turn.clone()
        };
        pieces.into_iter().enumerate().map(piece).collect()
    };
    RecallConversation {
        turns: conversation.turns.iter().flat_map(cut).collect(),
        ..conversation.clone()
    }
}

/// Cuts a text after lines, and a long line after words.
fn cut_text(text: &str, most: u64, counter: &dyn TokenCounter) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut piece, mut tokens) = (String::new(), 0);
    for part in text.split_inclusive(['\n', ' ', '。']) {
        let cost = counter.count(part);
        if tokens + cost > most && !piece.trim().is_empty() {
            pieces.push(std::mem::take(&mut piece).trim().to_owned());
            tokens = 0;
        }
        piece.push_str(part);
        tokens += cost;
    }
    if !piece.trim().is_empty() || pieces.is_empty() {
        pieces.push(piece.trim().to_owned());
    }
    pieces
}
