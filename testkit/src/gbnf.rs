//! A small GBNF matcher, which checks whether exported grammars accept given texts.
//!
//! It supports the part of GBNF that Countersign exports: one rule per line, no comments. It does
//! not parse arbitrary grammars and is not optimized for speed.

use std::collections::{BTreeMap, BTreeSet};

enum GbnfNode {
    Text(Vec<char>),
    Class(bool, Vec<(char, char)>),
    Rule(String),
    Sequence(Vec<GbnfNode>),
    Alternatives(Vec<GbnfNode>),
    Repeat(Box<GbnfNode>, usize, usize),
}

/// A parsed grammar that can match texts.
pub struct GbnfMatcher {
    rules: BTreeMap<String, GbnfNode>,
}

type MatchMemo = BTreeMap<(String, usize), BTreeSet<usize>>;

impl GbnfMatcher {
    /// Parses a grammar.
    ///
    /// # Panics
    /// Panics if the grammar is invalid, defines a rule twice, or references an undefined rule.
    #[must_use]
    pub fn parse(grammar: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in grammar.lines() {
            let (name, body) = line.split_once(" ::= ").expect("a rule is `name ::= body`");
            let signs: Vec<char> = body.chars().collect();
            let mut reader = GbnfParser { chars: &signs, pos: 0 };
            let node = reader.parse_alternatives();
            assert_eq!(reader.pos, signs.len(), "{line}");
            assert!(rules.insert(name.to_owned(), node).is_none(), "rule {name} is defined twice");
        }
        let matcher = Self { rules };
        matcher.rules.values().for_each(|node| matcher.assert_rules_exist(node));
        matcher
    }

    fn assert_rules_exist(&self, node: &GbnfNode) {
        match node {
            GbnfNode::Rule(name) => assert!(self.rules.contains_key(name), "no rule {name}"),
            GbnfNode::Sequence(parts) | GbnfNode::Alternatives(parts) => {
                for part in parts {
                    self.assert_rules_exist(part);
                }
            }
            GbnfNode::Repeat(part, ..) => self.assert_rules_exist(part),
            GbnfNode::Text(_) | GbnfNode::Class(..) => {}
        }
    }

    /// Returns whether the grammar accepts the whole text.
    ///
    /// # Panics
    /// Panics if the grammar has no rule `root`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let signs: Vec<char> = text.chars().collect();
        self.find_ends(&self.rules["root"], &signs, 0, &mut MatchMemo::new()).contains(&signs.len())
    }

    fn find_ends(
        &self,
        node: &GbnfNode,
        text: &[char],
        at: usize,
        memo: &mut MatchMemo,
    ) -> BTreeSet<usize> {
        match node {
            GbnfNode::Text(wanted) => {
                text[at..].starts_with(wanted).then_some(at + wanted.len()).into_iter().collect()
            }
            GbnfNode::Class(barred, ranges) => {
                let fits = |sign: &char| {
                    ranges.iter().any(|(low, high)| low <= sign && sign <= high) != *barred
                };
                text.get(at).filter(|sign| fits(sign)).map(|_| at + 1).into_iter().collect()
            }
            GbnfNode::Rule(name) => {
                let key = (name.clone(), at);
                if let Some(ends) = memo.get(&key) {
                    return ends.clone();
                }
                let ends = self.find_ends(&self.rules[name], text, at, memo);
                memo.insert(key, ends.clone());
                ends
            }
            GbnfNode::Alternatives(parts) => {
                parts.iter().flat_map(|part| self.find_ends(part, text, at, memo)).collect()
            }
            GbnfNode::Sequence(parts) => {
                let mut here = BTreeSet::from([at]);
                for part in parts {
                    here = here
                        .into_iter()
                        .flat_map(|at| self.find_ends(part, text, at, memo))
                        .collect();
                }
                here
            }
            GbnfNode::Repeat(part, least, most) => {
                let (mut here, mut ends) = (BTreeSet::from([at]), BTreeSet::new());
                for round in 0..=*most {
                    if round >= *least {
                        let before = ends.len();
                        ends.extend(here.iter().copied());
                        if round > *least && ends.len() == before {
                            break;
                        }
                    }
                    here = here
                        .into_iter()
                        .flat_map(|at| self.find_ends(part, text, at, memo))
                        .collect();
                    if here.is_empty() {
                        break;
                    }
                }
                ends
            }
        }
    }
}

struct GbnfParser<'g> {
    chars: &'g [char],
    pos: usize,
}

impl GbnfParser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.pos).copied()
    }

    fn next_char(&mut self) -> char {
        self.pos += 1;
        self.chars[self.pos - 1]
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(' ') {
            self.pos += 1;
        }
    }

    fn parse_alternatives(&mut self) -> GbnfNode {
        let mut parts = vec![self.parse_sequence()];
        while self.peek() == Some('|') {
            self.pos += 1;
            parts.push(self.parse_sequence());
        }
        GbnfNode::Alternatives(parts)
    }

    fn parse_sequence(&mut self) -> GbnfNode {
        let mut parts = Vec::new();
        self.skip_spaces();
        while let Some(sign) = self.peek().filter(|sign| !"|)".contains(*sign)) {
            let part = match sign {
                '"' => self.parse_literal(),
                '[' => self.parse_class(),
                '(' => {
                    self.pos += 1;
                    let inside = self.parse_alternatives();
                    assert_eq!(self.next_char(), ')');
                    inside
                }
                _ => {
                    let start = self.pos;
                    while self
                        .peek()
                        .is_some_and(|sign| sign.is_ascii_alphanumeric() || sign == '-')
                    {
                        self.pos += 1;
                    }
                    assert!(self.pos > start, "unexpected {sign}");
                    GbnfNode::Rule(self.chars[start..self.pos].iter().collect())
                }
            };
            parts.push(self.parse_repetition(part));
            self.skip_spaces();
        }
        GbnfNode::Sequence(parts)
    }

    fn parse_repetition(&mut self, part: GbnfNode) -> GbnfNode {
        let (least, most) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let length = self.chars[self.pos..].iter().position(|sign| *sign == '}');
                let end = self.pos + length.expect("a bound must end with `}`");
                let bounds: String = self.chars[self.pos + 1..end].iter().collect();
                self.pos = end;
                let count = |digits: &str| digits.parse().expect("a bound must be a number");
                match bounds.split_once(',') {
                    Some((least, "")) => (count(least), usize::MAX),
                    Some((least, most)) => (count(least), count(most)),
                    None => (count(&bounds), count(&bounds)),
                }
            }
            _ => return part,
        };
        self.pos += 1;
        GbnfNode::Repeat(Box::new(part), least, most)
    }

    fn parse_char(&mut self) -> char {
        match self.next_char() {
            '\\' => match self.next_char() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'x' => self.parse_hex(2),
                'U' => self.parse_hex(8),
                other => other,
            },
            other => other,
        }
    }

    fn parse_hex(&mut self, digits: usize) -> char {
        let text: String = self.chars[self.pos..self.pos + digits].iter().collect();
        self.pos += digits;
        let number = u32::from_str_radix(&text, 16).expect("an escape must be hexadecimal");
        char::from_u32(number).expect("an escape must name a character")
    }

    fn parse_literal(&mut self) -> GbnfNode {
        self.pos += 1;
        let mut text = Vec::new();
        while self.peek() != Some('"') {
            text.push(self.parse_char());
        }
        self.pos += 1;
        GbnfNode::Text(text)
    }

    fn parse_class(&mut self) -> GbnfNode {
        self.pos += 1;
        let barred = self.peek() == Some('^');
        self.pos += usize::from(barred);
        let mut ranges = Vec::new();
        while self.peek() != Some(']') {
            let low = self.parse_char();
            let has_end = self.peek() == Some('-') && self.chars.get(self.pos + 1) != Some(&']');
            self.pos += usize::from(has_end);
            let high = if has_end { self.parse_char() } else { low };
            ranges.push((low, high));
        }
        self.pos += 1;
        GbnfNode::Class(barred, ranges)
    }
}
