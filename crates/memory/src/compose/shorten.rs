//! Shortens a text at a boundary: after a sentence or a word, never inside a word.

use crate::tokens::TokenCounter;

/// Marks where a text was cut.
pub(crate) const ELLIPSIS: char = '…';

/// The maximum number of characters that one token can cover. A longer prefix is not considered.
const MAX_CHARS_PER_TOKEN: usize = 16;

/// Returns the text if it has at most `most` tokens, else its longest fitting prefix, cut at a
/// boundary and followed by `…`; `None` if not even one word fits.
pub(super) fn shorten(text: &str, most: u64, counter: &dyn TokenCounter) -> Option<String> {
    // A token has at least one byte.
    if text.len() as u64 <= most {
        return Some(text.to_owned());
    }
    let chars = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(MAX_CHARS_PER_TOKEN);
    let whole = text.char_indices().nth(chars).is_none();
    if whole && counter.count(text) <= most {
        return Some(text.to_owned());
    }
    let beginning = text.char_indices().nth(chars).map_or(text, |(at, _)| &text[..at]);
    let fits = |end: usize| counter.count(&truncate_at(text, end)) <= most;
    shorten_to_fit(text, beginning.len(), fits)
}

/// The same by characters, for text that no model reads.
pub(crate) fn shorten_chars(text: &str, most: usize) -> Option<String> {
    let Some((limit, _)) = text.char_indices().nth(most) else { return Some(text.to_owned()) };
    shorten_to_fit(text, limit, |end| text[..end].chars().count() < most)
}

fn shorten_to_fit(text: &str, limit: usize, fits: impl Fn(usize) -> bool) -> Option<String> {
    let ends = find_cut_points(text, limit);
    // Counts grow with the text, with rare exceptions: search, then step back until it fits.
    let mut found = ends.partition_point(|end| fits(end.offset));
    while found > 0 && !fits(ends[found - 1].offset) {
        found -= 1;
    }
    let last = ends[..found].last()?;
    // A whole sentence reads better, as long as it is at least half of what would fit.
    let sentence = ends[..found].iter().rev().find(|end| end.ends_sentence);
    let end = sentence.filter(|end| end.offset * 2 >= last.offset).unwrap_or(last);
    Some(truncate_at(text, end.offset))
}

fn truncate_at(text: &str, end: usize) -> String {
    let mut beginning = text[..end].to_owned();
    beginning.push(ELLIPSIS);
    beginning
}

#[derive(Debug, Clone, Copy)]
struct CutPoint {
    offset: usize,
    ends_sentence: bool,
}

/// Returns where a text may be cut, up to a byte offset: after each word and, in scripts without
/// spaces, after each character that no combining character follows.
fn find_cut_points(text: &str, limit: usize) -> Vec<CutPoint> {
    let mut ends = Vec::new();
    let mut characters = text.char_indices().peekable();
    // The character that the following combining characters belong to.
    let mut base = ' ';
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        if end > limit {
            break;
        }
        let Some((_, next)) = characters.peek() else { break };
        base = if is_combining(character) { base } else { character };
        if character.is_whitespace() || is_combining(*next) || character == '\u{200d}' {
            continue;
        }
        let sentence = matches!(character, '.' | '!' | '?' | '…') && next.is_whitespace()
            || matches!(character, '。' | '！' | '？' | '．');
        let inside = is_spaced(base) && is_spaced(*next);
        let idle = matches!(character, ',' | ';' | ':' | '(' | '-' | '—');
        let word = base.is_alphanumeric() && !inside;
        if sentence || word || (next.is_whitespace() && !idle) {
            // A number or a name keeps its punctuation: `1.5`, `e-mail`, `it's`.
            let joined = matches!(*next, '.' | ',' | '-' | '\'' | '’' | '_' | ':' | '/' | '@')
                && char_at(text, end + next.len_utf8()).is_some_and(char::is_alphanumeric);
            if !joined {
                ends.push(CutPoint { offset: end, ends_sentence: sentence });
            }
        }
    }
    ends
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// Returns whether a character is a letter or digit that is not a word by itself. Thai, Lao, Khmer
/// and Burmese have no spaces between words either, but their letters are not words; text in them
/// is cut at the spaces it does have.
fn is_spaced(character: char) -> bool {
    character.is_alphanumeric() && !is_dense(character)
}

/// Returns whether a character is a Chinese character or hiragana. Words in katakana stay whole.
fn is_dense(character: char) -> bool {
    matches!(u32::from(character),
        0x2e80..=0x309f | 0x3100..=0x312f | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff
        | 0x2_0000..=0x3_ffff)
}

/// Returns whether a character belongs to the one before it: marks, joiners, variation selectors,
/// skin tones.
fn is_combining(character: char) -> bool {
    matches!(u32::from(character),
        0x0300..=0x036f | 0x0483..=0x0489 | 0x0591..=0x05bd | 0x064b..=0x065f | 0x0900..=0x0903
        | 0x093a..=0x094f | 0x0e31 | 0x0e34..=0x0e3a | 0x0e47..=0x0e4e | 0x102b..=0x103e
        | 0x17b4..=0x17d3 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x200d | 0x20d0..=0x20ff
        | 0x3099..=0x309a | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0xff9e..=0xff9f
        | 0x1_f3fb..=0x1_f3ff | 0xe_0020..=0xe_007f | 0xe_0100..=0xe_01ef)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{CharCounter, TiktokenCounter};

    #[track_caller]
    fn check(text: &str, most: usize, expected: &str) {
        assert_eq!(shorten_chars(text, most).as_deref(), Some(expected));
    }

    #[test]
    fn a_text_is_cut_behind_a_word() {
        check("one two three", 13, "one two three");
        check("one two three", 12, "one two…");
        check("one two three", 5, "one…");
        assert_eq!(shorten_chars("one two three", 3), None);
        check("it's 1.5 e-mails, no more", 18, "it's 1.5 e-mails…");
        check("it's 1.5 e-mails, no more", 13, "it's 1.5…");
    }

    #[test]
    fn a_sentence_is_preferred_where_it_is_most_of_the_text() {
        check("It rained all day. Then we went on", 28, "It rained all day.…");
        check("No. It rained all day and the next", 28, "No. It rained all day and…");
    }

    #[test]
    fn scripts_without_spaces_are_cut_between_characters() {
        check("合同价格是一百万元。付款期为三十天", 8, "合同价格是一百…");
        check("合同价格是一百万元。付款期为三十天", 13, "合同价格是一百万元。…");
        check("계약 가격은 얼마입니까", 8, "계약 가격은…");
    }

    #[test]
    fn what_hangs_on_a_character_stays_with_it() {
        assert_eq!(shorten_chars("สัญญา ราคา", 8).as_deref(), Some("สัญญา…"));
        assert_eq!(shorten_chars("葛\u{e0100}城市です", 3).as_deref(), Some("葛\u{e0100}…"));
        assert_eq!(shorten_chars("コンピュータ", 4), None);
        assert_eq!(shorten_chars("👩\u{200d}👩\u{200d}👧 family", 4), None);
    }

    #[test]
    fn tokens_are_kept_to() {
        let text =
            "Countersign keeps what was said, in every script; договор подписан, 合同已签。 "
                .repeat(20);
        for counter in [&TiktokenCounter::o200k() as &dyn TokenCounter, &CharCounter] {
            for most in [1, 2, 3, 5, 8, 24, 100, 300] {
                let Some(short) = shorten(&text, most, counter) else { continue };
                assert!(counter.count(&short) <= most, "{most}: {short}");
                assert!(text.starts_with(short.trim_end_matches(ELLIPSIS)), "{short}");
            }
            assert_eq!(shorten(&text, 100_000, counter).as_ref(), Some(&text));
        }
    }
}
