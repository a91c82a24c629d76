//! Corruptions of single characters, at any position in the text.

use super::Corruption;
use crate::mutations::text_pieces::{PieceKind, TextPieces};
use testkit::SeededRng;

/// The characters to insert. There is no slash: two of them would be a comment, and a comment is no
/// damage.
const STRAY: [char; 16] =
    ['"', '\'', '{', '}', '[', ']', ',', ':', '\\', '0', '-', 'x', '_', ' ', '…', '的'];

/// Applies a corruption; returns `false` if the text has no position for it.
pub(super) fn apply(rng: &mut SeededRng, pieces: &mut TextPieces, corruption: Corruption) -> bool {
    // Half of the time the position is chosen by character, so that long strings are hit in
    // proportion to their length; otherwise by piece, because the structure would hardly ever be
    // hit.
    let positions = pieces.find_positions(|kind| kind != PieceKind::Changed);
    if positions.is_empty() {
        return false;
    }
    let piece = if rng.roll_percent(50) {
        *rng.pick(&positions)
    } else {
        pick_long_piece(rng, pieces, &positions)
    };
    let piece = &mut pieces.0[piece];
    let characters: Vec<char> = piece.strict.chars().collect();
    let at = rng.next_below(characters.len());
    let mut changed = characters.clone();
    match corruption {
        Corruption::DeletedCharacter => _ = changed.remove(at),
        Corruption::InsertedCharacter => changed.insert(at + rng.next_below(2), *rng.pick(&STRAY)),
        _ if at + 1 < changed.len() => changed.swap(at, at + 1),
        _ => return false,
    }
    if changed == characters {
        return false;
    }
    piece.damage(changed.into_iter().collect::<String>());
    true
}

fn pick_long_piece(rng: &mut SeededRng, pieces: &TextPieces, positions: &[usize]) -> usize {
    let some = [*rng.pick(positions), *rng.pick(positions), *rng.pick(positions)];
    some.into_iter().max_by_key(|&at| pieces.0[at].strict.len()).unwrap_or(positions[0])
}
