//! Tables for `Text` and `Pointer`. These are extensions, so no JavaScript engine can verify them.

use super::super::Expr;
use super::evaluate;

const STATE: &str = r#"{
    "q": "What is the contract price?",
    "d": {"a": [{"b/c": 1, "~": null}], "": 0, "0": "zero", "length": 5},
    "p": "/a/0/b~1c"
}"#;

#[test]
fn text_is_read_as_words_and_numbers() {
    for (source, expected) in [
        ("Text.words(state.q)", r#"["what","is","the","contract","price"]"#),
        ("Text.words('合同价格')", r#"["合同","同价","价格"]"#),
        ("Text.words('')", "[]"),
        ("Text.fingerprint('Price, contract!') === Text.fingerprint('contract PRICES')", "true"),
        ("Text.fingerprint(state.q).length", "16"),
        ("Text.similarity(state.q, 'Could you tell me the price of the contract?')", "1"),
        ("Text.similarity(state.q, 'Who signs the contract?')", "0.062"),
        ("Text.numbers('1,250.50 or 1 250,50, 5 %')", r#"["1250.5","1250.5","5%"]"#),
        ("Text.slug('Итог №1: ../x')", r#""итог-no1-x""#),
        (r#"Text.fields(' {"b": 1, "a": {"c": 2}} ')"#, r#"["b","a"]"#),
        ("Text.language('Нужен договор поставки.')", "\"ru\""),
        ("[Text.language('2025')].filter(Boolean)", "[]"),
        ("Text.fields('{}')", "[]"),
        (r#"[' {"a": [1]} ', '[]', '"a"', '-1', 'null'].every(text => Text.isJson(text))"#, "true"),
        (r#"['', '{"a": 1,}', '{} {}', 'so: {}', 'NaN'].some(text => Text.isJson(text))"#, "false"),
        (
            r#"[Text.fields('[1]'), Text.fields('{"a": 1,}'), Text.fields('so: {"a": 1}')].filter(Boolean)"#,
            "[]",
        ),
        ("Text.matches(state.q, '^what .* price')", "true"),
        ("Text.matches('ДОГОВОР', 'дог[оа]вор')", "true"),
        ("Text.matches('a\\nb', '^b')", "false"),
        (r"Text.matches('x 12', '\\d+$')", "true"),
        ("['a1', 'b'].filter(s => Text.matches(s, `[0-9]`.length ? '[0-9]' : ''))", "refused"),
        ("[Text].length", "refused"),
    ] {
        if expected == "refused" {
            assert!(Expr::compile(source, &["state"]).is_err(), "{source}");
            continue;
        }
        assert_eq!(evaluate(source, STATE).unwrap(), expected, "{source}");
    }
}

#[test]
fn pointers_lead_to_own_places_only() {
    for (source, expected) in [
        ("Pointer.get(state.d, '/a/0/b~1c')", "1"),
        ("Pointer.get(state.d, state.p)", "1"),
        ("Pointer.get(state.d, '/a/0/~0')", "null"),
        ("Pointer.has(state.d, '/a/0/~0')", "true"),
        ("Pointer.get(state.d, '/')", "0"),
        ("Pointer.get(state.d, '/0')", r#""zero""#),
        ("Pointer.get(state.d, '') === state.d", "true"),
        ("Pointer.get(state.d, '/length')", "5"),
        ("Pointer.get(state.d, '/a/length')", "undefined"),
        ("Pointer.has(state.d, '/a/00')", "false"),
        ("Pointer.has(state.d, '/a/-')", "false"),
        ("Pointer.has(state.d, '/a/1')", "false"),
        ("Pointer.has(state.d, '/a/0/x/y')", "false"),
        ("Pointer.has(state.d, '/toString')", "false"),
        ("Pointer.has('text', '/0')", "false"),
        ("Pointer.has(5, '')", "true"),
        ("Pointer.has(undefined, '')", "false"),
        ("Pointer.get({a: [1, {b: 2}]}, '/a/1/b')", "2"),
        ("Pointer.has({a: undefined}, '/a')", "false"),
        ("['/a', '/b'].filter(p => Pointer.has(state.d, p))", r#"["/a"]"#),
    ] {
        assert_eq!(evaluate(source, STATE).unwrap(), expected, "{source}");
    }
}

#[test]
fn a_pattern_is_compiled_when_the_expression_is() {
    for (source, message, at, hint) in [
        (
            "Text.matches(state.q, state.p)",
            "the pattern must be a string literal",
            "state.p",
            "to search for a computed text, use `includes`",
        ),
        (
            "Text.matches(state.q, '(a')",
            "the pattern cannot be compiled: unclosed group",
            "'(a'",
            "",
        ),
        (
            "Text.matches(state.q, '(a{1000}){1000}')",
            "the pattern cannot be compiled: it compiles to too much memory",
            "'(a{1000}){1000}'",
            "",
        ),
        (
            r"Text.matches(state.q, '(a)\\1')",
            "the pattern cannot be compiled: backreferences are not supported",
            r"'(a)\\1'",
            "",
        ),
        ("Text.matches(state.q)", "`Text.matches` needs 2 arguments", "Text.matches(state.q)", ""),
        ("Text.matches('a', 'b', 'c')", "`Text.matches` takes at most 2 arguments", "'c'", ""),
        ("Text.words()", "`Text.words` needs 1 argument", "Text.words()", ""),
        ("Text.similarity('a')", "`Text.similarity` needs 2 arguments", "Text.similarity('a')", ""),
        ("Pointer.get(state)", "`Pointer.get` needs 2 arguments", "Pointer.get(state)", ""),
        (
            "Text.stems('a')",
            "`Text.stems` is not supported",
            "stems",
            "`Text` supports `words`, `fingerprint`, `similarity`, `numbers`, `slug`, `fields`, `isJson`, `language`, `matches`",
        ),
        (
            "Text.matches",
            "`Text` is not a value",
            "Text",
            "call one of its functions, such as `Text.words(…)`",
        ),
    ] {
        let error = Expr::compile(source, &["state"]).expect_err(source);
        let found = (error.message.as_str(), &source[error.span], error.hint.as_deref());
        assert_eq!(found, (message, at, Some(hint).filter(|hint| !hint.is_empty())), "{source}");
    }
}
