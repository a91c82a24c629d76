//! JSON states: tasks, numbers and strings of every awkward kind, fields that are sometimes missing.

use serde_json::{Map, Value, json};

use testkit::SeededRng;

pub(crate) const STRINGS: &[&str] = &[
    "",
    "a",
    "abc",
    "done",
    "open",
    "Привет мир",
    "ПРИВЕТ",
    "你好",
    "中文字",
    "😀",
    "a😀b",
    "é",
    "ß",
    "ΑΣ",
    "İ",
    "0",
    "1",
    "-1",
    "10",
    "9",
    "3.5",
    " 12 ",
    "0x1f",
    "1e3",
    "Infinity",
    "NaN",
    "null",
    "undefined",
    "true",
    "a,b,c",
    "x y z",
    "\u{feff} t \n",
    "\u{85}n",
    "\u{ff5e}",
    "length",
    "id",
    "toString",
    "[object Object]",
    "1,2",
    "ab\u{301}",
    "ﬁ",
    "ǆ",
    "\u{2028}",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0.0",
    "1",
    "2",
    "3",
    "-1",
    "10",
    "0.5",
    "-0.5",
    "1.5",
    "2.5",
    "-2.5",
    "0.1",
    "1e21",
    "1e-7",
    "123456789012345680000",
    "5e-324",
    "1.7976931348623157e308",
    "9007199254740993",
    "4294967295",
    "4294967296",
    "0.49999999999999994",
    "100",
    "42",
    "-7",
    "18446744073709551615",
    "1e300",
    "0.000001",
];

/// Draws this many states from a fixed seed.
pub(crate) fn generate(count: usize) -> Vec<Value> {
    let mut rng = SeededRng::new(1);
    (0..count).map(|_| state(&mut rng)).collect()
}

fn state(rng: &mut SeededRng) -> Value {
    let mut state = Map::new();
    let mut put = |rng: &mut SeededRng, name: &str, value: Value| {
        if !rng.roll_percent(6) {
            state.insert(name.to_owned(), value);
        }
    };
    for name in ["n", "m"] {
        let value = number(rng);
        put(rng, name, value);
    }
    for name in ["s", "t", "имя"] {
        let value = string(rng);
        put(rng, name, value);
    }
    let truth = Value::Bool(rng.roll_percent(50));
    put(rng, "b", truth);
    put(rng, "z", Value::Null);
    let nums = list(rng, 5, number);
    put(rng, "nums", nums);
    let strs = list(rng, 5, string);
    put(rng, "strs", strs);
    let tasks = list(rng, 4, task);
    put(rng, "tasks", tasks);
    let mixed = list(rng, 4, |rng| anything(rng, 2));
    put(rng, "mixed", mixed);
    let nested = list(rng, 3, |rng| list(rng, 3, |rng| anything(rng, 1)));
    put(rng, "nested", nested);
    put(rng, "empty", json!([]));
    let map = object(rng, &["b", "10", "a", "9", "01", "4294967294", "4294967295", "-1"], number);
    put(rng, "map", map);
    let mut obj =
        object(rng, &["x", "id", "length", "1", "0", "key", "ключ"], |rng| anything(rng, 1));
    if let (Value::Object(fields), true) = (&mut obj, rng.roll_percent(10)) {
        let name =
            rng.pick_ref(&["toString", "valueOf", "constructor", "some", "__proto__", "join"]);
        fields.insert(name.to_owned(), anything(rng, 0));
    }
    put(rng, "obj", obj);
    let deep = json!({"a": {"b": {"c": number(rng)}, "list": list(rng, 2, string)}});
    put(rng, "deep", deep);
    Value::Object(state)
}

fn task(rng: &mut SeededRng) -> Value {
    let mut task = Map::new();
    task.insert("id".to_owned(), json!(rng.next_below(20)));
    task.insert("title".to_owned(), string(rng));
    task.insert("status".to_owned(), json!(rng.pick_ref(&["done", "open", "blocked"])));
    if rng.roll_percent(60) {
        task.insert("agent".to_owned(), json!({"name": string(rng)}));
    }
    task.insert("priority".to_owned(), number(rng));
    if rng.roll_percent(70) {
        task.insert("tags".to_owned(), list(rng, 3, string));
    }
    Value::Object(task)
}

fn anything(rng: &mut SeededRng, depth: usize) -> Value {
    match rng.next_below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.roll_percent(50)),
        2 | 3 => number(rng),
        4 => string(rng),
        5 => list(rng, 3, |rng| anything(rng, depth - 1)),
        _ => object(rng, &["x", "id", "0", "name", "valueOf"], |rng| anything(rng, depth - 1)),
    }
}

fn list(
    rng: &mut SeededRng,
    most: usize,
    mut element: impl FnMut(&mut SeededRng) -> Value,
) -> Value {
    let count = rng.next_below(most + 1);
    (0..count).map(|_| element(rng)).collect()
}

fn object(
    rng: &mut SeededRng,
    names: &[&str],
    mut value: impl FnMut(&mut SeededRng) -> Value,
) -> Value {
    let mut fields = Map::new();
    for _ in 0..rng.next_below(names.len() + 1) {
        let name = rng.pick_ref(names).to_owned();
        let value = value(rng);
        fields.insert(name, value);
    }
    Value::Object(fields)
}

fn number(rng: &mut SeededRng) -> Value {
    serde_json::from_str(rng.pick_ref(NUMBERS)).expect("the list holds JSON numbers")
}

fn string(rng: &mut SeededRng) -> Value {
    Value::from(rng.pick_ref(STRINGS))
}
