//! Property tests: evaluates random expressions on random documents and checks that nothing which
//! the analysis excludes ever happens.

use countersign_contract::contract::Schema;
use countersign_contract::expr::{
    AbstractValue, Expr, ExprValue, NumberSet, PlainValue, ReadStep, StringSet,
};
use countersign_schema_tools::SchemaSampler;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::gate_analysis::possible_document_values;
use super::schema_path_view::{FieldDeclaration, SchemaPathView};

fn schemas() -> Vec<Value> {
    let plain = json!({
        "type": "object", "required": ["s", "n"], "additionalProperties": false,
        "properties": {
            "s": {"enum": ["a", "b", ""]},
            "n": {"type": "integer", "minimum": 0, "maximum": 3},
            "b": {"type": "boolean"},
            "o": {"type": "object", "properties": {"s": {"const": "a"}, "n": {"type": "number"}}},
            "l": {"type": "array", "maxItems": 2, "items": {
                "type": "object", "required": ["s"], "additionalProperties": false,
                "properties": {"s": {"enum": ["a", "c"]}, "n": {"type": "integer", "minimum": 1}}
            }}
        }
    });
    let combined = json!({
        "allOf": [{"$ref": "#/$defs/base"}],
        "anyOf": [{"properties": {"s": {"const": "a"}}, "required": ["b"]}, {"properties": {"n": {"maximum": 0}}}],
        "$defs": {"base": {
            "type": "object", "required": ["s"],
            "properties": {
                "s": {"type": ["string", "null"], "enum": ["a", "b", null]},
                "n": {"type": ["integer", "string"], "maximum": 2},
                "l": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
                "o": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"type": "boolean"}}]}
            }
        }, "item": {"type": "object", "properties": {"s": {"type": "string"}, "n": {"enum": [1, 2, "a"]}}}}
    });
    let draft_07 = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "s": {"$ref": "#/definitions/word", "enum": ["never heard"]},
            "n": {"exclusiveMaximum": 2, "type": "number"},
            "l": {"type": "array", "items": [{"type": "string"}]},
            "o": {"patternProperties": {"^s": {"type": "number"}}, "additionalProperties": false}
        },
        "definitions": {"word": {"type": "string", "minLength": 1}}
    });
    vec![plain, combined, draft_07]
}

/// Documents that no sampler would generate; each is used with the schemas that accept it.
fn documents() -> Vec<Value> {
    vec![
        json!({"s": "a", "n": 0}),
        json!({"s": "b", "n": 3, "b": true, "o": {}}),
        json!({"s": "", "n": 1, "l": [], "o": {"s": "a", "n": 0.5, "x": [1]}}),
        json!({"s": "a", "n": 2, "l": [{"s": "a", "n": 2}, {"s": "c"}]}),
        json!({"s": null, "n": 0, "l": [{"n": "a"}], "o": null}),
        json!({"s": "a", "b": 1, "n": "1", "l": [{"s": "", "n": 1}], "o": {"s": true, "x": false}}),
        json!({"s": "a", "n": 1.5, "l": ["a", 1, {"s": "a"}], "o": {"s": 1, "s2": 0}}),
        json!({"n": -1, "l": [], "x": "a", "b": "a", "o": "a"}),
        json!({"s": "a", "n": 1, "l": ["a"], "o": ["a", "b"], "x": {"length": 2}}),
    ]
}

/// Generates a path of the document, mostly one that the schemas mention.
fn path() -> impl Strategy<Value = String> {
    let paths = [
        "state.s",
        "state.n",
        "state.b",
        "state.o",
        "state.l",
        "state.x",
        "state.o.s",
        "state.o.n",
        "state.o?.s",
        "state.o?.x",
        "state.l?.length",
        "state.l[0]",
        "state.l[0].s",
        "state.l?.[1]?.n",
        "state.o?.s.length",
        "state.l?.[0].s.x",
        "state.l?.[0].n",
        "state.o?.s2",
        "state.l[0][0]",
        "state['s']",
        "state.s?.length",
        "run.x",
    ];
    select(paths.to_vec()).prop_map(str::to_owned)
}

fn literal() -> impl Strategy<Value = String> {
    let literals = [
        "'a'",
        "'b'",
        "'c'",
        "''",
        "0",
        "1",
        "2",
        "3",
        "-1",
        "1.5",
        "true",
        "false",
        "null",
        "undefined",
        "'1'",
        "[]",
    ];
    select(literals.to_vec()).prop_map(str::to_owned)
}

fn operand() -> impl Strategy<Value = String> {
    prop_oneof![4 => path(), 3 => literal(), 1 => path().prop_map(|path| format!("({path} ?? 'a')"))]
}

fn compared() -> impl Strategy<Value = String> {
    let operators = ["===", "!==", "==", "!=", "<", "<=", ">", ">="];
    (operand(), select(operators.to_vec()), operand())
        .prop_map(|(left, operator, right)| format!("{left} {operator} {right}"))
}

fn in_list() -> impl Strategy<Value = String> {
    let inner = [
        "t.s === 'a'",
        "t.s !== 'c'",
        "t.n > 1",
        "t.n < 1",
        "t.x",
        "!t.n",
        "t.s === state.s",
        "t === 'a'",
    ];
    let each = ["some", "every", "find", "filter", "map", "findIndex"];
    let body = (select(inner.to_vec()), select(inner.to_vec()), select(vec!["&&", "||"]));
    (select(vec!["state.l", "(state.l ?? [])", "[state.s, state.n]"]), select(each.to_vec()), body)
        .prop_map(|(list, each, (one, two, joined))| {
            let call = format!("{list}.{each}(t => {one} {joined} {two})");
            match each {
                "some" | "every" => call,
                "find" => format!("{call} !== undefined"),
                "findIndex" => format!("{call} >= 0"),
                _ => format!("{call}.length > 0"),
            }
        })
}

fn condition() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => compared(),
        2 => in_list(),
        1 => path(),
        1 => (literal(), path()).prop_map(|(one, path)| format!("['a', {one}].includes({path})")),
        1 => select(vec!["'s' in state", "'x' in state", "'s' in state.o", "Array.isArray(state.l)", "Boolean(state.s)"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) && ({two})")),
            2 => (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) || ({two})")),
            2 => inner.clone().prop_map(|one| format!("!({one})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(one, two, three)| format!("({one}) ? ({two}) : ({three})")),
            1 => (inner.clone(), inner).prop_map(|(one, two)| format!("({one}) === ({two})")),
        ]
    })
}

/// Whether a result is among the values that the analysis predicted.
fn foretold(may: &AbstractValue, value: &ExprValue<'_>) -> bool {
    match value {
        ExprValue::Undefined => may.has_plain(PlainValue::Undefined),
        ExprValue::Num(number) => match &may.numbers {
            NumberSet::Empty => false,
            NumberSet::OneOf(some) => some.contains(number),
            NumberSet::Between(low, high) => {
                (low <= number && number <= high)
                    || (number.is_nan() && low.is_infinite() && high.is_infinite())
            }
        },
        ExprValue::Str(text) => match &may.strings {
            StringSet::Empty => false,
            StringSet::OneOf(some) => some.contains(text.as_str()),
            StringSet::Any => true,
        },
        ExprValue::List(list) => may
            .list_lengths
            .is_some_and(|(least, most)| least <= list.items().len() && list.items().len() <= most),
        other => {
            let value = other.to_json().unwrap_or_default();
            !AbstractValue::from_json(&value).intersection(may).is_never()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn whatever_comes_out_was_foretold(source in condition(), which in 0_usize..3, seed in 0_u64..400) {
        let schema = &schemas()[which];
        let expr = Expr::compile(&source, &["state", "run"]).unwrap();
        let view = SchemaPathView::new(schema);
        let outlook = expr.analyze(&|slot, steps| possible_document_values(Some(view), slot, steps));
        let (sampler, compiled) = (SchemaSampler::new(schema), Schema::compile(schema.clone()).unwrap());
        let sampled = (seed..seed + 6).filter_map(|seed| sampler.generate_sample(seed));
        let made = documents().into_iter().filter(|document| compiled.is_valid(document));
        let run = json!({"x": "a"});
        for document in sampled.filter(Value::is_object).chain(made) {
            if let Ok(value) = expr.eval(&[Some(&document), Some(&run)]) {
                prop_assert!(
                    foretold(&outlook.value, &value),
                    "{source} gave {value}, foretold {}, for {document}", outlook.value
                );
            }
        }
    }
}

#[test]
fn much_is_foretold_exactly() {
    let schema = &schemas()[0];
    let view = SchemaPathView::new(schema);
    let never = |source: &str| {
        let expr = Expr::compile(source, &["state", "run"]).unwrap();
        !expr
            .analyze(&|slot, steps| possible_document_values(Some(view), slot, steps))
            .value
            .has_plain(PlainValue::True)
    };
    for source in [
        "state.s === 'c'",
        "state.s == 'c'",
        "state.s === 1",
        "state.n > 3",
        "4 <= state.n",
        "state.n < 0",
        "state.x === 'a'",
        "state.x !== undefined",
        "state.s === 'a' && state.s === 'b'",
        "state.s === 'a' && state.n > 1 && state.s !== 'a'",
        "!(state.s === 'a' || state.s !== 'a')",
        "state.n > 1 && state.n < 1",
        "state.l.length > 2",
        "state.l.some(t => t.s === 'b')",
        "state.l.some(t => t.s === 'a' && t.s === 'c')",
        "state.l.filter(t => t.s === 'x').length > 0",
        "state.l.find(t => t.n < 1) !== undefined",
        "['x', 'y'].includes(state.s)",
        "state.o?.s === 'b'",
        "state.s",
        "state.n + 1",
        "'x' in state",
        "state.s == null",
        "state.b && false",
    ] {
        assert!(never(source), "{source}");
    }
    for source in [
        "state.s === ''",
        "state.n > 2",
        "state.l.every(t => t.s === 'b')",
        "state.x === undefined",
        "state.o?.s !== 'b'",
        "state.l.some(t => t.s === 'a') && state.l.some(t => t.s === 'c')",
        "state.b",
        "'s' in state",
    ] {
        assert!(!never(source), "{source}");
    }
}

#[test]
fn fields_are_known_undeclared_or_forbidden() {
    let field = |name: &str| ReadStep::Field(name.to_owned());
    let schemas = schemas();
    let closed = SchemaPathView::new(&schemas[0]);
    let names = vec!["b", "l", "n", "o", "s"];
    assert_eq!(closed.classify_path(&[field("s")]), FieldDeclaration::Allowed);
    assert_eq!(closed.classify_path(&[field("t")]), FieldDeclaration::Forbidden(0, names));
    assert_eq!(
        closed.classify_path(&[field("o"), field("t")]),
        FieldDeclaration::Undeclared(1, vec!["n", "s"])
    );
    assert_eq!(
        closed.classify_path(&[field("l"), ReadStep::Element, field("t")]),
        FieldDeclaration::Forbidden(2, vec!["n", "s"])
    );
    assert_eq!(
        closed.classify_path(&[field("n"), field("t")]),
        FieldDeclaration::Forbidden(1, vec![])
    );
    let patterned = SchemaPathView::new(&schemas[2]);
    assert_eq!(patterned.classify_path(&[field("o"), field("t")]), FieldDeclaration::Allowed);
}

#[test]
fn what_doubles_at_every_level_still_ends() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions
            .insert(format!("d{level}"), json!({"allOf": [next, next], "anyOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "object"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    let view = SchemaPathView::new(&schema);
    let steps = [ReadStep::Field("a".to_owned())];
    assert!(view.possible_values(&steps).has_plain(PlainValue::True));
    assert_eq!(view.classify_path(&steps), FieldDeclaration::Allowed);

    let nested = (0..20).fold("true".to_owned(), |inner, level| {
        format!("state.l.filter(p{level} => {inner}).length > 0")
    });
    let expr = Expr::compile(&nested, &["state"]).unwrap();
    assert!(expr.analyze(&|_, _| AbstractValue::any()).value.has_plain(PlainValue::True));
    let compared = (0..60).fold("state.a".to_owned(), |inner, _| format!("({inner} && 1) === 1"));
    let expr = Expr::compile(&compared, &["state"]).unwrap();
    assert!(expr.analyze(&|_, _| AbstractValue::any()).value.has_plain(PlainValue::True));
}
