//! The expression language judged by a real JavaScript engine.
//!
//! Generated expressions run over generated states, here and in QuickJS: the value must be the same, or
//! both must fail. Where we refuse or fail and JavaScript has a value, the reason must stand on a written
//! list. Everything is drawn from fixed seeds, so a failure repeats.

#[path = "expr_oracle/states.rs"]
mod states;
#[path = "expr_oracle/expressions.rs"]
mod expressions;
#[path = "expr_oracle/lists.rs"]
mod lists;
#[path = "expr_oracle/mutants.rs"]
mod mutants;
#[path = "expr_oracle/judge.rs"]
mod judge;

use std::collections::BTreeMap;

use countersign_contract::expr::{EvalError, Expr, ExprError, ExprValue};
use serde_json::Value;

use expressions::Generator;
use judge::{Judge, Verdict, write};
use testkit::SeededRng;

const CASES: usize = 120_000;
const MUTANTS: usize = 60_000;
const STATES: usize = 300;
const NAMES: &[&str] = &["state", "reply"];

/// Why we may refuse at load what JavaScript accepts: a part of each message.
const REFUSALS: &[(&str, &str)] = &[
    ("not part of the language", "is not allowed in an expression"),
    ("operator not part of the language", "expressions do not support"),
    ("function not offered", "is not supported"),
    ("method not offered", "unknown method"),
    ("name not offered", "unknown name"),
    ("function as a value", "is not a value"),
    ("function held elsewhere", "an arrow function is allowed only"),
    ("spread of arguments", "is allowed only in an array or an object"),
    ("reserved word as a field and its value", "cannot be a shorthand field"),
    ("too many arguments", "takes at most"),
    ("too many parameters", "parameters"),
    ("callback is no arrow", "needs an arrow function"),
    ("reserved parameter name", "cannot name a parameter"),
    ("array holes", "must not have holes"),
    ("block body", "must be an expression"),
    ("call of a value", "only known methods"),
    ("depth", "deep"),
    ("operations in one another", "operations are nested"),
    ("octal", "begins with a zero"),
    ("numeric separators and big integers", "is not a number"),
    ("octal escape", "octal escapes"),
    ("half of a surrogate pair in a literal", "lone surrogate"),
];

/// Why we may fail at run time where JavaScript has a value: a part of each message.
const FAILURES: &[(&str, &str)] = &[
    ("function-valued property", "is a built-in function"),
    ("split surrogate pair", "surrogate pair"),
    ("spent budget", "budget is spent"),
    ("string spread into an object", "needs an object or an array here, found a string"),
    ("part of a number in another base", "needs a whole number up to"),
    ("list of names for `JSON.stringify`", "must be `null`"),
];

/// The names that JavaScript finds on every object. An expression sees own keys only, so that nobody
/// opens a gate by naming a key `constructor`; there, and only there, its value is another one. A case
/// that differs is judged once more under other names of the same length: then both must agree.
const OWN_ONLY: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// What must occur among the expressions with a value, each at least `LEAST` times.
const FORMS: &[&str] = &[
    ".some(",
    ".every(",
    ".filter(",
    ".map(",
    ".find(",
    ".findIndex(",
    ".flatMap(",
    ".reduce(",
    ".includes(",
    ".indexOf(",
    ".lastIndexOf(",
    ".concat(",
    ".toReversed(",
    ".join(",
    ".slice(",
    ".at(",
    ".startsWith(",
    ".endsWith(",
    ".toLowerCase(",
    ".toUpperCase(",
    ".trim(",
    ".split(",
    ".length",
    "Object.keys(",
    "Object.values(",
    "Object.entries(",
    "Array.isArray(",
    "Number(",
    "String(",
    "Boolean(",
    "Math.min(",
    "Math.max(",
    "Math.abs(",
    "Math.floor(",
    "Math.ceil(",
    "Math.round(",
    "Math.sqrt(",
    "Math.pow(",
    "Math.trunc(",
    "Math.sign(",
    "JSON.stringify(",
    "JSON.parse(",
    "typeof ",
    ".replace(",
    ".replaceAll(",
    ".toString(",
    " === ",
    " !== ",
    " == ",
    " != ",
    " < ",
    " <= ",
    " > ",
    " >= ",
    " && ",
    " || ",
    " ?? ",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " in ",
    " ? ",
    "!",
    "?.",
    "?.[",
    "[...",
    "{...",
    ", ...",
    "]: ",
    "=> ({",
    "{}",
    "{'a b': ",
    "__proto__",
    "`",
    "${",
    "({",
    "([",
    "() =>",
    "(Boolean)",
    "(Number)",
    "(String)",
    "undefined",
    "null",
    "NaN",
];
const LEAST: usize = 100;

/// What came of all cases.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, usize>,
    forms: BTreeMap<&'static str, usize>,
    mismatches: Vec<String>,
}

impl Tally {
    fn count(&mut self, class: impl Into<String>) {
        *self.counts.entry(class.into()).or_default() += 1;
    }

    fn of(&self, class: &str) -> usize {
        self.counts.get(class).copied().unwrap_or(0)
    }

    /// Runs one source on both sides and files the outcome. Behind the states stand the same ones
    /// under other names.
    fn run(&mut self, judge: &Judge<'_>, states: &[Value], source: &str, at: (usize, usize)) {
        let mut one = Self::default();
        one.run_once(judge, states, source, at);
        let other = renamed_source(source);
        if one.of("MISMATCH") > 0 {
            let half = states.len() / 2;
            let mut again = Self::default();
            again.run_once(judge, states, &other, (at.0 + half, at.1 + half));
            if again.of("MISMATCH") == 0 {
                return self.count("own keys only");
            }
        }
        for (class, count) in one.counts {
            *self.counts.entry(class).or_default() += count;
        }
        for (form, count) in one.forms {
            *self.forms.entry(form).or_default() += count;
        }
        let room = 25_usize.saturating_sub(self.mismatches.len());
        self.mismatches.extend(one.mismatches.into_iter().take(room));
    }

    fn run_once(&mut self, judge: &Judge<'_>, states: &[Value], source: &str, at: (usize, usize)) {
        let theirs = judge.ask(source, at);
        let expr = match Expr::compile(source, NAMES) {
            Ok(expr) => expr,
            Err(error) => return self.refused(source, &error, &theirs),
        };
        let roots = [Some(&states[at.0]), Some(&states[at.1])];
        match (expr.eval(&roots), theirs) {
            (Ok(value), Verdict::Value(expected)) => self.compare(source, at, &value, &expected),
            (Err(_), Verdict::Throws(_)) => self.count("both throw"),
            (Err(error), Verdict::Value(expected)) => self.failed(source, at, &error, &expected),
            (ours, theirs) => {
                self.mismatch(format!(
                    "{source}\n  at {at:?}\n  ours {ours:?}\n  theirs {theirs:?}"
                ));
            }
        }
    }

    fn compare(&mut self, source: &str, at: (usize, usize), value: &ExprValue<'_>, expected: &str) {
        let found = write(value);
        if found != expected {
            let message = format!("{source}\n  at {at:?}\n  ours {found}\n  theirs {expected}");
            return self.mismatch(message);
        }
        self.count("equal value");
        for form in FORMS {
            if source.contains(form) {
                *self.forms.entry(form).or_default() += 1;
            }
        }
    }

    fn refused(&mut self, source: &str, error: &ExprError, theirs: &Verdict) {
        if matches!(theirs, Verdict::Syntax(_)) {
            return self.count("both refuse");
        }
        match REFUSALS.iter().find(|(_, part)| error.message.contains(part)) {
            Some((reason, _)) => {
                self.count("refused at load");
                self.count(format!("refused at load: {reason}"));
            }
            None => self.mismatch(format!("{source}\n  refused: {error}\n  theirs {theirs:?}")),
        }
    }

    fn failed(&mut self, source: &str, at: (usize, usize), error: &EvalError, expected: &str) {
        match FAILURES.iter().find(|(_, part)| error.message.contains(part)) {
            Some((reason, _)) => self.count(format!("only we fail: {reason}")),
            None => {
                self.mismatch(format!(
                    "{source}\n  at {at:?}\n  ours: {error}\n  theirs {expected}"
                ));
            }
        }
    }

    fn mismatch(&mut self, message: String) {
        self.count("MISMATCH");
        if self.mismatches.len() < 25 {
            self.mismatches.push(message);
        }
    }

    fn report(&self, title: &str) -> String {
        let lines = self.counts.iter().map(|(class, count)| format!("\n{count:>8}  {class}"));
        format!("{title}{}", lines.collect::<Vec<_>>().concat())
    }

    #[track_caller]
    fn assert_no_mismatch(&self) {
        assert!(self.mismatches.is_empty(), "\n{}", self.mismatches.join("\n"));
    }
}

/// The states, and behind them the same ones under other names.
fn world() -> Vec<Value> {
    let mut states = states::generate(STATES);
    let renamed: Vec<Value> = states.iter().map(renamed_state).collect();
    states.extend(renamed);
    states
}

fn other_name(name: &str) -> String {
    name[..name.len() - 1].to_owned() + "Z"
}

fn renamed_state(value: &Value) -> Value {
    let other = |text: &str| {
        let known = OWN_ONLY.contains(&text);
        if known { other_name(text) } else { text.to_owned() }
    };
    match value {
        Value::String(text) => Value::from(other(text)),
        Value::Array(items) => items.iter().map(renamed_state).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (other(name), renamed_state(value))).collect()
        }
        other => other.clone(),
    }
}

/// The source with other names for fields and texts; a method that is called keeps its own.
fn renamed_source(source: &str) -> String {
    let mut renamed = source.to_owned();
    for name in OWN_ONLY {
        let escape = |text: &str| -> String {
            text.encode_utf16().fold(String::new(), |all, unit| format!("{all}\\u{unit:04x}"))
        };
        let other = other_name(name);
        renamed = renamed.replace(&escape(name), &escape(&other));
        let mut from = 0;
        while let Some(at) = renamed[from..].find(name).map(|at| at + from) {
            from = at + name.len();
            if !renamed[from..].trim_start().starts_with('(') {
                renamed.replace_range(at..from, &other);
            }
        }
    }
    renamed
}

#[test]
fn generated_expressions_mean_what_javascript_means() {
    let states = world();
    let mut tally = Tally::default();
    Judge::hold(&states, |judge| {
        let mut rng = SeededRng::new(2);
        for _ in 0..CASES {
            let source = Generator::new(&mut rng).expression();
            let at = (rng.next_below(STATES), rng.next_below(STATES));
            tally.run(judge, &states, &source, at);
        }
    });
    println!("{}", tally.report("generated expressions"));
    tally.assert_no_mismatch();
    assert!(tally.of("equal value") > CASES / 2);
    assert!(tally.of("refused at load") < CASES / 50);
    let own = tally.of("own keys only");
    assert!((1..CASES / 50).contains(&own), "own keys only: {own}");
    for (reason, _) in FAILURES {
        let count = tally.of(&format!("only we fail: {reason}"));
        assert!(count < CASES / 100, "{reason}: {count}");
    }
    for form in FORMS {
        let count = tally.forms.get(form).copied().unwrap_or(0);
        assert!(count >= LEAST, "`{form}` occurs only {count} times");
    }
}

#[test]
fn what_we_accept_of_broken_sources_javascript_accepts_too() {
    let states = world();
    let mut tally = Tally::default();
    Judge::hold(&states, |judge| {
        let mut rng = SeededRng::new(3);
        for round in 0..MUTANTS {
            let source = if round % 3 == 0 {
                mutants::soup(&mut rng)
            } else {
                let whole = Generator::new(&mut rng).expression();
                mutants::mutate(&whole, &mut rng)
            };
            let at = (rng.next_below(STATES), rng.next_below(STATES));
            tally.run(judge, &states, &source, at);
        }
    });
    println!("{}", tally.report("broken sources"));
    tally.assert_no_mismatch();
    assert!(tally.of("equal value") > MUTANTS / 20);
    assert!(tally.of("both refuse") > MUTANTS / 5);
}

#[test]
fn prototype_names_are_javascripts() {
    let states = states::generate(1);
    Judge::hold(&states, |judge| {
        for (value, prototype) in
            [("[]", "Array"), ("''", "String"), ("(1)", "Number"), ("true", "Boolean")]
        {
            for name in judge.prototype_names(prototype) {
                let read = Expr::compile(&format!("{value}[`{name}`]"), NAMES).unwrap().eval(&[]);
                let held = name == "length" || read.is_err();
                assert!(held, "{prototype}.prototype.{name} is read as {read:?}");
            }
        }
    });
}

/// What the generator does not draw: a compare function that contradicts itself has no one answer.
#[test]
fn sorted_copies_are_javascripts() {
    let states = world();
    let mut tally = Tally::default();
    Judge::hold(&states, |judge| {
        let mut rng = SeededRng::new(4);
        for _ in 0..6_000 {
            let list = rng.pick_ref(&[
                "state.nums",
                "[...state.nums, undefined, ...reply.nums, undefined, 3]",
                "state.tasks.concat(reply.tasks).map((t, i) => t.priority)",
                "state.strs.map(s => s.length)",
                "state.mixed",
                "[]",
            ]);
            let compare = rng.pick_ref(&[
                "(a, b) => a - b",
                "(a, b) => b - a",
                "(a, b) => Number(a) < Number(b) ? -1 : Number(a) > Number(b) ? 1 : 0",
                "() => 0",
                "(a, b) => a.missing.missing",
            ]);
            let source = match rng.next_below(3) {
                0 => format!("{list}.filter(x => Number(x) === Number(x)).toSorted({compare})"),
                1 => format!("{list}.filter(x => x <= 0 || x >= 0).toSorted({compare}).length"),
                _ => [
                    "state.tasks.map((t, i) => ({...t, i})).toSorted(({id}, y) => id - y.id)",
                    ".concat(state.strs.map((s, i) => ({s, i, n: s.length})).toSorted((a, b) => a.n - b.n))",
                ]
                .concat(),
            };
            let at = (rng.next_below(STATES), rng.next_below(STATES));
            tally.run(judge, &states, &source, at);
        }
    });
    println!("{}", tally.report("sorted copies"));
    tally.assert_no_mismatch();
    assert!(tally.of("equal value") > 3_000);
}
