//! Sources that are nearly right: token soup, and good sources with one or two tokens disturbed.

use testkit::SeededRng;

const TOKENS: &[&str] = &[
    "state",
    "reply",
    ".",
    "?.",
    "?",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "=>",
    "=",
    "==",
    "===",
    "!",
    "!=",
    "!==",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&&",
    "||",
    "??",
    "in",
    "1",
    "0",
    ".5",
    "5.",
    "0x1f",
    "08",
    "1_0",
    "1n",
    "'a'",
    "\"b\"",
    "`t`",
    "`${",
    "}`",
    "x",
    "x =>",
    "null",
    "undefined",
    "true",
    "NaN",
    "Infinity",
    "new",
    "typeof",
    "void",
    "this",
    "n",
    "s",
    "nums",
    "tasks",
    "some",
    "map",
    "length",
    "Math",
    "Math.max",
    "Number",
    "Object.keys",
    "...",
    "++",
    "--",
    "**",
    "&",
    "//",
    "/*",
    "\n",
    " ",
    ";",
    "\\u0061",
    "имя",
    "instanceof",
    "async",
    "await",
    "let",
    "return",
    "function",
    "\u{2028}",
    "\u{feff}",
    "#",
    "@",
    "~",
    "^",
    "<!--",
    "-->",
    "in",
    "of",
    "get",
    "{a: 1}",
    "[x]: ",
    "__proto__",
    "__proto__: ",
];

/// A few tokens in any order.
pub(crate) fn soup(rng: &mut SeededRng) -> String {
    let mut source = String::new();
    for _ in 0..=rng.next_below(7) {
        source.push_str(rng.pick_ref(TOKENS));
        if rng.roll_percent(40) {
            source.push(' ');
        }
    }
    source
}

/// A good source with one or two tokens left out, doubled, exchanged or put in.
pub(crate) fn mutate(source: &str, rng: &mut SeededRng) -> String {
    let mut tokens = tokens(source);
    for _ in 0..=rng.next_below(2) {
        let at = rng.next_below(tokens.len().max(1));
        match rng.next_below(4) {
            0 if tokens.len() > 1 => {
                tokens.remove(at);
            }
            1 if tokens.len() > 1 => {
                let copy = tokens[at].clone();
                tokens.insert(at, copy);
            }
            2 if tokens.len() > 1 => {
                let other = rng.next_below(tokens.len());
                tokens.swap(at, other);
            }
            _ => tokens.insert(at, rng.pick_ref(TOKENS).to_owned()),
        }
    }
    let mutant = tokens.concat();
    // QuickJS looks for `=>` past ASCII white space only; the standard has no such limit.
    if mutant.contains("\u{feff} =>") || mutant.contains("\u{feff}=>") {
        source.to_owned()
    } else {
        mutant
    }
}

/// Words, runs of signs and single brackets; not a lexer, only good enough to disturb.
fn tokens(source: &str) -> Vec<String> {
    let kind = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' => 0,
        ' ' => 1,
        '(' | ')' | '[' | ']' | '{' | '}' | '\'' | '`' | ',' => 2,
        _ => 3,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = 2;
    for character in source.chars() {
        let current = kind(character);
        match tokens.last_mut() {
            Some(token) if current == last && current != 2 => token.push(character),
            _ => tokens.push(character.to_string()),
        }
        last = current;
    }
    tokens
}
