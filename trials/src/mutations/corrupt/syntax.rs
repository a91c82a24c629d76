//! Corruptions of the syntax between the strings: commas, colons, brackets, members and numbers.

use serde_json::Value;

use super::Corruption;
use crate::mutations::text_pieces::{PieceKind, TextLayout, TextPiece, TextPieces};
use testkit::SeededRng;

/// Applies a corruption; returns `false` if the text offers nothing for it.
pub(super) fn apply(
    rng: &mut SeededRng,
    pieces: &mut TextPieces,
    other: &Value,
    corruption: Corruption,
) -> bool {
    match corruption {
        Corruption::DuplicatedKey => duplicate_key(rng, pieces, other),
        Corruption::LossyNumber => {
            change_any(rng, pieces, |kind| kind == PieceKind::Number, make_lossy)
        }
        Corruption::TrailingComma => add_trailing_comma(rng, pieces),
        Corruption::DoubledComma => {
            change_any(rng, pieces, |kind| kind == PieceKind::Comma, |_, piece| piece.damage(",,"))
        }
        Corruption::MissingComma => {
            change_any(rng, pieces, |kind| kind == PieceKind::Comma, |_, piece| piece.damage(""))
        }
        Corruption::MissingColon => {
            change_any(rng, pieces, |kind| kind == PieceKind::Colon, |_, piece| piece.damage(""))
        }
        Corruption::MissingBracket => {
            // Mostly a closing bracket, because models seldom forget to open one.
            let opening = rng.roll_percent(15);
            let wanted = if opening { PieceKind::Open } else { PieceKind::Close };
            change_any(rng, pieces, |kind| kind == wanted, |_, piece| piece.damage(""))
        }
        Corruption::MismatchedCloser => change_any(
            rng,
            pieces,
            |kind| kind == PieceKind::Close,
            |_, piece| {
                let other = if piece.text == "}" { "]" } else { "}" };
                piece.damage(other);
            },
        ),
        _ => false,
    }
}

fn change_any(
    rng: &mut SeededRng,
    pieces: &mut TextPieces,
    kind: impl Fn(PieceKind) -> bool,
    change: impl Fn(&mut SeededRng, &mut TextPiece),
) -> bool {
    let positions = pieces.find_positions(kind);
    if positions.is_empty() {
        return false;
    }
    let at = *rng.pick(&positions);
    change(rng, &mut pieces.0[at]);
    true
}

/// Replaces a number with a similar one that no JSON value can represent.
fn make_lossy(rng: &mut SeededRng, piece: &mut TextPiece) {
    // The digit 7 is needed: after a single zero, the remaining digits would be few enough to
    // represent.
    let whole = piece.text.split(['.', 'e']).next().unwrap_or("0").to_owned();
    let number = match rng.next_below(4) {
        0 => format!("7{whole}.00000000000000000001"),
        1 => format!("{whole}.1234567890123456789012345"),
        2 => "18446744073709551617".to_owned(),
        _ => "1e400".to_owned(),
    };
    piece.damage(number);
}

fn add_trailing_comma(rng: &mut SeededRng, pieces: &mut TextPieces) -> bool {
    let closers = pieces.find_positions(|kind| kind == PieceKind::Close);
    let full: Vec<usize> = closers
        .into_iter()
        .filter_map(|at| pieces.find_before(at))
        .filter(|&before| {
            !matches!(pieces.0[before].kind, PieceKind::Open | PieceKind::Comma | PieceKind::Colon)
        })
        .collect();
    if full.is_empty() {
        return false;
    }
    let behind = *rng.pick(&full);
    pieces.0.insert(behind + 1, TextPiece::decoration(","));
    true
}

/// Repeats a top-level field with the value that another reply has there.
fn duplicate_key(rng: &mut SeededRng, pieces: &mut TextPieces, other: &Value) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_str(&pieces.to_strict_json()) else {
        return false;
    };
    let differing: Vec<(&String, &Value)> = members
        .iter()
        .filter_map(|(key, value)| other.get(key).map(|foreign| (key, value, foreign)))
        .filter(|(_, value, foreign)| value != foreign)
        .map(|(key, _, foreign)| (key, foreign))
        .collect();
    if differing.is_empty() {
        return false;
    }
    let (key, foreign) = *rng.pick(&differing);
    let mut member =
        vec![TextPiece::new(PieceKind::Changed, format!("{}:", Value::from(key.as_str())))];
    member.extend(TextPieces::from_value(foreign, TextLayout::COMPACT).0);
    let comma = TextPiece::new(PieceKind::Changed, ",");
    let at = if rng.roll_percent(50) {
        member.push(comma);
        1
    } else {
        member.insert(0, comma);
        pieces.0.len() - 1
    };
    pieces.0.splice(at..at, member);
    true
}
