//! A small matcher for GBNF, so that grammars can be put to texts.
//!
//! It reads the part of GBNF that our grammars use: a rule a line, no comments. Not a parser for
//! grammars of others, and not fast.

use std::collections::{BTreeMap, BTreeSet};

enum Node {
    Text(Vec<char>),
    Class(bool, Vec<(char, char)>),
    Rule(String),
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat(Box<Node>, usize, usize),
}

/// A grammar that has been read.
pub struct Matcher {
    rules: BTreeMap<String, Node>,
}

type Memo = BTreeMap<(String, usize), BTreeSet<usize>>;

impl Matcher {
    /// Reads a grammar.
    ///
    /// # Panics
    /// Where it is none, where a rule stands twice, or where a rule is missing.
    #[must_use]
    pub fn new(grammar: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in grammar.lines() {
            let (name, body) = line.split_once(" ::= ").expect("a rule is `name ::= body`");
            let signs: Vec<char> = body.chars().collect();
            let mut reader = Reader { signs: &signs, at: 0 };
            let node = reader.either();
            assert_eq!(reader.at, signs.len(), "{line}");
            assert!(rules.insert(name.to_owned(), node).is_none(), "twice: {name}");
        }
        let matcher = Self { rules };
        matcher.rules.values().for_each(|node| matcher.known(node));
        matcher
    }

    fn known(&self, node: &Node) {
        match node {
            Node::Rule(name) => assert!(self.rules.contains_key(name), "no rule {name}"),
            Node::Sequence(parts) | Node::Either(parts) => {
                for part in parts {
                    self.known(part);
                }
            }
            Node::Repeat(part, ..) => self.known(part),
            Node::Text(_) | Node::Class(..) => {}
        }
    }

    /// Whether the whole text is what the grammar says.
    ///
    /// # Panics
    /// Where the grammar has no rule `root`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let signs: Vec<char> = text.chars().collect();
        self.ends(&self.rules["root"], &signs, 0, &mut Memo::new()).contains(&signs.len())
    }

    fn ends(&self, node: &Node, text: &[char], at: usize, memo: &mut Memo) -> BTreeSet<usize> {
        match node {
            Node::Text(wanted) => {
                text[at..].starts_with(wanted).then_some(at + wanted.len()).into_iter().collect()
            }
            Node::Class(barred, ranges) => {
                let fits = |sign: &char| {
                    ranges.iter().any(|(low, high)| low <= sign && sign <= high) != *barred
                };
                text.get(at).filter(|sign| fits(sign)).map(|_| at + 1).into_iter().collect()
            }
            Node::Rule(name) => {
                let key = (name.clone(), at);
                if let Some(ends) = memo.get(&key) {
                    return ends.clone();
                }
                let ends = self.ends(&self.rules[name], text, at, memo);
                memo.insert(key, ends.clone());
                ends
            }
            Node::Either(parts) => {
                parts.iter().flat_map(|part| self.ends(part, text, at, memo)).collect()
            }
            Node::Sequence(parts) => {
                let mut here = BTreeSet::from([at]);
                for part in parts {
                    here =
                        here.into_iter().flat_map(|at| self.ends(part, text, at, memo)).collect();
                }
                here
            }
            Node::Repeat(part, least, most) => {
                let (mut here, mut ends) = (BTreeSet::from([at]), BTreeSet::new());
                for round in 0..=*most {
                    if round >= *least {
                        let before = ends.len();
                        ends.extend(here.iter().copied());
                        if round > *least && ends.len() == before {
                            break;
                        }
                    }
                    here =
                        here.into_iter().flat_map(|at| self.ends(part, text, at, memo)).collect();
                    if here.is_empty() {
                        break;
                    }
                }
                ends
            }
        }
    }
}

struct Reader<'g> {
    signs: &'g [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.signs.get(self.at).copied()
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.signs[self.at - 1]
    }

    fn spaces(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn either(&mut self) -> Node {
        let mut parts = vec![self.sequence()];
        while self.peek() == Some('|') {
            self.at += 1;
            parts.push(self.sequence());
        }
        Node::Either(parts)
    }

    fn sequence(&mut self) -> Node {
        let mut parts = Vec::new();
        self.spaces();
        while let Some(sign) = self.peek().filter(|sign| !"|)".contains(*sign)) {
            let part = match sign {
                '"' => self.text(),
                '[' => self.class(),
                '(' => {
                    self.at += 1;
                    let inside = self.either();
                    assert_eq!(self.next(), ')');
                    inside
                }
                _ => {
                    let start = self.at;
                    while self
                        .peek()
                        .is_some_and(|sign| sign.is_ascii_alphanumeric() || sign == '-')
                    {
                        self.at += 1;
                    }
                    assert!(self.at > start, "unexpected {sign}");
                    Node::Rule(self.signs[start..self.at].iter().collect())
                }
            };
            parts.push(self.repeated(part));
            self.spaces();
        }
        Node::Sequence(parts)
    }

    fn repeated(&mut self, part: Node) -> Node {
        let (least, most) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let length = self.signs[self.at..].iter().position(|sign| *sign == '}');
                let end = self.at + length.expect("a bound ends with `}`");
                let bounds: String = self.signs[self.at + 1..end].iter().collect();
                self.at = end;
                let count = |digits: &str| digits.parse().expect("a bound is a number");
                match bounds.split_once(',') {
                    Some((least, "")) => (count(least), usize::MAX),
                    Some((least, most)) => (count(least), count(most)),
                    None => (count(&bounds), count(&bounds)),
                }
            }
            _ => return part,
        };
        self.at += 1;
        Node::Repeat(Box::new(part), least, most)
    }

    fn sign(&mut self) -> char {
        match self.next() {
            '\\' => match self.next() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'x' => self.hex(2),
                'U' => self.hex(8),
                other => other,
            },
            other => other,
        }
    }

    fn hex(&mut self, digits: usize) -> char {
        let text: String = self.signs[self.at..self.at + digits].iter().collect();
        self.at += digits;
        let number = u32::from_str_radix(&text, 16).expect("an escape is hexadecimal");
        char::from_u32(number).expect("an escape names a character")
    }

    fn text(&mut self) -> Node {
        self.at += 1;
        let mut text = Vec::new();
        while self.peek() != Some('"') {
            text.push(self.sign());
        }
        self.at += 1;
        Node::Text(text)
    }

    fn class(&mut self) -> Node {
        self.at += 1;
        let barred = self.peek() == Some('^');
        self.at += usize::from(barred);
        let mut ranges = Vec::new();
        while self.peek() != Some(']') {
            let low = self.sign();
            let has_end = self.peek() == Some('-') && self.signs.get(self.at + 1) != Some(&']');
            self.at += usize::from(has_end);
            let high = if has_end { self.sign() } else { low };
            ranges.push((low, high));
        }
        self.at += 1;
        Node::Class(barred, ranges)
    }
}
