//! Generates texts that match a simple pattern: literals, classes, groups, alternatives and
//! repetition.
//!
//! Anchors are parsed and ignored. Look-around, back references, word boundaries and Unicode
//! classes are not supported; such a pattern gives no text.

use std::iter::Peekable;
use std::str::Chars;

use super::splitmix64::SplitMix64;

/// A node of a parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RegexNode {
    /// One character of these inclusive ranges.
    CharClass(Vec<(char, char)>),
    /// The nodes one after the other.
    Sequence(Vec<RegexNode>),
    /// Exactly one of the nodes.
    Alternatives(Vec<RegexNode>),
    /// A repetition with its minimum and maximum count; `None` means no maximum.
    Repeat(Box<RegexNode>, usize, Option<usize>),
    /// The beginning or the end of the text.
    Anchor,
}

const ANY_CHAR_RANGE: (char, char) = ('a', 'z');

/// The maximum length of a generated text.
const MAX_MATCH_BYTES: usize = 16 * 1024;

impl RegexNode {
    /// Parses a pattern; `None` if it is not a simple one.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let mut rest = pattern.chars().peekable();
        let node = parse_alternatives(&mut rest, 0)?;
        rest.next().is_none().then_some(node)
    }

    /// Generates a text in which the pattern is found; `longer` allows more repetitions. Returns
    /// `None` if the text would be too long.
    pub(super) fn generate_text(&self, random: &mut SplitMix64, longer: usize) -> Option<String> {
        let mut text = String::new();
        self.write_text(random, longer, &mut text).then_some(text)
    }

    fn write_text(&self, random: &mut SplitMix64, longer: usize, text: &mut String) -> bool {
        if text.len() > MAX_MATCH_BYTES {
            return false;
        }
        match self {
            Self::Anchor => {}
            Self::CharClass(ranges) => {
                let (low, high) = ranges[random.next_below(ranges.len())];
                let step =
                    random.next_below((u32::from(high) - u32::from(low) + 1) as usize) as u32;
                text.push(char::from_u32(u32::from(low) + step).unwrap_or(low));
            }
            Self::Sequence(parts) => {
                return parts.iter().all(|part| part.write_text(random, longer, text));
            }
            Self::Alternatives(parts) => {
                return parts[random.next_below(parts.len())].write_text(random, longer, text);
            }
            Self::Repeat(part, least, most) => {
                let longer_room = longer.saturating_add(3);
                let room = most.map_or(longer_room, |most| (most - least).min(longer_room));
                // A part that writes nothing is not repeated forever.
                let times = least.saturating_add(random.next_below(room.saturating_add(1)));
                for _ in 0..times.min(MAX_MATCH_BYTES + 1) {
                    let length = text.len();
                    if !part.write_text(random, longer, text) {
                        return false;
                    }
                    if text.len() == length {
                        break;
                    }
                }
            }
        }
        true
    }
}

type RegexChars<'p> = Peekable<Chars<'p>>;

fn parse_alternatives(rest: &mut RegexChars<'_>, depth: usize) -> Option<RegexNode> {
    if depth > 16 {
        return None;
    }
    let mut parts = vec![parse_sequence(rest, depth)?];
    while rest.next_if_eq(&'|').is_some() {
        parts.push(parse_sequence(rest, depth)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { RegexNode::Alternatives(parts) })
}

fn parse_sequence(rest: &mut RegexChars<'_>, depth: usize) -> Option<RegexNode> {
    let mut parts = Vec::new();
    while let Some(&next) = rest.peek() {
        if next == '|' || next == ')' {
            break;
        }
        rest.next();
        let part = match next {
            '^' | '$' => RegexNode::Anchor,
            '.' => RegexNode::CharClass(vec![ANY_CHAR_RANGE]),
            '[' => parse_class(rest)?,
            '(' => parse_group(rest, depth)?,
            '\\' => RegexNode::CharClass(parse_escape(rest.next()?)?),
            '*' | '+' | '?' | '{' => return None,
            literal => RegexNode::CharClass(vec![(literal, literal)]),
        };
        parts.push(parse_repetition(part, rest)?);
    }
    Some(RegexNode::Sequence(parts))
}

fn parse_group(rest: &mut RegexChars<'_>, depth: usize) -> Option<RegexNode> {
    if rest.next_if_eq(&'?').is_some() {
        rest.next_if_eq(&':')?;
    }
    let inside = parse_alternatives(rest, depth + 1)?;
    rest.next_if_eq(&')')?;
    Some(inside)
}

fn parse_repetition(part: RegexNode, rest: &mut RegexChars<'_>) -> Option<RegexNode> {
    let (least, most) = match rest.peek() {
        Some('*') => (0, None),
        Some('+') => (1, None),
        Some('?') => (0, Some(1)),
        Some('{') => {
            rest.next();
            let bounds: String = std::iter::from_fn(|| rest.next_if(|next| *next != '}')).collect();
            let (least, most) = match bounds.split_once(',') {
                Some((least, "")) => (least.parse().ok()?, None),
                Some((least, most)) => (least.parse().ok()?, Some(most.parse().ok()?)),
                None => (bounds.parse().ok()?, Some(bounds.parse().ok()?)),
            };
            if least > 4096 || most.is_some_and(|most| most < least) {
                return None;
            }
            (least, most)
        }
        _ => return Some(part),
    };
    rest.next()?;
    // A lazy quantifier matches the same texts.
    rest.next_if_eq(&'?');
    Some(RegexNode::Repeat(Box::new(part), least, most))
}

fn parse_escape(letter: char) -> Option<Vec<(char, char)>> {
    Some(match letter {
        'd' => vec![('0', '9')],
        'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        's' => vec![(' ', ' ')],
        'n' => vec![('\n', '\n')],
        't' => vec![('\t', '\t')],
        letter if letter.is_ascii_alphanumeric() => return None,
        sign => vec![(sign, sign)],
    })
}

fn parse_class(rest: &mut RegexChars<'_>) -> Option<RegexNode> {
    let barred = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let mut item = match rest.next()? {
            ']' if !ranges.is_empty() => break,
            '[' | ']' => return None,
            '\\' => parse_escape(rest.next()?)?,
            literal => vec![(literal, literal)],
        };
        if rest.peek() == Some(&'-') {
            rest.next();
            match rest.next()? {
                ']' => {
                    ranges.append(&mut item);
                    ranges.push(('-', '-'));
                    break;
                }
                '\\' => return None,
                high if item.len() == 1 && item[0].0 <= high => item[0].1 = high,
                _ => return None,
            }
        }
        ranges.append(&mut item);
    }
    Some(RegexNode::CharClass(if barred { negate_ranges(&ranges)? } else { ranges }))
}

/// Returns the printable ASCII characters outside the ranges.
fn negate_ranges(ranges: &[(char, char)]) -> Option<Vec<(char, char)>> {
    let free = |sign: &char| !ranges.iter().any(|(low, high)| low <= sign && sign <= high);
    let others: Vec<_> = (' '..='~').filter(free).map(|sign| (sign, sign)).collect();
    (!others.is_empty()).then_some(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_end_is_not_made() {
        let text = |pattern: &str, longer: usize| {
            RegexNode::parse(pattern).unwrap().generate_text(&mut SplitMix64::new(1), longer)
        };
        assert_eq!(text("^((a{4096}){4096}){4096}$", 0), None);
        assert_eq!(
            text("^(((b?){4096}){4096}c){2}$", 0).map(|text| text.ends_with('c')),
            Some(true)
        );
        assert!(text("^a*$", usize::MAX / 2).is_none_or(|text| text.len() <= MAX_MATCH_BYTES + 1));
    }
    use countersign_contract::contract::Schema;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(pattern: &str) {
        let node = RegexNode::parse(pattern).unwrap();
        let schema = Schema::compile(json!({"pattern": pattern})).unwrap();
        for seed in 0..20 {
            let text = node.generate_text(&mut SplitMix64::new(seed), 0).unwrap();
            assert!(schema.is_valid(&Value::from(text.as_str())), "{pattern}: {text:?}");
        }
    }

    #[test]
    fn what_is_made_matches() {
        check("^sha256:[0-9a-f]{64}$");
        check(r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$");
        check("^(?:cat|dog)s?$");
        check(r"^\d{2,4}-\w+[^a-z\]]$");
        check("^(/.*)?$");
        check("x|y+?");
    }

    #[test]
    fn what_is_not_simple_is_given_up() {
        for pattern in ["(?=a)", r"\bword\b", r"(a)\1", r"\p{L}", "[[:alpha:]]", "a{99999}"] {
            assert_eq!(RegexNode::parse(pattern), None, "{pattern}");
        }
    }
}
