//! Compile errors: their messages, spans and hints.

use super::super::Expr;

/// Checks the message, the text that the span covers, and the hint.
#[track_caller]
fn check(source: &str, message: &str, at: &str, hint: &str) {
    let error = Expr::compile(source, &["state", "reply", "new"]).expect_err(source);
    let pointed = &source[error.span.clone()];
    let found = (error.message.as_str(), pointed, error.hint.as_deref().unwrap_or(""));
    assert_eq!(found, (message, at, hint), "{source}");
}

const EACH: &str = "such methods: `some`, `every`, `filter`, `map`, `find`, `findIndex`, `flatMap`, `reduce`, `toSorted`";
const ARROW: &str =
    "an arrow function is allowed only as the first argument of a method that calls it";

#[test]
fn parts_of_javascript_that_are_not_ours() {
    for (source, message, at, hint) in [
        ("state = 1", "expressions do not support assignment (`=`)", "=", "compare with `===`"),
        (
            "state.n += 1",
            "expressions do not support assignment (`+=`)",
            "+=",
            "compare with `===`",
        ),
        (
            "--state",
            "expressions do not support increment and decrement (`--`)",
            "--",
            "write `+ 1` or `- 1`",
        ),
        (
            "state++",
            "expressions do not support increment and decrement (`++`)",
            "++",
            "write `+ 1` or `- 1`",
        ),
        (
            "2 ** 3",
            "expressions do not support the power operator (`**`)",
            "**",
            "multiply instead",
        ),
        (
            "1 & 2",
            "expressions do not support bit operators (`&`)",
            "&",
            "combine conditions with `&&`, `||` and `!`",
        ),
        (
            "Math.max(...state)",
            "spread (`...`) is allowed only in an array or an object literal",
            "...",
            "",
        ),
        ("1; 2", "expressions do not support more than one statement (`;`)", ";", ""),
        ("1 // one", "expressions do not support comments (`//`)", "//", ""),
        ("/* one */ 1", "expressions do not support comments (`/*`)", "/*", ""),
        ("void 0", "`void` is not allowed in an expression", "void", ""),
        ("new Date()", "`new` is not allowed in an expression", "new", ""),
        ("this.x", "`this` is not allowed in an expression", "this", ""),
        (
            "function () {}",
            "`function` is not allowed in an expression",
            "function",
            "write an arrow function: `t => t.done`",
        ),
        (
            "state instanceof Object",
            "`instanceof` is not allowed in an expression",
            "instanceof",
            "",
        ),
        (
            "/a+/",
            "a regular expression is not allowed in an expression",
            "/",
            "use `includes`, `startsWith`, `endsWith` or `Text.matches`",
        ),
        (
            "{a() { return 1 }}",
            "a function is not allowed in an expression",
            "a",
            "write `name: value`",
        ),
        (
            "{get a() { return 1 }}",
            "a function is not allowed in an expression",
            "get",
            "write `name: value`",
        ),
        (
            "{__proto__: state}",
            "`__proto__` is not allowed in an expression",
            "__proto__",
            "write a field of that name as `['__proto__']: …`",
        ),
        ("{true}", "`true` cannot be a shorthand field", "true", "write `true: …`"),
        ("{stat}", "unknown name `stat`", "stat", "did you mean `state`?"),
        (
            "{Math}",
            "`Math` is not a value",
            "Math",
            "call one of its functions, such as `Math.min(…)`",
        ),
        ("(1, 2)", "the comma operator is not allowed in an expression", ",", ""),
        ("state?.(1)", "an optional call (`?.(`) is not allowed in an expression", "(", ""),
        ("state`x`", "a tagged template is not allowed in an expression", "`", ""),
        ("[1,,2]", "an array must not have holes", ",", ""),
    ] {
        check(source, message, at, hint);
    }
}

#[test]
fn names_and_methods_that_are_not_known() {
    check("sate.tasks", "unknown name `sate`", "sate", "did you mean `state`?");
    check("foo", "unknown name `foo`", "foo", "known here: `state`, `reply`, `new`");
    check("state.a.som(t => t)", "unknown method `som`", "som", "did you mean `some`?");
    check("Date.now()", "unknown name `Date`", "Date", "known here: `state`, `reply`, `new`");
    check(
        "Math",
        "`Math` is not a value",
        "Math",
        "call one of its functions, such as `Math.min(…)`",
    );
    check("Number", "`Number` is not a value", "Number", "call it: `Number(…)`");
    check(
        "Math.random()",
        "`Math.random` is not supported",
        "random",
        "`Math` supports `min`, `max`, `abs`, `floor`, `ceil`, `round`, `sqrt`, `pow`, `trunc`, `sign`",
    );
    check(
        "Number.isNaN(1)",
        "`Number.isNaN` is not supported",
        "isNaN",
        "call `Number` as a function: `Number(…)`",
    );
    let methods = "methods: `some`, `every`, `filter`, `map`, `find`, `findIndex`, `flatMap`, `reduce`, `toSorted`, `includes`, `indexOf`, `lastIndexOf`, `concat`, `join`, `slice`, `at`, `startsWith`, `endsWith`, `toReversed`, `toLowerCase`, `toUpperCase`, `trim`, `split`, `replace`, `replaceAll`, `toString`";
    check("state.constructor('x')", "unknown method `constructor`", "constructor", methods);
    check(
        "state.a['some'](1)",
        "only known methods and functions can be called",
        "state.a['some']",
        methods,
    );
    check("[1].some(t => x)", "unknown name `x`", "x", "known here: `t`, `state`, `reply`, `new`");
}

#[test]
fn arrows_out_of_place_or_out_of_shape() {
    check("t => t", ARROW, "t", EACH);
    check("() => 1", ARROW, "(", EACH);
    check("state.includes(t => t)", ARROW, "t", EACH);
    check("state.map(a => b => 1)", ARROW, "b", EACH);
    check(
        "state.map(t => { return t })",
        "the body of an arrow function must be an expression",
        "{",
        "write `t => t.done`, without braces; an object needs parentheses: `t => ({id: t.id})`",
    );
    check("state.map(t\n=> t)", "`=>` is not allowed at the start of a line", "=>", "");
    check("state.map((a, a) => a)", "there are two parameters named `a`", "a", "");
    check(
        "state.map((a, b, c, d) => a)",
        "the function passed to `map` takes at most 3 parameters",
        "(a, b, c, d) =>",
        "",
    );
    check("state.map(this => 1)", "`this` cannot name a parameter", "this", "");
    check(
        "state.map(1)",
        "`map` needs an arrow function",
        "1",
        "write `map(t => …)`; `Boolean`, `Number` and `String` are also allowed here",
    );
    check(
        "state.map()",
        "`map` needs an arrow function",
        ")",
        "write `map(t => …)`; `Boolean`, `Number` and `String` are also allowed here",
    );
    for (source, at) in [("state.toSorted()", ")"), ("state.toSorted(Number)", "Number")] {
        let hint = "write `toSorted((a, b) => …)`, returning a number below, equal to or above 0";
        let (message, hint) = if at == "Number" {
            ("`Number` is not a value", "call it: `Number(…)`")
        } else {
            ("`toSorted` needs an arrow function", hint)
        };
        check(source, message, at, hint);
    }
    check(
        "state.toSorted((a, b, c) => 0)",
        "the function passed to `toSorted` takes at most 2 parameters",
        "(a, b, c) =>",
        "",
    );
    check("state.map(t => t, 1)", "`map` takes at most 1 argument", "1", "");
    check("'a'.trim(1)", "`trim` takes at most 0 arguments", "1", "");
}

#[test]
fn broken_syntax() {
    check("", "the expression is empty", "", "");
    check("  ", "the expression is empty", "", "");
    check("1 +", "expected a value, found the end of the expression", "", "");
    check("1 2", "expected an operator or the end, found `2`", "2", "");
    check("(1", "expected `)`, found the end of the expression", "", "");
    check("state.", "expected a field name, found the end of the expression", "", "");
    check("{a: 1", "expected `,` or `}`, found the end of the expression", "", "");
    check("{a 1}", "expected `:`, found `1`", "1", "");
    check("{+: 1}", "expected a field, found `+`", "+", "");
    check("{[1] 2}", "expected `:`, found `2`", "2", "");
    check("state[0", "expected `]`, found the end of the expression", "", "");
    check("true ? 1", "expected `:`, found the end of the expression", "", "");
    check("'abc", "the string is not closed", "'abc", "");
    check("`abc", "the template is not closed", "`abc", "");
    check("`${1 2}`", "expected `}`, found `2`", "2", "");
    check("a ?? b || c", "unknown name `a`", "a", "known here: `state`, `reply`, `new`");
    check(
        "1 ?? 2 || 3",
        "`??` combined with `||` or `&&` needs parentheses",
        "1 ?? 2 || 3",
        "write `(a ?? b) || c` or `a ?? (b || c)`",
    );
    check(
        "1 && 2 ?? 3",
        "`??` combined with `||` or `&&` needs parentheses",
        "1 && 2 ?? 3",
        "write `(a ?? b) || c` or `a ?? (b || c)`",
    );
    check("1_000", "`1_000` is not a number", "1_000", "");
    check("1n", "`1n` is not a number", "1n", "");
    check("3in [1]", "`3in` is not a number", "3in", "");
    check("010", "`010` begins with a zero", "010", "write an octal number as `0o17`");
    check("0xG", "`0xG` is not a number", "0xG", "");
    check(r"'\07'", "octal escapes are not allowed in a string", r"\0", "");
    check(r"'\uD83D'", "a lone surrogate is not text", r"\uD83D", "");
    check(r"'\xZZ'", "this escape needs 2 hexadecimal digits", r"\x", "");
    check(
        "state.\u{915}\u{93e}",
        "unexpected character `क`",
        "क",
        "write such a name in brackets: `state['…']`",
    );
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{a: ", "}"),
        ("[...", "]"),
        ("{[", "]: 1}"),
        ("!", ""),
        ("- ", ""),
        ("`${", "}`"),
        ("1 ? 1 : ", ""),
    ] {
        let nested = |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        assert!(Expr::compile(&nested(40), &[]).is_ok(), "{open}");
        let error = Expr::compile(&nested(5_000), &[]).unwrap_err();
        assert_eq!(error.message, "the expression is nested more than 64 deep", "{open}");
    }
    let chain = |terms: usize| vec!["1"; terms].join("+");
    assert!(Expr::compile(&chain(150), &[]).is_ok());
    let error = Expr::compile(&chain(5_000), &[]).unwrap_err();
    assert_eq!(error.message, "operations are nested more than 200 deep");
    let fields = format!("state{}", ".a".repeat(5_000));
    let error = Expr::compile(&fields, &["state"]).unwrap_err();
    assert_eq!(error.message, "operations are nested more than 200 deep");
    let error = Expr::compile(&" ".repeat(70_000), &[]).unwrap_err();
    assert_eq!(error.message, "an expression may be at most 65536 bytes long");
}

#[test]
fn any_text_is_answered() {
    // Characters from a fixed pseudo-random sequence; `compile` must return for every text.
    let alphabet: Vec<char> =
        "state.reply()[]{}=>!?:.,+-*/%&|<>'\"`$\\0123456789eExnu \n\r\u{2028}я中😀#@~^;_"
            .chars()
            .collect();
    let mut seed: u64 = 7;
    for _ in 0..20_000 {
        let mut text = String::new();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = (seed >> 40) % 24;
        for _ in 0..length {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push(alphabet[(seed >> 33) as usize % alphabet.len()]);
        }
        if let Err(error) = Expr::compile(&text, &["state", "reply"]) {
            assert!(text.get(error.span.clone()).is_some(), "{text:?}: {error:?}");
        }
    }
}
