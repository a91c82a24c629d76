//! Replies: one text against one contract, at every level of repair.

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::{
    AdmissionOptions, FinishReason, IntakeMode, RuleContext, render_reask,
};

use super::door;

/// Eight times this is a quarter of the largest reply; `crates/cli/tests/hostile_reply.rs` has
/// replies of all sizes.
const BASE: usize = 32 << 10;

/// Two hundred fields beside those that matter: work for each of them would show.
fn contract() -> Contract {
    let fields: Vec<String> = (0..200).map(|n| format!("    f{n}: {{type: integer}}\n")).collect();
    let fields = fields.concat();
    load_inline_contract(&format!(
        "id: growth\nversion: 1.0.0\nintake: tolerant\n\
         schema:\n  type: object\n  required: [a, b]\n  additionalProperties: false\n  properties:\n\
         \x20   a: {{type: integer}}\n    b: {{enum: [x, y]}}\n    c: {{default: 1}}\n\
         \x20   list: {{type: array, items: {{type: string}}}}\n\
         \x20   maps: {{type: object, additionalProperties: {{type: string}}}}\n\
         \x20   either: {{type: array, items: {{oneOf: [{{type: string}}, {{type: object, required: [k]}}]}}}}\n\
         {fields}\
         rules: [{{ id: short, each: /list/*, then: 'item.length < 3', at: '', says: texts are short }}]\n",
    ))
    .unwrap()
}

fn repeated(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

fn list(open: &str, item: &str, close: &str, size: usize) -> String {
    let count = size.saturating_sub(open.len() + close.len()) / (item.len() + 1);
    format!("{open}{}{close}", vec![item; count.max(1)].join(","))
}

fn admit(contract: &Contract, text: &str, intake: IntakeMode, repairs: RepairLevel) {
    let terms = AdmissionOptions { intake, repairs, finish: FinishReason::Stop };
    let verdict = contract.admit_bytes(text.as_bytes(), terms, &RuleContext::default());
    // What a refused reply leads to is part of the door.
    if !verdict.violations().is_empty() {
        assert!(!render_reask(contract, verdict.violations()).is_empty());
    }
}

#[test]
fn values_that_break_the_schema() {
    let contract = contract();
    let strict = |text: &String| admit(&contract, text, IntakeMode::Strict, RepairLevel::None);
    let mut door = door("reply");
    door.measure_family(
        "one long key around many members",
        BASE,
        |size| {
            let key = "k".repeat(size / 2);
            list(&format!("{{\"{key}\": ["), "0", "]}", size)
        },
        strict,
    )
    .measure_family(
        "a long pointer around many members",
        BASE,
        |size| {
            let key = format!("{{\"{}\": ", "k".repeat(1_000));
            list(&format!("{}[", key.repeat(4)), "0", "]}}}}", size)
        },
        strict,
    )
    .measure_family(
        "many members of another type",
        BASE,
        |size| list("{\"a\": 1, \"b\": \"x\", \"list\": [", "0", "]}", size),
        strict,
    )
    .measure_family(
        "many members that fit no alternative",
        BASE,
        |size| list("{\"a\": 1, \"b\": \"x\", \"either\": [", "{\"l\":0}", "]}", size),
        strict,
    )
    .measure_family(
        "many unknown fields",
        BASE,
        |size| {
            let fields: Vec<String> = (0..size / 12).map(|n| format!("\"f{n:06}\":0")).collect();
            format!("{{{}}}", fields.join(","))
        },
        strict,
    )
    .measure_family(
        "many members of a map of another type",
        BASE,
        |size| {
            let fields: Vec<String> = (0..size / 12).map(|n| format!("\"f{n:06}\":0")).collect();
            format!("{{\"a\":1,\"b\":\"x\",\"maps\":{{{}}}}}", fields.join(","))
        },
        strict,
    )
    .measure_family(
        "many texts that break a rule",
        BASE,
        |size| list("{\"a\": 1, \"b\": \"x\", \"list\": [", "\"long\"", "]}", size),
        strict,
    )
    .measure_family("one key again and again", BASE, |size| list("{", "\"a\":1", "}", size), strict)
    .measure_family(
        "numbers that no value holds",
        BASE,
        |size| list("{\"a\":[", "1e999", "]}", size),
        strict,
    )
    .measure_family(
        "halves of characters",
        BASE,
        |size| format!("{{\"a\":\"{}\"}}", repeated("\\ud800", size)),
        strict,
    )
    .measure_family(
        "arrays in arrays, many",
        BASE,
        |size| {
            let nest = format!("{}{}", "[".repeat(90), "]".repeat(90));
            list("{\"a\":[", &nest, "]}", size)
        },
        strict,
    );
    door.assert_linear();
}

#[test]
fn raw_blanks_in_a_text() {
    let contract = contract();
    let lossless =
        |text: &String| admit(&contract, text, IntakeMode::Tolerant, RepairLevel::Lossless);
    let mut door = door("reply");
    for piece in ["\t", "\r", "\n", "\t    ", " \n", ",\n", ",  \t\r\n "] {
        door.measure_family(
            &format!("{piece:?} again and again in a text"),
            BASE,
            |size| format!("{{\"a\":1,\"b\":\"x\",\"list\":[\"{}\"]}}", repeated(piece, size)),
            lossless,
        );
    }
    door.assert_linear();
}

/// What is repeated; what stands between `^` and `~` comes once before it, what follows `$` once
/// after it.
const PIECES: [&str; 44] = [
    "{x} ",
    "\"{x}\" ",
    "{ a{ a",
    "[x ",
    "{\"a\":",
    "{'",
    "}{",
    "`{` ",
    "{\"a\" 1 ",
    "{\"a\":1} ",
    "> {\"a\":1}\n",
    "\"a\": ",
    "[{",
    "\"a\":\"x, \"b\": \"y, ",
    "{{",
    "{a:",
    "word {x} [1] (see {y}) ",
    "\"{\" ",
    "'{' ",
    "\"{\"x\"}\" ",
    "{x ",
    "{\n",
    "[x] ",
    "[[x] ",
    "[1] ",
    "} ",
    "x: 1} ",
    "<think> ",
    "<think>x</think> ",
    "[THINK]x[/THINK] ",
    "<|channel|>analysis ",
    "<a> ",
    "<a></b> ",
    "\"f7\": x y ",
    "\"f7\": 1, ",
    "{\"f7\": ::} ",
    "^{~\"f1\":\"x, \"f2\": \"y, ",
    "^{~“f1”: “x”, ",
    "word $\n{\"a\": 1, \"b\": \"x\"}",
    "\"f7\": x y $\n\n{\"a\": 1, \"b\": \"x\"}",
    "\"f1\": 1, $\n\n{\"a\": 1, \"b\": \"x\"}",
    "say \"f7\" and {f8} <a> $\n\n{\"a\": 1, \"b\": \"x\"}",
    "     $ {x} {x} {x}\n{\"a\": 1, \"b\": \"x\"}",
    "the field \"a\" and the field \"b\". $\n{\"a\":1,\"b\":\"x\"}",
];

fn text(pattern: &str, size: usize) -> String {
    let (front, rest) = match pattern.strip_prefix('^') {
        Some(rest) => rest.split_once('~').unwrap(),
        None => ("", pattern),
    };
    let (piece, end) = rest.split_once('$').unwrap_or((rest, ""));
    format!("{front}{}{end}", repeated(piece, size))
}

fn texts_grow(repairs: RepairLevel) {
    let contract = contract();
    let mut door = door("reply");
    for piece in PIECES {
        door.measure_family(
            &format!("{piece:?} again and again, {}", repairs.as_str()),
            BASE,
            |size| text(piece, size),
            |text: &String| admit(&contract, text, IntakeMode::Tolerant, repairs),
        );
    }
    door.assert_linear();
}

#[test]
fn texts_with_prose_and_slips_at_the_default_level() {
    texts_grow(RepairLevel::Lossless);
}

#[test]
fn texts_with_prose_and_slips_where_guesses_are_allowed() {
    texts_grow(RepairLevel::Guess);
}

#[test]
fn values_that_are_repaired() {
    let contract = contract();
    let mut door = door("reply");
    let repaired = |text: &String| admit(&contract, text, IntakeMode::Tolerant, RepairLevel::Guess);
    door.measure_family(
        "comments between members",
        BASE,
        |size| list("{\"a\":1,\"b\":\"x\",\"list\":[", "/**/\"l\"", "]}", size),
        repaired,
    )
    .measure_family(
        "line breaks in a text",
        BASE,
        |size| format!("{{\"a\":1,\"b\":\"x\",\"list\":[\"{}\"]}}", repeated("l\n", size)),
        repaired,
    );
    door.assert_linear();
}
