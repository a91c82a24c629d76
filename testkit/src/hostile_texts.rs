//! Text made to be slow to read: brackets, quotes and backslashes in every order.

const PIECES: [&str; 37] = [
    "{",
    "[",
    "\"",
    "\\",
    "{\"",
    "[\"",
    "{\"a\":",
    "[{",
    "{[",
    "}",
    "]",
    "[x ",
    "{x ",
    "{ a{ a",
    "{'",
    "{a:",
    "{\"a\":\"",
    "{/*",
    "{ //",
    "[/*",
    "<think>",
    "</",
    "<think>{",
    "```\n{",
    "{\"a\":1,",
    "[1,",
    "{\"a\":[",
    "\\\"",
    "{\\",
    "“",
    "{“",
    "[]",
    "{{",
    "{,",
    "{\"a\" 1 ",
    "\"{",
    "]{",
];

/// Texts of about so many bytes: each piece repeated, bare and with as many closing brackets.
#[must_use]
pub fn generate_hostile_texts(bytes: usize) -> Vec<String> {
    let mut texts = Vec::new();
    for piece in PIECES {
        texts.push(piece.repeat(bytes / piece.len()));
        for closer in ["}", "]", "\"}", "\"]"] {
            let times = bytes / 2 / piece.len();
            texts.push(piece.repeat(times) + &closer.repeat(bytes / 2 / closer.len()));
        }
    }
    texts
}
