//! Evaluation errors: their messages and spans.

use serde_json::{Value, json};

use super::super::Expr;
use super::evaluate;

#[track_caller]
fn check(source: &str, state: &str, message: &str, at: &str) {
    let error = evaluate(source, state).expect_err(source);
    assert_eq!(
        (error.message.as_str(), &source[error.span]),
        (message, at),
        "{source} over {state}"
    );
}

#[test]
fn a_missing_value_is_an_error_not_false() {
    check(
        "state.tasks.every(t => t.done)",
        "{}",
        "`state.tasks` is undefined, so `every` cannot be called on it",
        "state.tasks.every(t => t.done)",
    );
    check(
        "state.a.b.c",
        r#"{"a": {}}"#,
        "`state.a.b` is undefined, so `c` cannot be read from it",
        "state.a.b.c",
    );
    check(
        "state.a.b",
        r#"{"a": null}"#,
        "`state.a` is null, so `b` cannot be read from it",
        "state.a.b",
    );
    check(
        "state.a[0]",
        "{}",
        "`state.a` is undefined, so `0` cannot be read from it",
        "state.a[0]",
    );
    check(
        "state.a.map(t => t.x.y)",
        r#"{"a": [{}]}"#,
        "`t.x` is undefined, so `y` cannot be read from it",
        "t.x.y",
    );
    check(
        "state.a.map(t => t.x)",
        r#"{"a": [null]}"#,
        "`t` is null, so `x` cannot be read from it",
        "t.x",
    );
    check(
        "(state?.a).b",
        "{}",
        "`(state?.a)` is undefined, so `b` cannot be read from it",
        "(state?.a).b",
    );
    check(
        "state.a.length",
        "{}",
        "`state.a` is undefined, so `length` cannot be read from it",
        "state.a.length",
    );
}

#[test]
fn a_method_needs_its_kind_of_value() {
    check(
        "state.s.some(t => t)",
        r#"{"s": "abc"}"#,
        "`state.s` is a string, so `some` cannot be called on it",
        "state.s.some(t => t)",
    );
    check(
        "state.l.trim()",
        r#"{"l": []}"#,
        "`state.l` is an array, so `trim` cannot be called on it",
        "state.l.trim()",
    );
    check(
        "state.includes(1)",
        "{}",
        "`state` is an object, so `includes` cannot be called on it",
        "state.includes(1)",
    );
    check(
        "state.n.at(0)",
        r#"{"n": 5}"#,
        "`state.n` is the number 5, so `at` cannot be called on it",
        "state.n.at(0)",
    );
    check(
        "[].reduce((a, b) => a)",
        "null",
        "`reduce` of an empty array needs an initial value",
        "[].reduce((a, b) => a)",
    );
    check(
        "Object.keys(state)",
        "null",
        "`Object.keys` needs an object or an array, found null",
        "Object.keys(state)",
    );
    check(
        "1 in 'abc'",
        "null",
        "`in` needs an object or an array on its right, found a string",
        "1 in 'abc'",
    );
    check(
        "[1].map(([a]) => a)",
        "null",
        "a list pattern needs an array, found the number 1",
        "[a]",
    );
    check("[null].map(({a}) => a)", "null", "cannot destructure `{a}` from null", "{a}");
}

#[test]
fn built_in_functions_cannot_be_held() {
    check(
        "state.some",
        "[]",
        "`some` is a built-in function, which an expression cannot use as a value",
        "state.some",
    );
    check(
        "state.constructor",
        "[]",
        "`constructor` is a built-in function, which an expression cannot use as a value",
        "state.constructor",
    );
    check(
        "'a'.repeat",
        "null",
        "`repeat` is a built-in function, which an expression cannot use as a value",
        "'a'.repeat",
    );
    check(
        "(1).toFixed",
        "null",
        "`toFixed` is a built-in function, which an expression cannot use as a value",
        "(1).toFixed",
    );
}

#[test]
fn a_pair_cannot_be_split() {
    let message = "this would split a surrogate pair, and half a character is not text";
    check("state[0]", r#""😀""#, message, "state[0]");
    check("state.slice(1)", r#""😀""#, message, "state.slice(1)");
    check("state.split('')", r#""a😀""#, message, "state.split('')");
    check("state.at(-1)", r#""😀""#, message, "state.at(-1)");
    check("Object.values(state)", r#""😀""#, message, "Object.values(state)");
}

#[test]
fn an_object_with_its_own_to_string_has_no_text() {
    let message = "an object with a field `toString` cannot be converted to a string or a number";
    check("state + 1", r#"{"toString": 1}"#, message, "state + 1");
    check("`${state}`", r#"{"toString": 1}"#, message, "state");
    check("[state].join()", r#"{"toString": null}"#, message, "[state].join()");
    assert_eq!(evaluate("state + 1", r#"{"valueOf": 1}"#).unwrap(), r#""[object Object]1""#);
}

#[test]
fn budgets_are_spent_not_exceeded() {
    let many: Value = (0..2_000).collect();
    let failed = |source: &str| -> String {
        Expr::compile(source, &["state"]).unwrap().eval(&[Some(&many)]).unwrap_err().message
    };
    assert_eq!(
        failed("state.some(a => state.some(b => a + b < 0))"),
        "the step budget is spent: one evaluation may take at most 1000000 steps"
    );
    assert_eq!(
        failed("state.reduce((a, b) => a + a, 'xx')"),
        "the byte budget is spent: one evaluation may create at most 4194304 bytes of strings and lists"
    );
    assert_eq!(
        failed("state.flatMap(a => state)"),
        "the byte budget is spent: one evaluation may create at most 4194304 bytes of strings and lists"
    );
    assert_eq!(
        failed("state.reduce((a, b) => [a], 0)"),
        "the depth budget is spent: lists and objects may be nested at most 64 deep"
    );
    assert_eq!(
        failed("state.reduce((a, b) => ({a}), 0)"),
        "the depth budget is spent: lists and objects may be nested at most 64 deep"
    );
    let bytes = "the byte budget is spent: one evaluation may create at most 4194304 bytes of strings and lists";
    for source in [
        "state.map(a => [...state])",
        "state.map(a => ({...state}))",
        "state.map(a => state.map(b => ({a, b})))",
        "state.reduce((all, a) => ({...all, [a]: a}), {})",
        "state.reduce((all, a) => [...all, ...all, a], [])",
        "state.reduce((all, a) => all.concat(all, a), [])",
        "state.map(a => state.toReversed())",
        "state.map(a => state.toSorted((x, y) => 0).length)",
    ] {
        let spent = failed(source);
        assert!(spent == bytes || spent.starts_with("the step budget"), "{source}: {spent}");
    }
    let long = Value::from("слово ".repeat(100_000));
    for source in [
        "[...state]",
        "Text.words(state)",
        "Text.fingerprint(state)",
        "Text.similarity('', state)",
        "Text.slug(state)",
        "Text.numbers(state)",
        "[1, 2, 3, 4, 5, 6, 7].map(n => Text.matches(state, 'x'))",
    ] {
        let expr = Expr::compile(source, &["state"]).unwrap();
        let error = expr.eval(&[Some(&long)]).expect_err(source);
        assert!(error.message.contains("budget is spent"), "{source}: {error}");
    }
}

#[test]
fn what_cannot_be_spread_or_sorted() {
    for (source, message, at) in [
        ("[...state.x]", "`...` needs an array here, found undefined", "state.x"),
        ("[...null]", "`...` needs an array here, found null", "null"),
        ("[...state]", "`...` needs an array here, found an object", "state"),
        ("[...{}]", "`...` needs an array here, found an object", "{}"),
        ("{...'ab'}", "`...` needs an object or an array here, found a string", "'ab'"),
        (
            "{a: {}}.a.b.c",
            "`{a: {}}.a.b` is undefined, so `c` cannot be read from it",
            "{a: {}}.a.b.c",
        ),
        (
            "`${{toString: 1}}`",
            "an object with a field `toString` cannot be converted to a string or a number",
            "{toString: 1}",
        ),
        (
            "[2, 1].toSorted((a, b) => a > b)",
            "the function passed to `toSorted` must return a number, found true",
            "[2, 1].toSorted((a, b) => a > b)",
        ),
        (
            "'ab'.toReversed()",
            "`'ab'` is a string, so `toReversed` cannot be called on it",
            "'ab'.toReversed()",
        ),
    ] {
        check(source, "{}", message, at);
    }
}

#[test]
fn our_own_functions_convert_nothing() {
    for (source, message) in [
        ("Text.words(state.x)", "`Text.words` needs a string, found undefined"),
        ("Text.fingerprint(5)", "`Text.fingerprint` needs a string, found the number 5"),
        ("Text.similarity('a', null)", "`Text.similarity` needs a string, found null"),
        ("Text.numbers([])", "`Text.numbers` needs a string, found an array"),
        ("Text.slug(state)", "`Text.slug` needs a string, found an object"),
        ("Text.matches(state.x, 'a')", "`Text.matches` needs a string, found undefined"),
        (
            "Pointer.get(state, 0)",
            "`Pointer.get` needs a JSON Pointer as a string, found the number 0",
        ),
        (
            "Pointer.has(state, 'a')",
            "expected a JSON Pointer, found text that does not begin with `/`",
        ),
        (
            "Pointer.get(state, '/~2')",
            "expected a JSON Pointer, found a `~` that is neither `~0` nor `~1`",
        ),
    ] {
        check(source, "{}", message, source);
    }
}

#[test]
fn a_root_without_a_value_is_an_error_when_read() {
    let expr = Expr::compile("state.a || reply.b", &["state", "reply"]).unwrap();
    let state = json!({"a": true});
    assert!(expr.eval_bool(&[Some(&state), None]).unwrap());
    let error = expr.eval_bool(&[Some(&json!({})), None]).unwrap_err();
    assert_eq!(error.message, "`reply` has no value here");
    assert_eq!(error.span, 11..16);
    assert_eq!(expr.eval_bool(&[]).unwrap_err().message, "`state` has no value here");
}

#[test]
fn a_test_demands_a_boolean() {
    for (source, found) in [
        ("1 + 1", "expected true or false, found the number 2"),
        ("'secret'", "expected true or false, found a string"),
        ("state.x", "expected true or false, found undefined"),
        ("[1]", "expected true or false, found an array"),
        ("state", "expected true or false, found an object"),
        ("null", "expected true or false, found null"),
    ] {
        let expr = Expr::compile(source, &["state"]).unwrap();
        let error = expr.eval_bool(&[Some(&json!({}))]).unwrap_err();
        assert_eq!((error.message.as_str(), error.span), (found, 0..source.len()));
    }
}

#[test]
fn the_deepest_tree_fits_a_small_stack() {
    let calls = |levels: usize| {
        let open: String = (0..levels).map(|_| "[1].map(x => 1 + 1 + 1 * ").collect();
        format!("{open}1{}", ")".repeat(levels))
    };
    let sum = format!("1{}", "+1".repeat(190));
    let run = move || {
        for source in [calls(40), sum] {
            Expr::compile(&source, &[]).unwrap().eval(&[]).unwrap();
        }
    };
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn json_and_bases_fail_with_a_message() {
    check(
        "JSON.parse(state)",
        r#""{secret""#,
        "`JSON.parse` needs JSON, found something else: key must be a string at line 1 column 2",
        "JSON.parse(state)",
    );
    check(
        "(0.5).toString(2)",
        "null",
        "`toString` with a base needs a whole number up to 9007199254740992",
        "(0.5).toString(2)",
    );
    check(
        "(1).toString(37)",
        "null",
        "the base of `toString` must be a number from 2 to 36",
        "(1).toString(37)",
    );
    let deep = format!("\"{}{}\"", "[".repeat(100), "]".repeat(100));
    let error = evaluate("JSON.parse(state)", &deep).unwrap_err();
    assert!(error.to_string().contains("the depth budget is spent"), "{error}");
    let wide = format!("\"{}\"", "a".repeat(4_000));
    let error = evaluate("state.replaceAll('a', '$`')", &wide).unwrap_err();
    assert!(error.to_string().contains("the byte budget is spent"), "{error}");
}
