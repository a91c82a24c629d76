//! Corruptions of strings, keys and literals, and comments between them: mostly notations that are
//! not JSON.

use super::Corruption;
use crate::mutations::text_pieces::{PieceKind, TextPiece, TextPieces, quote_string};
use testkit::SeededRng;

const COMMENTS: [&str; 6] = [
    "// checked by hand\n",
    "/* see section 3 */",
    "// TODO: \"quoted\" {brace}\n",
    "/* уточнить */",
    "// 待确认 it's\n",
    "/* 확인 * / */",
];

const SMART: [[char; 2]; 4] = [['“', '”'], ['”', '”'], ['«', '»'], ['＂', '＂']];

/// Applies a corruption; returns `false` if the text offers nothing for it.
pub(super) fn apply(rng: &mut SeededRng, pieces: &mut TextPieces, corruption: Corruption) -> bool {
    match corruption {
        Corruption::MissingQuote => change_one(
            rng,
            pieces,
            |_| true,
            |rng, piece| {
                let end = piece.text.len() - 1;
                let kept = if rng.roll_percent(50) { &piece.text[1..] } else { &piece.text[..end] };
                piece.damage(kept.to_owned());
            },
        ),
        Corruption::UnescapedQuote => change_one(
            rng,
            pieces,
            |says| says.contains('"'),
            |_, piece| {
                let raw = piece.text[1..piece.text.len() - 1].replace("\\\"", "\"");
                piece.damage(format!("\"{raw}\""));
            },
        ),
        Corruption::InvalidEscape => change_one(rng, pieces, has_invalid_escape, |_, piece| {
            let raw = piece.text.replace("\\\\", "\\");
            piece.damage(raw);
        }),
        Corruption::RawNewlines => respell_all(pieces, |piece| {
            let odd = piece.decoded.contains(['\n', '\t']) && !piece.decoded.contains('\\');
            odd.then(|| piece.text.replace("\\n", "\n").replace("\\t", "\t"))
        }),
        Corruption::SingleQuotes => respell_all(pieces, |piece| {
            is_string(piece).then(|| quote_string(&piece.decoded, ['\'', '\''], false))
        }),
        Corruption::SmartQuotes => {
            let [open, close] = *rng.pick(&SMART);
            respell_all(pieces, |piece| {
                is_string(piece)
                    .then(|| format!("{open}{}{close}", &piece.text[1..piece.text.len() - 1]))
            })
        }
        Corruption::BareKeys => respell_all(pieces, |piece| {
            let bare = piece.kind == PieceKind::Key && is_identifier(&piece.decoded);
            bare.then(|| piece.decoded.clone())
        }),
        Corruption::PythonLiterals => respell_all(pieces, |piece| {
            let words = [("true", "True"), ("false", "False"), ("null", "None")];
            let (_, python) = words
                .iter()
                .find(|(word, _)| piece.kind == PieceKind::Literal && *word == piece.text)?;
            Some((*python).to_owned())
        }),
        Corruption::Comment => {
            // Between any two pieces, but not before the object.
            let at = rng.next_between(1, pieces.0.len() - 1);
            let comment = *rng.pick(&COMMENTS);
            pieces.0.insert(at, TextPiece::decoration(comment));
            true
        }
        _ => false,
    }
}

fn is_string(piece: &TextPiece) -> bool {
    matches!(piece.kind, PieceKind::Key | PieceKind::Text)
}

/// Returns whether a key means the same without quotes.
fn is_identifier(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns whether a backslash, left single, would precede a character for which JSON has no
/// escape.
fn has_invalid_escape(says: &str) -> bool {
    let mut found = false;
    let mut characters = says.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\' {
            match characters.peek() {
                Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u' | '\0'..='\x1f')
                | None => return false,
                Some(_) => found = true,
            }
        }
    }
    found
}

fn change_one(
    rng: &mut SeededRng,
    pieces: &mut TextPieces,
    fits: impl Fn(&str) -> bool,
    change: impl Fn(&mut SeededRng, &mut TextPiece),
) -> bool {
    let positions = pieces.find_positions(|kind| matches!(kind, PieceKind::Key | PieceKind::Text));
    let fitting: Vec<usize> =
        positions.into_iter().filter(|&at| fits(&pieces.0[at].decoded)).collect();
    if fitting.is_empty() {
        return false;
    }
    let at = *rng.pick(&fitting);
    change(rng, &mut pieces.0[at]);
    true
}

fn respell_all(pieces: &mut TextPieces, respelled: impl Fn(&TextPiece) -> Option<String>) -> bool {
    let mut any = false;
    for piece in &mut pieces.0 {
        if let Some(text) = respelled(piece) {
            piece.respell(text);
            any = true;
        }
    }
    any
}
