//! Cuts long messages into pieces, so that the part that answers can be found and shown.
//!
//! A message stays one event with one id and its whole text; its pieces follow from the text alone.
//! They are cut before headings, after lines, after sentences, and only then after words.

use std::borrow::Cow;
use std::ops::Range;

/// A text with more bytes is cut; it is prose and not a turn of a conversation.
pub(super) const MAX_TURN_BYTES: usize = 700;

/// The maximum length of a piece in bytes, some 150 tokens.
const MAX_PIECE_BYTES: usize = 600;

/// A heading begins a new piece if the piece before it has at least so many bytes.
const MIN_PIECE_BYTES: usize = 200;

/// Returns the pieces of a text in order, without the space between them; one piece if it is short.
#[must_use]
pub fn split_into_pieces(text: &str) -> Vec<&str> {
    if text.len() <= MAX_TURN_BYTES {
        return vec![text];
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut open: Option<Range<usize>> = None;
    for part in split_parts(text) {
        let heading = text[part.clone()].starts_with('#');
        let fits = |piece: &Range<usize>| {
            part.end - piece.start <= MAX_PIECE_BYTES
                && !(heading && piece.len() >= MIN_PIECE_BYTES)
        };
        open = match open {
            Some(piece) if fits(&piece) => Some(piece.start..part.end),
            Some(piece) => {
                pieces.push(piece);
                Some(part)
            }
            None => Some(part),
        };
    }
    pieces.extend(open);
    let pieces = pieces.into_iter().map(|piece| text[piece].trim());
    let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
    if pieces.is_empty() { vec![text] } else { pieces }
}

/// Returns a piece of a text by its number, which starts at 1, with marks where something is left
/// out; the whole text without a number.
#[must_use]
pub fn excerpt_piece(text: &str, piece: Option<u32>) -> Cow<'_, str> {
    let Some(piece) = piece else { return Cow::Borrowed(text) };
    let pieces = split_into_pieces(text);
    let number = (piece as usize).clamp(1, pieces.len());
    let before = if number > 1 { "… " } else { "" };
    let behind = if number < pieces.len() { " …" } else { "" };
    Cow::Owned(format!("{before}{}{behind}", pieces[number - 1]))
}

/// Returns the parts that a piece consists of: lines, or what a long line is cut into.
fn split_parts(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut begin = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let from = begin;
        begin += line.len();
        split_line(line).into_iter().map(move |part| part.start + from..part.end + from)
    })
}

fn split_line(line: &str) -> Vec<Range<usize>> {
    let (mut parts, mut begin) = (Vec::new(), 0);
    while line.len() - begin > MAX_PIECE_BYTES {
        let end = begin + find_cut(&line[begin..]);
        parts.push(begin..end);
        begin = end;
    }
    parts.push(begin..line.len());
    parts
}

/// Returns where to cut a line that is too long: after its last sentence that fits, else after a
/// word, else after a character.
fn find_cut(line: &str) -> usize {
    let (mut sentence, mut word, mut character) = (0, 0, 0);
    let mut characters = line.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let end = at + one.len_utf8();
        if end > MAX_PIECE_BYTES {
            break;
        }
        let spaced = characters.peek().is_some_and(|(_, next)| next.is_whitespace());
        if matches!(one, '。' | '！' | '？') || (spaced && matches!(one, '.' | '!' | '?' | ';'))
        {
            sentence = end;
        }
        if one.is_whitespace() {
            word = end;
        }
        character = end;
    }
    if sentence >= MIN_PIECE_BYTES {
        sentence
    } else if word > 0 {
        word
    } else {
        character.max(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_messages_stay_whole() {
        assert_eq!(split_into_pieces(""), [""]);
        let turn = "word ".repeat(140);
        assert_eq!(split_into_pieces(&turn), [turn.as_str()]);
    }

    #[test]
    fn a_long_reply_is_cut_before_its_headings() {
        let list = "- One thing to look at before you begin with the work.\n".repeat(7);
        let text = format!("Sure!\n\n## First\n\n{list}\n## Second\n\n{list}\n## Third\n\n{list}");
        let pieces = split_into_pieces(&text);
        let heads: Vec<&str> = pieces.iter().filter_map(|piece| piece.lines().next()).collect();
        assert_eq!(heads, ["Sure!", "## Second", "## Third"]);
    }

    #[test]
    fn a_long_line_is_cut_after_a_sentence_in_any_script() {
        for (sentence, count) in [
            ("The first sentence is of a usual length. ", 40),
            ("Это предложение обычной длины. ", 40),
            ("这是一个普通长度的句子。", 40),
        ] {
            let text = sentence.repeat(count);
            let pieces = split_into_pieces(&text);
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| piece.ends_with(['.', '。'])), "{pieces:?}");
        }
        let unbroken = "ж".repeat(1_000);
        assert!(split_into_pieces(&unbroken).iter().all(|piece| piece.len() <= MAX_PIECE_BYTES));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_piece_is_long(text in "([#a-z。ж.!]{0,40}[ \n]{0,3}){0,120}") {
            let pieces = split_into_pieces(&text);
            let joined: String = pieces.concat().split_whitespace().collect();
            prop_assert_eq!(joined, text.split_whitespace().collect::<String>());
            prop_assert!(pieces.iter().all(|piece| piece.len() <= MAX_TURN_BYTES));
        }
    }
}
