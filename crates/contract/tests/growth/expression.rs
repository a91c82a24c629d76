//! Expressions: compiled and evaluated.

use countersign_contract::expr::Expr;
use serde_json::{Value, json};

use super::{budgeted_door, door};

/// An input of a size, ready to be worked on.
type Run = Box<dyn Fn()>;

/// A name, the size to begin with, and the input of a size.
type Family = (&'static str, usize, fn(usize) -> Run);

fn each(size: usize, make: impl Fn(usize) -> String) -> Vec<String> {
    (0..size).map(make).collect()
}

/// Compiles and evaluates; a spent budget is an answer.
fn evaluated(source: String, state: Value) -> Run {
    Box::new(move || {
        if let Ok(expr) = Expr::compile(&source, &["state"]) {
            let _ = expr.eval(&[Some(&state)]);
            assert!(expr.read_paths().len() <= source.len());
        }
    })
}

fn long_sum(size: usize) -> Run {
    let items = each(size, |n| format!("state.a{n}")).join(", ");
    evaluated(format!("[{items}].length"), json!({}))
}

fn nested_templates(size: usize) -> Run {
    let source = (0..size).fold("state.s".to_owned(), |inner, _| format!("`${{{inner}}} x`"));
    evaluated(source, json!({"s": "x".repeat(10_000)}))
}

fn join_of_lists(size: usize) -> Run {
    let state = json!({"l": vec!["word"; size]});
    evaluated("state.l.map(a => state.l.join(a)).join('')".to_owned(), state)
}

fn replacement_grows(size: usize) -> Run {
    let state = json!({"s": "a".repeat(size)});
    evaluated("state.s.replaceAll('a', \"$`$'$&$`\")".to_owned(), state)
}

fn includes_of_lists(size: usize) -> Run {
    let list: Vec<usize> = (0..size).collect();
    let state = json!({"l": list});
    evaluated("state.l.filter(x => state.l.includes(x + 0.5)).length".to_owned(), state)
}

fn sorted_lists(size: usize) -> Run {
    let list: Vec<usize> = (0..size).map(|n| (n * 7_919) % size).collect();
    let state = json!({"l": list});
    evaluated("state.l.toSorted((a, b) => a - b).length".to_owned(), state)
}

fn parsed_texts(size: usize) -> Run {
    let state = json!({"l": vec![json!({"a": [1, "x"]}); size]});
    evaluated("JSON.parse(JSON.stringify(state.l, null, 2)).length".to_owned(), state)
}

#[test]
fn expressions_are_compiled_and_evaluated() {
    let mut door = door("expression");
    let compile = |source: &String| drop(Expr::compile(source, &["state"]));
    door.measure_family(
        "a long sum",
        4 << 10,
        |size| format!("{}1", "1+".repeat(size / 2)),
        compile,
    )
    .measure_family("open brackets", 4 << 10, |size| "(".repeat(size), compile)
    .measure_family("templates", 4 << 10, |size| "`${1}`+".repeat(size / 7) + "1", compile)
    .measure_family("unknown names", 4 << 10, |size| "stat+".repeat(size / 5) + "1", compile);
    let evaluate = |source: &'static str| {
        let compiled = Expr::compile(source, &["state"]).unwrap();
        move |state: &Value| drop(compiled.eval(&[Some(state)]))
    };
    let words =
        |size: usize| json!({"list": (0..size).map(|n| format!("w{n}")).collect::<Vec<_>>()});
    door.measure_family(
        "a list looked through for each item",
        2_000,
        words,
        evaluate("state.list.every(w => state.list.includes(w))"),
    )
    .measure_family(
        "a list joined for each item",
        2_000,
        words,
        evaluate("state.list.map(w => state.list.join(w)).length"),
    )
    .measure_family(
        "a list sorted and joined",
        2_000,
        words,
        evaluate("state.list.filter(w => w !== 'x').join(',').split(',').length"),
    );
    door.assert_linear();
}

#[test]
fn expressions_spend_their_budget_and_no_more() {
    let families: [Family; 7] = [
        ("long sum", 600, long_sum),
        ("nested templates", 8, nested_templates),
        ("join of lists", 5_000, join_of_lists),
        ("replacement grows", 1_000, replacement_grows),
        ("includes of lists", 2_000, includes_of_lists),
        ("sorted lists", 2_000, sorted_lists),
        ("parsed texts", 5_000, parsed_texts),
    ];
    let mut door = budgeted_door("expression");
    for (name, base, make) in families {
        door.measure_family(name, base, make, |run| run());
    }
    door.assert_linear();
}
