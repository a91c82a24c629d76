//! Corruptions of the syntax between the strings: commas, colons, brackets, members, numbers.

use serde_json::Value;

use super::Corruption;
use crate::mutations::pieces::{Kind, Layout, Piece, Pieces};
use testkit::Chance;

/// Applies one; false where the text has nothing for it.
pub(super) fn apply(
    rng: &mut Chance,
    pieces: &mut Pieces,
    other: &Value,
    corruption: Corruption,
) -> bool {
    match corruption {
        Corruption::DuplicatedKey => duplicate(rng, pieces, other),
        Corruption::LossyNumber => on_any(rng, pieces, |kind| kind == Kind::Number, lossy),
        Corruption::TrailingComma => trailing_comma(rng, pieces),
        Corruption::DoubledComma => {
            on_any(rng, pieces, |kind| kind == Kind::Comma, |_, piece| piece.damage(",,"))
        }
        Corruption::MissingComma => {
            on_any(rng, pieces, |kind| kind == Kind::Comma, |_, piece| piece.damage(""))
        }
        Corruption::MissingColon => {
            on_any(rng, pieces, |kind| kind == Kind::Colon, |_, piece| piece.damage(""))
        }
        Corruption::MissingBracket => {
            // A closing bracket mostly; models seldom forget to open one.
            let opening = rng.percent(15);
            let wanted = if opening { Kind::Open } else { Kind::Close };
            on_any(rng, pieces, |kind| kind == wanted, |_, piece| piece.damage(""))
        }
        Corruption::MismatchedCloser => on_any(
            rng,
            pieces,
            |kind| kind == Kind::Close,
            |_, piece| {
                let other = if piece.text == "}" { "]" } else { "}" };
                piece.damage(other);
            },
        ),
        _ => false,
    }
}

fn on_any(
    rng: &mut Chance,
    pieces: &mut Pieces,
    kind: impl Fn(Kind) -> bool,
    change: impl Fn(&mut Chance, &mut Piece),
) -> bool {
    let places = pieces.places(kind);
    if places.is_empty() {
        return false;
    }
    let at = *rng.pick(&places);
    change(rng, &mut pieces.0[at]);
    true
}

/// A number that no JSON value can hold, near the one that stood there.
fn lossy(rng: &mut Chance, piece: &mut Piece) {
    // The seven: behind a lone zero the digits would be few enough to hold.
    let whole = piece.text.split(['.', 'e']).next().unwrap_or("0").to_owned();
    let number = match rng.below(4) {
        0 => format!("7{whole}.00000000000000000001"),
        1 => format!("{whole}.1234567890123456789012345"),
        2 => "18446744073709551617".to_owned(),
        _ => "1e400".to_owned(),
    };
    piece.damage(number);
}

fn trailing_comma(rng: &mut Chance, pieces: &mut Pieces) -> bool {
    let closers = pieces.places(|kind| kind == Kind::Close);
    let full: Vec<usize> = closers
        .into_iter()
        .filter_map(|at| pieces.before(at))
        .filter(|&before| !matches!(pieces.0[before].kind, Kind::Open | Kind::Comma | Kind::Colon))
        .collect();
    if full.is_empty() {
        return false;
    }
    let behind = *rng.pick(&full);
    pieces.0.insert(behind + 1, Piece::decoration(","));
    true
}

/// A field at the top a second time, with the value another reply has there.
fn duplicate(rng: &mut Chance, pieces: &mut Pieces, other: &Value) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_str(&pieces.plain()) else { return false };
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
    let mut member = vec![Piece::new(Kind::Done, format!("{}:", Value::from(key.as_str())))];
    member.extend(Pieces::of(foreign, Layout::COMPACT).0);
    let comma = Piece::new(Kind::Done, ",");
    let at = if rng.percent(50) {
        member.push(comma);
        1
    } else {
        member.insert(0, comma);
        pieces.0.len() - 1
    };
    pieces.0.splice(at..at, member);
    true
}
