//! Versions compared, schemas exported.

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::limits::MAX_COMPARISON_STEPS;
use countersign_schema_tools::{
    CompatOutcome, ExportTarget, WorkBudget, compare_within, export_contract,
};
use serde_json::{Value, json};

use super::budgeted_door;
use super::schemas::{schemas, table};

fn contract(schema: &Value) -> Option<Contract> {
    load_inline_contract(&format!("id: c\nversion: 1.0.0\nschema: {schema}\n")).ok()
}

#[test]
fn versions_are_compared() {
    let mut door = budgeted_door("contract_diff");
    let diff = |pair: &Option<(Contract, Contract)>| {
        if let Some((old, new)) = pair {
            // A small part of the usual budget: here it is what no budget counts that may grow.
            let budget = WorkBudget::new(MAX_COMPARISON_STEPS / 500, &|| false);
            let _ = compare_within(old, new, &[], &budget);
        }
    };
    let with_one_more = |make: &dyn Fn(usize) -> Value, size: usize| {
        contract(&make(size)).zip(contract(&make(size + 1)))
    };
    let narrowed = |make: fn(usize) -> Value, size: usize| {
        let old = make(size);
        let mut new = old.clone();
        new["minProperties"] = json!(1);
        contract(&old).zip(contract(&new))
    };
    for (name, base, make) in schemas() {
        door.measure_family(name, base, |size| narrowed(make, size), diff);
        door.measure_family(
            &format!("{name}, one more"),
            base,
            |size| with_one_more(&make, size),
            diff,
        );
    }
    let least = |size: usize| json!({"minProperties": size, "minItems": size, "minLength": size});
    let required =
        |size: usize| json!({"required": (0..size).map(|n| format!("f{n}")).collect::<Vec<_>>()});
    door.measure_family("large least numbers", 1_000_000, |size| with_one_more(&least, size), diff)
        .measure_family("many required fields", 50, |size| with_one_more(&required, size), diff);
    door.assert_linear();
}

fn exports_grow(target: ExportTarget) {
    let mut door = budgeted_door("contract_export");
    for (name, base, make) in schemas() {
        door.measure_family(
            name,
            base,
            |size| contract(&make(size)),
            |contract| {
                if let Some(contract) = contract {
                    drop(export_contract(contract, target));
                }
            },
        );
    }
    door.assert_linear();
}

#[test]
fn exports_for_openai() {
    exports_grow(ExportTarget::OpenAi);
}

#[test]
fn exports_for_anthropic() {
    exports_grow(ExportTarget::Anthropic);
}

#[test]
fn exports_for_gemini() {
    exports_grow(ExportTarget::Gemini);
}

#[test]
fn exports_of_grammars() {
    exports_grow(ExportTarget::Grammar);
}

#[test]
fn a_comparison_stops_when_it_is_given_up() {
    let schema = |most: usize| {
        let field = json!({"type": "string", "maxLength": most});
        json!({"type": "object", "properties": table(200, |_| field.clone())})
    };
    let (old, new) = (contract(&schema(100)).unwrap(), contract(&schema(99)).unwrap());
    let polls = std::cell::Cell::new(0_u32);
    let is_cancelled = || {
        polls.set(polls.get() + 1);
        polls.get() > 100
    };
    let comparison = compare_within(&old, &new, &[], &WorkBudget::new(u64::MAX, &is_cancelled));
    let CompatOutcome::Unknown { reason } = comparison.backward else { panic!("{comparison:?}") };
    assert!(reason.ends_with("the comparison was cancelled"), "{reason}");
    assert!(polls.get() < 5_000, "asked {} times", polls.get());
    let few = compare_within(&old, &new, &[], &WorkBudget::new(1_000, &|| false));
    let CompatOutcome::Unknown { reason } = few.backward else { panic!("{few:?}") };
    assert!(reason.ends_with("the comparison exceeds its step limit"), "{reason}");
}
