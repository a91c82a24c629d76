//! Texts that are designed to be slow to parse: brackets, quotes and backslashes in many orders.

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

/// Generates texts of about `bytes` bytes: each piece repeated, alone and followed by an equal
/// amount of closing brackets.
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
