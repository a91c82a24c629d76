//! What the reader takes, what it mends at which level, and where it stops.

use super::{FlawKind, MAX_DEPTH, StopKind, read, read_spans};
use crate::json::{RepairLevel, Span};

/// `value | repairs | flaws`, or where it stopped and why.
fn show(text: &str, level: RepairLevel) -> String {
    match read(text, level) {
        Ok(reading) => {
            let mut shown = reading.value.to_string();
            for repair in reading.repairs {
                let Span { start, end } = repair.span;
                shown += &format!(" +{}@{start}-{end}", repair.kind.as_str());
            }
            for flaw in reading.flaws {
                let name = match flaw.kind {
                    FlawKind::DuplicateKey => "duplicate",
                    FlawKind::LossyNumber => "lossy",
                    FlawKind::LoneSurrogate => "surrogate",
                };
                shown += &format!(" {name} {}@{}", flaw.pointer, flaw.span.start);
            }
            shown
        }
        Err(stop) => match stop.kind {
            StopKind::Unexpected { expected, repair } => format!(
                "{}@{}: expected {expected}{}",
                stop.pointer,
                stop.span.start,
                repair.map_or_else(String::new, |kind| format!(" ({})", kind.as_str()))
            ),
            StopKind::EndOfText { expected } => {
                format!("{}: ended, expected {expected}", stop.pointer)
            }
            StopKind::TooDeep => format!("too deep@{}", stop.span.start),
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
    check(Syntactic, r#"["C:\Users"]"#, "/0@4: expected an escape JSON knows (invalid_escape)");
    check(Guess, "{\"a\" 1}", r#"{"a":1} +missing_colon@5-5"#);
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read(&nested(MAX_DEPTH), Bare).is_ok());
    check(Bare, &nested(MAX_DEPTH + 1), &format!("{}too deep@128", ""));
    check(Guess, &"[".repeat(1_000_000), "too deep@128");
}

#[test]
fn places_are_told_on_demand() {
    let text = r#"x {"a": [10, {"b/c": "d"}]}"#;
    let spans = read_spans(text, 2, Bare);
    let find = |pointer: &str| {
        let (_, span) = spans.iter().find(|(seen, _)| seen == pointer).unwrap();
        &text[span.range()]
    };
    assert_eq!(find("/a/0"), "10");
    assert_eq!(find("/a/1/b~1c"), "\"d\"");
    assert_eq!(find(""), &text[2..]);
}
