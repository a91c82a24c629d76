//! Values of expressions. The oracle test verifies the semantics; these tables document them.

use serde_json::{Value, json};

use super::super::Expr;
use super::evaluate;

#[track_caller]
fn check(source: &str, state: &str, expected: &str) {
    match evaluate(source, state) {
        Ok(found) => assert_eq!(found, expected, "{source} over {state}"),
        Err(error) => panic!("{source} over {state}: {error}"),
    }
}

/// Checks lines of `source => value`, all over one state.
#[track_caller]
fn check_all(state: &str, lines: &[(&str, &str)]) {
    for (source, expected) in lines {
        check(source, state, expected);
    }
}

#[test]
fn literals() {
    check_all(
        "null",
        &[
            ("1", "1"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("0b101", "5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1e3", "1000"),
            ("1.e-2", "0.01"),
            ("0", "0"),
            ("-0", "-0"),
            ("true", "true"),
            ("null", "null"),
            ("undefined", "undefined"),
            ("NaN", "NaN"),
            ("-Infinity", "-Infinity"),
            ("'a'", r#""a""#),
            (r"'\x41\u0042\u{1F600}\uD83D\uDE00\n\0\q'", r#""AB😀😀\n\u0000q""#),
            ("'a\\\nb'", r#""ab""#),
            ("\"it's\"", r#""it's""#),
            ("[1, 'a', [null]]", r#"[1,"a",[null]]"#),
            ("[1, 2,]", "[1,2]"),
            ("[]", "[]"),
            ("`a${1 + 1}b${`c${3}`}`", r#""a2bc3""#),
            ("`${[1, 2]} ${null} ${undefined}`", r#""1,2 null undefined""#),
            ("`line\r\nend`", r#""line\nend""#),
            ("`$5 {}`", r#""$5 {}""#),
        ],
    );
}

#[test]
fn operators() {
    check_all(
        r#"{"n": 5, "s": "abc", "list": [1, 2], "o": {"a": 1}}"#,
        &[
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("7 % 3", "1"),
            ("-7 % 3", "-1"),
            ("-1 % 1", "-0"),
            ("1 / 0", "Infinity"),
            ("'a' + 1", r#""a1""#),
            ("1 + '2'", r#""12""#),
            ("1 + null", "1"),
            ("1 + undefined", "NaN"),
            ("[1] + [2]", r#""12""#),
            ("'5' * '2'", "10"),
            ("+'  12 '", "12"),
            ("-'x'", "NaN"),
            ("- -1", "1"),
            ("!0", "true"),
            ("!!'0'", "true"),
            ("1 < 2", "true"),
            ("'10' < '9'", "true"),
            ("'10' < 9", "false"),
            ("null >= 0", "true"),
            ("undefined >= 0", "false"),
            ("[2] > 1", "true"),
            ("null == undefined", "true"),
            ("null == 0", "false"),
            ("'1' == 1", "true"),
            ("true == '1'", "true"),
            ("[1] == 1", "true"),
            ("state.o == '[object Object]'", "true"),
            ("state.list === state.list", "true"),
            ("state.list === state.list.slice(0)", "false"),
            ("[1] === [1]", "false"),
            ("NaN === NaN", "false"),
            ("0 === -0", "true"),
            ("'a' !== 'b'", "true"),
            ("state.n > 3 && state.s", r#""abc""#),
            ("0 || 'x'", r#""x""#),
            ("0 ?? 'x'", "0"),
            ("null ?? undefined ?? 3", "3"),
            ("(null ?? 0) || 4", "4"),
            ("state.n > 3 ? 'big' : 'small'", r#""big""#),
            ("false ? 1 : true ? 2 : 3", "2"),
            ("true?.5:1", "0.5"),
            ("'a' in state.o", "true"),
            ("'b' in state.o", "false"),
            ("1 in state.list", "true"),
            ("'2' in state.list", "false"),
            ("'length' in state.list", "true"),
            ("'map' in state.list", "false"),
            ("'toString' in state.o", "false"),
            ("'constructor' in state", "false"),
            ("state.o['__proto__']", "undefined"),
            ("state.o.hasOwnProperty", "undefined"),
            ("!'a' in state.o", "false"),
        ],
    );
}

#[test]
fn properties() {
    check_all(
        r#"{"a": {"b": [10, {"c": "x"}]}, "5": "five", "1e+21": "big", "имя": "Анна", "toString": 1, "s": "a😀"}"#,
        &[
            ("state.a.b[0]", "10"),
            ("state.a.b[1].c", r#""x""#),
            ("state['a']['b']['0']", "10"),
            ("state[5]", r#""five""#),
            ("state[1e21]", r#""big""#),
            ("state.имя", r#""Анна""#),
            ("state.missing", "undefined"),
            ("state.missing?.x.y.z", "undefined"),
            ("state.missing?.[state.boom.boom]", "undefined"),
            ("state.missing?.map(x => x).length", "undefined"),
            ("state.a?.b[1]?.c", r#""x""#),
            ("state.a.b.length", "2"),
            ("state.a.b['length']", "2"),
            ("state.a.b[-1]", "undefined"),
            ("state.a.b[1.5]", "undefined"),
            ("state.a.b['00']", "undefined"),
            ("state.toString", "1"),
            ("state.s.length", "3"),
            ("state.s[0]", r#""a""#),
            ("'я'[0]", r#""я""#),
            ("'ab'[5]", "undefined"),
            ("(5).x", "undefined"),
            ("true.x", "undefined"),
            ("state.a.new", "undefined"),
            ("state.class", "undefined"),
        ],
    );
}

#[test]
fn array_methods() {
    check_all(
        r#"{"t": [{"n": 1}, {"n": 2}, {"n": 3}], "nested": [[1, 2], [3, [4]]], "e": [], "m": [1, null, "a"]}"#,
        &[
            ("state.t.some(t => t.n > 2)", "true"),
            ("state.t.every(t => t.n > 2)", "false"),
            ("state.e.some(t => t.n)", "false"),
            ("state.e.every(t => t.n)", "true"),
            ("state.t.filter(t => t.n > 1).length", "2"),
            ("state.t.map((t, i) => t.n * i)", "[0,2,6]"),
            ("state.t.map((t, i, all) => all.length)", "[3,3,3]"),
            ("state.t.map(() => 1)", "[1,1,1]"),
            ("state.t.find(t => t.n === 2)", r#"{"n":2}"#),
            ("state.t.find(t => t.n === 9)", "undefined"),
            ("state.t.findIndex(t => t.n === 3)", "2"),
            ("state.t.reduce((sum, t) => sum + t.n, 0)", "6"),
            ("[1, 2, 3].reduce((a, b) => a * b)", "6"),
            ("[7].reduce((a, b) => 0)", "7"),
            ("state.e.reduce((a, b) => 0, undefined)", "undefined"),
            ("state.nested.flatMap(x => x)", "[1,2,3,[4]]"),
            ("[1, 2].flatMap(x => [x, [x]])", "[1,[1],2,[2]]"),
            ("state.nested.map(([a, b]) => b)", "[2,[4]]"),
            ("state.nested.map(([, b]) => b)", "[2,[4]]"),
            ("state.t.map(({n}) => n)", "[1,2,3]"),
            ("['a😀b'].map(([x, y, z, w]) => y + z + w)", r#"["😀bundefined"]"#),
            ("state.m.filter(Boolean)", r#"[1,"a"]"#),
            ("['1', '2', 'x'].map(Number)", "[1,2,NaN]"),
            ("state.m.map(String)", r#"["1","null","a"]"#),
            ("state.m.join()", r#""1,,a""#),
            ("state.m.join('-')", r#""1--a""#),
            ("state.nested.join(';')", r#""1,2;3,4""#),
            ("state.m.includes('a')", "true"),
            ("state.m.includes('a', 3)", "false"),
            ("[NaN].includes(NaN)", "true"),
            ("[NaN].indexOf(NaN)", "-1"),
            ("[1, 2, 1].indexOf(1, 1)", "2"),
            ("[1, 2, 1].indexOf(1, -1)", "2"),
            ("[undefined].includes()", "true"),
            ("state.t.includes(state.t[0])", "true"),
            ("[1, 2, 3].slice(-2)", "[2,3]"),
            ("[1, 2, 3].slice(0, -1)", "[1,2]"),
            ("[1, 2, 3].slice(2, 1)", "[]"),
            ("[1, 2, 3].at(-1)", "3"),
            ("[1, 2, 3].at(3)", "undefined"),
            ("state.t.some(t => state.t.some(u => u.n === t.n + 2))", "true"),
            ("[1].map(state => state + 1)", "[2]"),
        ],
    );
}

#[test]
fn object_literals() {
    check_all(
        r#"{"o": {"b": 1, "10": 2, "a": 3}, "l": ["x", "y"], "s": "a"}"#,
        &[
            ("{}", "{}"),
            (
                "{a: 1, 'b c': 2, 3: 'x', [state.s + 1]: [], state: null,}",
                r#"{"3":"x","a":1,"b c":2,"a1":[],"state":null}"#,
            ),
            ("{class: 1, in: 2, new: 3}", r#"{"class":1,"in":2,"new":3}"#),
            ("{state}.state.s", r#""a""#),
            ("{undefined, NaN}", r#"{"undefined":undefined,"NaN":NaN}"#),
            ("{a: 1, b: 2, a: 3}", r#"{"a":3,"b":2}"#),
            ("{...state.o, a: 0, c: 4}", r#"{"10":2,"b":1,"a":0,"c":4}"#),
            ("{a: 0, ...state.o}", r#"{"10":2,"a":3,"b":1}"#),
            ("{...null, ...undefined, ...5, ...true}", "{}"),
            ("{...state.l}", r#"{"0":"x","1":"y"}"#),
            ("{...{a: 1}}.a", "1"),
            ("[...state.l, 'z', ...[]]", r#"["x","y","z"]"#),
            ("[...'a😀']", r#"["a","😀"]"#),
            ("state.l.map((id, i) => ({id, i}))", r#"[{"id":"x","i":0},{"id":"y","i":1}]"#),
            ("state.l.map(id => ({id})).find(t => t.id === 'y').id", r#""y""#),
            ("[{n: 1}, {n: 2}].map(({n}) => n)", "[1,2]"),
            ("Object.entries({b: 1, 2: 2, 1: 3})", r#"[["1",3],["2",2],["b",1]]"#),
            ("Object.keys({a: undefined})", r#"["a"]"#),
            ("'a' in {a: undefined}", "true"),
            ("'b' in {a: 1}", "false"),
            ("1 in {1: 0}", "true"),
            ("{a: 1}.b", "undefined"),
            ("{1: 'x'}[1]", r#""x""#),
            ("{a: 1}['a']", "1"),
            ("{} === {}", "false"),
            ("[{}].map(o => o === o)", "[true]"),
            ("{} + 1", r#""[object Object]1""#),
            ("`${ {a: 1}.a }`", r#""1""#),
            ("{a: 1} == '[object Object]'", "true"),
            ("Boolean({})", "true"),
            ("Array.isArray({})", "false"),
            ("{['__proto__']: 1}.__proto__", "1"),
            ("state.l.reduce((all, id) => ({...all, [id]: true}), {})", r#"{"x":true,"y":true}"#),
        ],
    );
}

#[test]
fn copies_turned_joined_and_sorted() {
    check_all(
        r#"{"l": [3, 1, 2], "t": [{"n": 2, "k": "a"}, {"n": 1, "k": "b"}, {"n": 2, "k": "c"}]}"#,
        &[
            ("state.l.concat(4, [5, [6]])", "[3,1,2,4,5,[6]]"),
            ("state.l.concat()", "[3,1,2]"),
            ("'a'.concat(1, null, [2, 3])", r#""a1null2,3""#),
            ("[1, 2, 1].lastIndexOf(1)", "2"),
            ("[1, 2, 1].lastIndexOf(1, 1)", "0"),
            ("[1, 2, 1].lastIndexOf(1, undefined)", "0"),
            ("[1, 2, 1].lastIndexOf(1, -2)", "0"),
            ("[1, 2].lastIndexOf(1, -9)", "-1"),
            ("'abab'.lastIndexOf('ab')", "2"),
            ("'abab'.lastIndexOf('ab', 1)", "0"),
            ("'aaa'.lastIndexOf('aa', 0)", "0"),
            ("'a😀b'.lastIndexOf('😀', 2)", "1"),
            ("'a😀b'.lastIndexOf('', 2)", "2"),
            ("'a😀b'.lastIndexOf('b')", "3"),
            ("state.l.toReversed()", "[2,1,3]"),
            ("state.l.toSorted((a, b) => a - b)", "[1,2,3]"),
            ("state.l", "[3,1,2]"),
            ("state.t.toSorted((a, b) => a.n - b.n).map(t => t.k).join('')", r#""bac""#),
            ("[undefined, 2, undefined, 1].toSorted((a, b) => a - b)", "[1,2,undefined,undefined]"),
            ("[1, 2].toSorted((a, b) => NaN)", "[1,2]"),
            ("state.t.toSorted(({n}, b) => n - b.n).length", "3"),
        ],
    );
}

#[test]
fn string_methods() {
    check_all(
        "null",
        &[
            ("'Straße'.toUpperCase()", r#""STRASSE""#),
            ("'ΑΣ'.toLowerCase()", r#""ας""#),
            ("'ПРИВЕТ'.toLowerCase()", r#""привет""#),
            ("'\\uFEFF\\u00a0 a\\u0085\\n'.trim()", "\"a\u{85}\""),
            ("'a,b,,c'.split(',')", r#"["a","b","","c"]"#),
            ("'a,b,c'.split(',', 2)", r#"["a","b"]"#),
            ("'abc'.split('')", r#"["a","b","c"]"#),
            ("'abc'.split()", r#"["abc"]"#),
            ("''.split('')", "[]"),
            ("''.split(',')", r#"[""]"#),
            ("'abc'.split('', -1)", r#"["a","b","c"]"#),
            ("'a😀b'.split('😀')", r#"["a","b"]"#),
            ("'abc'.slice(1)", r#""bc""#),
            ("'abc'.slice(-2, -1)", r#""b""#),
            ("'a😀b'.slice(1, 3)", r#""😀""#),
            ("'abc'.at(-1)", r#""c""#),
            ("'abc'.at(9)", "undefined"),
            ("'abc'.indexOf('c')", "2"),
            ("'a😀b'.indexOf('b')", "3"),
            ("'abc'.indexOf('')", "0"),
            ("'abc'.indexOf('', 9)", "3"),
            ("'abc'.includes('b', 2)", "false"),
            ("'undefined'.includes()", "true"),
            ("'a1'.includes(1)", "true"),
            ("'abc'.startsWith('b', 1)", "true"),
            ("'abc'.endsWith('b', 2)", "true"),
            ("'nullx'.startsWith(null)", "true"),
            ("'\\uFF5E' > '😀'", "true"),
        ],
    );
}

#[test]
fn builtins() {
    check_all(
        r#"{"o": {"b": 1, "10": 2, "a": 3, "9": 4}, "l": ["x", "y"]}"#,
        &[
            ("Object.keys(state.o)", r#"["9","10","b","a"]"#),
            ("Object.values(state.o)", "[4,2,1,3]"),
            ("Object.entries(state.l)", r#"[["0","x"],["1","y"]]"#),
            ("Object.keys('ab')", r#"["0","1"]"#),
            ("Object.keys(5)", "[]"),
            ("Object.entries(state.o).filter(([k, v]) => v > 2).map(([k]) => k)", r#"["9","a"]"#),
            ("Array.isArray(state.l)", "true"),
            ("Array.isArray(state.o)", "false"),
            ("Number('')", "0"),
            ("Number('0x10')", "16"),
            ("Number('1_0')", "NaN"),
            ("Number([5])", "5"),
            ("Number(state.o)", "NaN"),
            ("Number(null)", "0"),
            ("Number(undefined)", "NaN"),
            ("Number()", "0"),
            ("String()", r#""""#),
            ("String(-0)", r#""0""#),
            ("String(1e21)", r#""1e+21""#),
            ("String([1, [2, null]])", r#""1,2,""#),
            ("Boolean('')", "false"),
            ("Boolean([])", "true"),
            ("Math.min()", "Infinity"),
            ("Math.max()", "-Infinity"),
            ("Math.max(1, NaN, 3)", "NaN"),
            ("Math.min(0, -0)", "-0"),
            ("Math.max(-0, 0)", "0"),
            ("Math.max('3', [4], null)", "4"),
            ("Math.round(-0.5)", "-0"),
            ("Math.round(2.5)", "3"),
            ("Math.round(-2.5)", "-2"),
            ("Math.round(0.49999999999999994)", "0"),
            ("Math.floor(-1.5)", "-2"),
            ("Math.ceil(-0.5)", "-0"),
            ("Math.abs('-3')", "3"),
        ],
    );
}

#[test]
fn a_value_becomes_json_where_it_can() {
    let state = json!({"list": [{"a": 1}, {"a": 2}]});
    let to_json = |source: &str| -> Option<Value> {
        Expr::compile(source, &["state"]).unwrap().eval(&[Some(&state)]).unwrap().to_json()
    };
    assert_eq!(to_json("state.list.filter(x => x.a > 1)"), Some(json!([{"a": 2}])));
    assert_eq!(to_json("1 + 1"), Some(json!(2)));
    assert_eq!(to_json("-0"), Some(json!(0)));
    assert_eq!(to_json("1 / 4"), Some(json!(0.25)));
    assert_eq!(to_json("[undefined]"), None);
    assert_eq!(
        to_json("{a: 1, b: undefined, c: state.list.map(x => ({...x, d: null}))}"),
        Some(json!({"a": 1, "c": [{"a": 1, "d": null}, {"a": 2, "d": null}]}))
    );
    assert_eq!(to_json("{a: NaN}"), None);
    assert_eq!(to_json("{a: [undefined]}"), None);
    assert_eq!(to_json("0 / 0"), None);
}

#[test]
fn new_is_a_root_where_the_place_has_it() {
    let before = json!({"version": 1});
    let after = json!({"version": 2});
    let rule = Expr::compile("new.version === state.version + 1", &["state", "new"]).unwrap();
    assert!(rule.eval_bool(&[Some(&before), Some(&after)]).unwrap());
    assert!(rule.uses_root(0) && rule.uses_root(1) && !rule.uses_root(2));
    let alone = Expr::compile("[1].some(new => true)", &["new"]).unwrap_err();
    assert_eq!(alone.message, "`new` cannot name a parameter");
}

#[test]
fn the_examples_of_the_reference_hold() {
    let page = include_str!("../../../../../docs/reference/expressions.md");
    let block = |fence: &str| page.split_once(fence).unwrap().1.split_once("```").unwrap().0;
    let state = block("```json\n");
    let examples: Vec<_> =
        block("```text\n").lines().map(|line| line.split_once('→').unwrap()).collect();
    assert!(examples.len() > 10);
    for (source, expected) in examples {
        check(source.trim(), state, expected.trim());
    }
}

#[test]
fn texts_are_replaced_as_javascript_does() {
    check_all(
        r#"{"s": "a-b-a", "e": "😀x"}"#,
        &[
            ("state.s.replace('a', 'c')", r#""c-b-a""#),
            ("state.s.replaceAll('a', '[$&]')", r#""[a]-b-[a]""#),
            ("state.s.replace('-', \"<$`|$'>\")", r#""a<a|b-a>b-a""#),
            ("state.s.replaceAll('-', '$$1$0$<x>$')", r#""a$1$0$<x>$b$1$0$<x>$a""#),
            ("'ab'.replaceAll('', '.')", r#"".a.b.""#),
            ("state.e.replace('', '.')", r#"".😀x""#),
            ("'1'.replace(1)", r#""undefined""#),
        ],
    );
}

#[test]
fn types_texts_and_json() {
    check_all(
        r#"{"o": {"b": 1, "10": [null, {"x": "é\n"}], "9": {}}, "l": [1, [2, 3]]}"#,
        &[
            ("typeof state.o + typeof null + typeof state.x", r#""objectobjectundefined""#),
            ("typeof typeof 1 === 'string' && typeof !1 === 'boolean'", "true"),
            ("(255).toString(16) + (-7).toString(2)", r#""ff-111""#),
            ("(0.5).toString() + true.toString() + state.l.toString()", r#""0.5true1,2,3""#),
            ("state.o.toString()", r#""[object Object]""#),
            ("JSON.stringify(state.o)", r#""{\"9\":{},\"10\":[null,{\"x\":\"é\\n\"}],\"b\":1}""#),
            (
                "JSON.stringify({a: undefined, b: [undefined, NaN, -0]})",
                r#""{\"b\":[null,null,0]}""#,
            ),
            ("JSON.stringify([1, {}], null, 2)", r#""[\n  1,\n  {}\n]""#),
            ("JSON.stringify(undefined)", "undefined"),
            ("JSON.parse('{\"a\": [1, \"x\"]}').a[1]", r#""x""#),
            ("JSON.parse(' null ')", "null"),
            ("Math.sqrt(9) + Math.pow(2, 10) + Math.trunc(-1.5) + Math.sign(-3)", "1025"),
            ("Math.pow(1, Infinity)", "NaN"),
        ],
    );
}
