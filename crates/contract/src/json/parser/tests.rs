//! What the parser accepts, which repairs it makes at each level, and where it stops.

use super::{JsonDataLossKind, JsonParseErrorKind, locate_pointers, parse_json, parse_json_spans};
use crate::json::{RepairLevel, TextSpan};
use crate::limits::{MAX_DATA_LOSSES, MAX_DEPTH, MAX_KEY_BYTES, MAX_REPAIRS};

/// Formats the result as `value | repairs | data losses`, or the position and kind of the error.
fn show(text: &str, level: RepairLevel) -> String {
    match parse_json(text, level) {
        Ok(reading) => {
            let mut shown = reading.value.to_string();
            for repair in reading.repairs {
                let TextSpan { start, end } = repair.span;
                shown += &format!(" +{}@{start}-{end}", repair.kind.as_str());
            }
            for flaw in reading.data_losses {
                let name = match flaw.kind {
                    JsonDataLossKind::DuplicateKey => "duplicate",
                    JsonDataLossKind::LossyNumber => "lossy",
                    JsonDataLossKind::LoneSurrogate => "surrogate",
                };
                shown += &format!(" {name} {}@{}", flaw.pointer, flaw.span.start);
            }
            shown
        }
        Err(stop) => match stop.kind {
            JsonParseErrorKind::Unexpected { expected, repair } => format!(
                "{}@{}: expected {expected}{}",
                stop.pointer,
                stop.span.start,
                repair.map_or_else(String::new, |kind| format!(" ({})", kind.as_str()))
            ),
            JsonParseErrorKind::EndOfText { expected } => {
                format!("{}: ended, expected {expected}", stop.pointer)
            }
            JsonParseErrorKind::TooDeep => format!("too deep@{}", stop.span.start),
            JsonParseErrorKind::PointerTooLong => format!("pointer too long@{}", stop.span.start),
        },
    }
}

#[track_caller]
fn check(level: RepairLevel, text: &str, expected: &str) {
    assert_eq!(show(text, level), expected, "{text}");
}

use RepairLevel::{Guess, Lossless, None as Bare, Syntactic};

#[test]
fn json_is_read_as_it_is() {
    check(
        Bare,
        r#" {"a": [1, -2.5e3, true, null, "x\n\u00e9\ud83d\ude00"]} "#,
        "{\"a\":[1,-2500.0,true,null,\"x\\né😀\"]}",
    );
    check(Bare, "[]", "[]");
    check(Bare, "\"\"", "\"\"");
    check(Bare, "{}x", "@2: expected the end of the text");
    check(Bare, "", ": ended, expected a value");
    check(Bare, "[01]", "@2: expected `,` or `]` (missing_comma)");
    check(Bare, "[+1]", "/0@1: expected a value");
    check(Bare, "{\"a\" 1}", "/a@5: expected `:` (missing_colon)");
    check(Bare, "{\"a\":{\"b\":nul}}", "/a/b@10: expected a value (missing_quote)");
    check(Bare, "\"a\u{1}\"", "@2: expected no raw control character in a string");
    check(Bare, "\u{feff}{}", "@0: expected a value");
}

#[test]
fn nothing_is_lost_silently() {
    check(
        Bare,
        r#"{"a":1,"b":{"c":1,"c":2},"\u0061":3}"#,
        r#"{"a":3,"b":{"c":2}} duplicate /b/c@18 duplicate /a@25"#,
    );
    check(Bare, r#"{"n":[1e400]}"#, r#"{"n":[null]} lossy /n/0@6"#);
    check(
        Bare,
        r#"{"s":"\ud800x","t":"\ud800\u0041"}"#,
        "{\"s\":\"\u{fffd}x\",\"t\":\"\u{fffd}A\"} surrogate /s@6 surrogate /t@20",
    );
}

#[test]
fn lossless_repairs_drop_decoration_only() {
    check(Bare, "[1,]", "@2: expected a value (trailing_comma)");
    check(Lossless, "{\"a\":[1,],}", "{\"a\":[1]} +trailing_comma@7-8 +trailing_comma@9-10");
    check(Lossless, "[1,,]", "/1@3: expected a value");
    check(Lossless, "[,]", "/0@1: expected a value");
    check(Lossless, "/* a */ [1 // b\n, 2]", "[1,2] +comment@0-7 +comment@11-15");
    check(Lossless, "[1 /* b", ": ended, expected `*/`");
    check(Lossless, r#"{"u":"http://x/*y*/"}"#, r#"{"u":"http://x/*y*/"}"#);
    check(Lossless, "{'a':1}", "@1: expected a key in double quotes (single_quotes)");
    check(Lossless, "[\"a\nb\tc\"]", r#"["a\nb\tc"] +raw_newline@3-4 +raw_newline@5-6"#);
    check(Lossless, "[\"a,\n\nb\"]", r#"["a,\n\nb"] +raw_newline@4-5 +raw_newline@5-6"#);
    check(Lossless, "[\"a,\n b\"]", "/0@4: expected an escape such as `\\n` (doubtful_newline)");
    check(Bare, "[\"a\nb\"]", "/0@3: expected an escape such as `\\n` (raw_newline)");
}

#[test]
fn spaces_of_unicode_are_passed_over_between_tokens_only() {
    check(
        Lossless,
        "{\u{a0}\"a\":\u{202f}\u{200b}1,\u{3000}\"b\": 2\u{feff}}",
        r#"{"a":1,"b":2} +unicode_space@1-3 +unicode_space@7-13 +unicode_space@15-18 +unicode_space@24-27"#,
    );
    check(Lossless, "[\"a\u{a0}b\"]", "[\"a\u{a0}b\"]");
    check(Bare, "[\u{a0}1]", "/0@1: expected a value");
}

#[test]
fn typographic_quotes_are_lossless_where_nothing_inside_could_end_them() {
    check(Lossless, "{“a”: “b”}", r#"{"a":"b"} +smart_quotes@1-8 +smart_quotes@10-17"#);
    check(
        Lossless,
        "{„a“: «b», ‘c’: 1}",
        r#"{"a":"b","c":1} +smart_quotes@1-8 +smart_quotes@10-15 +smart_quotes@17-24"#,
    );
    check(Lossless, "{“a”: “it’s”}", "{\"a\":\"it’s\"} +smart_quotes@1-8 +smart_quotes@10-22");
    for inside in ["“say “x””", "“say \"x\"”", "“a”b”", "‘it’s’", "“a\nb”", "“a\\nb”"]
    {
        let text = format!("[{inside}]");
        check(Lossless, &text, "/0@1: expected a value (mixed_quotes)");
    }
    check(Syntactic, "[“say \"x\"”]", r#"["say \"x\""] +mixed_quotes@1-14"#);
}

#[test]
fn syntactic_repairs_read_other_notations() {
    check(
        Syntactic,
        "{'a': 'it\\'s \"x\"'}",
        r#"{"a":"it's \"x\""} +single_quotes@1-4 +single_quotes@6-17"#,
    );
    check(
        Syntactic,
        "{a: True, b-c: None}",
        r#"{"a":true,"b-c":null} +bare_key@1-2 +python_literal@4-8 +bare_key@10-13 +python_literal@15-19"#,
    );
    check(Syntactic, "{“a”: “b”}", r#"{"a":"b"} +smart_quotes@1-8 +smart_quotes@10-17"#);
    check(Syntactic, "[\"a\nb\"]", r#"["a\nb"] +raw_newline@3-4"#);
    check(Syntactic, "[hello]", "/0@1: expected a value (missing_quote)");
    check(Syntactic, "[1 2]", "@3: expected `,` or `]` (missing_comma)");
}

#[test]
fn guesses_are_named() {
    check(
        Guess,
        "{\"a\": [1, 2",
        r#"{"a":[1,2]} +unterminated_array@11-11 +unterminated_object@11-11"#,
    );
    check(Guess, "{\"a\": \"b", r#"{"a":"b"} +unterminated_string@8-8 +unterminated_object@8-8"#);
    check(Guess, "{\"a\": 1 \"b\": 2}", r#"{"a":1,"b":2} +missing_comma@8-8"#);
    check(
        Guess,
        "{\"a\": \"say \"hi\" now\"}",
        r#"{"a":"say \"hi\" now"} +unescaped_quote@11-12 +unescaped_quote@14-15"#,
    );
    check(Guess, "{\"a\": \"b, \"c\": 2}", r#"{"a":"b","c":2} +missing_quote@8-8"#);
    check(
        Guess,
        "{a\": hello, \"c\": 2}",
        r#"{"a":"hello","c":2} +missing_quote@1-1 +missing_quote@5-10"#,
    );
    check(Guess, r#"["C:\Users"]"#, r#"["C:\\Users"] +invalid_escape@4-6"#);
    check(Syntactic, r#"["C:\Users"]"#, "/0@4: expected a valid JSON escape (invalid_escape)");
    check(Guess, "{\"a\" 1}", r#"{"a":1} +missing_colon@5-5"#);
}

#[test]
fn a_guess_takes_nothing_into_a_string_that_is_not_its_own() {
    check(Guess, "{\"a\": \"b}", r#"{"a":"b"} +unterminated_string@8-8"#);
    check(Guess, "{\"a\": [\"b\n]\n}", r#"{"a":["b"]} +unterminated_string@9-9"#);
    check(Guess, "{\"a\": \"b\n```\n", "/a: ended, expected `\"`");
    check(Guess, r#"["it\'s"]"#, r#"["it's"] +invalid_escape@4-6"#);
    check(Guess, "[TRUE]", "/0@1: expected a value (missing_quote)");
    check(Guess, "[undefined]", "/0@1: expected a value (missing_quote)");
    check(Guess, "[NaN]", "/0@1: expected a value (missing_quote)");
    check(Guess, "{\"a\": 1, \"b", ": ended, expected `\"`");
}

#[test]
fn strings_end_where_they_end_at_any_length() {
    for length in 0..40 {
        for special in ["\\n", "é", "\u{7f}", ""] {
            let text =
                format!("[\"{}{special}{}\", 1]", "x".repeat(length), "ю".repeat(length % 5));
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(parse_json(&text, Bare).unwrap().value, value, "{text}");
        }
        let text = format!("[\"{}\u{1}\"]", "x".repeat(length));
        let at = length + 2;
        check(Bare, &text, &format!("/0@{at}: expected no raw control character in a string"));
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse_json(&nested(MAX_DEPTH), Bare).is_ok());
    check(Bare, &nested(MAX_DEPTH + 1), &format!("{}too deep@128", ""));
    check(Guess, &"[".repeat(1_000_000), "too deep@128");
}

#[test]
fn keys_and_pointers_are_bounded() {
    let key = |bytes: usize| format!("\"{}\"", "k".repeat(bytes));
    assert!(parse_json(&format!("{{{}: 1}}", key(MAX_KEY_BYTES)), Bare).is_ok());
    check(Bare, &format!("{{{}: 1}}", key(MAX_KEY_BYTES + 1)), "pointer too long@1");
    // Four keys of 1,000 bytes fit, five do not; leaving a member frees its bytes again.
    let nested = |levels: usize| {
        let key = key(1_000);
        format!("{}1{}", format!("{{{key}: ").repeat(levels), "}".repeat(levels))
    };
    assert!(parse_json(&format!("[{0},{0}]", nested(4)), Bare).is_ok());
    assert!(show(&nested(5), Bare).starts_with("pointer too long@"));
}

#[test]
fn many_flaws_and_repairs_are_counted() {
    let reading = parse_json(&format!("[{}1]", "1e999,".repeat(5_000)), Bare).unwrap();
    assert_eq!((reading.data_losses.len(), reading.data_loss_count), (MAX_DATA_LOSSES, 5_000));
    let reading =
        parse_json(&format!("[{}1]", "1/**/,".repeat(5_000)), RepairLevel::Lossless).unwrap();
    assert_eq!(reading.repairs.len(), MAX_REPAIRS + 1);
    assert_eq!(reading.repairs.iter().map(|repair| repair.count).sum::<usize>(), 5_000);
    let last = reading.repairs.last().unwrap();
    assert_eq!((last.count, last.span.end), (4_900, 1 + 5_000 * 6 - 1));
}

#[test]
fn wanted_pointers_are_located() {
    let text = r#"x {"a": [10, {"b/c": "d"}], "a~": 1}"#;
    let wanted = ["/a/0", "/a/1/b~1c", "", "/a/1/missing/deeper", "/a~0", "/a/7"];
    let found: Vec<&str> = locate_pointers(text, 2, Bare, &wanted)
        .into_iter()
        .map(|span| &text[span.unwrap().range()])
        .collect();
    let list = r#"[10, {"b/c": "d"}]"#;
    assert_eq!(found, ["10", "\"d\"", &text[2..], r#"{"b/c": "d"}"#, "1", list]);
}

#[test]
fn places_are_told_on_demand() {
    let text = r#"x {"a": [10, {"b/c": "d"}]}"#;
    let spans = parse_json_spans(text, 2, Bare);
    let find = |pointer: &str| {
        let (_, span) = spans.iter().find(|(seen, _)| seen == pointer).unwrap();
        &text[span.range()]
    };
    assert_eq!(find("/a/0"), "10");
    assert_eq!(find("/a/1/b~1c"), "\"d\"");
    assert_eq!(find(""), &text[2..]);
}
