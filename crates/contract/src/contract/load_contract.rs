//! Loads contract files: text becomes a compiled contract, or a list of every fault with its
//! location.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::contract_definition::{CompatibilityLevel, Contract, OnExhausted, OnViolation};
use super::contract_registry::{ContractRegistry, ContractRegistryError};
use super::contract_rule::{ContractRule, RULE_VARIABLES};
use super::lenient_fields::{EmptyFieldPolicy, ExtraFieldPolicy};
use super::schema::Schema;
use crate::expr::Expr;
use crate::json::{self, JsonPointerPattern, RepairLevel};
use crate::reply::IntakeMode;
use crate::source::{Diagnostic, ParsedSourceFile, SourceFile};

/// Reads a file that a contract file refers to: takes a path relative to the contract file, and
/// returns the text or the reason why it cannot be read.
pub type ContractFileReader<'r> = &'r dyn Fn(&str) -> Result<String, String>;

/// The JSON Schema of contract files.
pub const CONTRACT_FILE_SCHEMA: &str = include_str!("contract.schema.json");

static COMPILED_FILE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let schema =
        serde_json::from_str(CONTRACT_FILE_SCHEMA).expect("the built-in schema is valid JSON");
    Schema::compile(schema).expect("the built-in schema compiles")
});

/// Loads a contract file that has no `base`.
pub fn load_contract(
    source: SourceFile,
    read: ContractFileReader<'_>,
) -> Result<Contract, Vec<Diagnostic>> {
    load_contract_with_base(source, read, &ContractRegistry::default())
}

/// Loads a contract file that may have one of the known contracts as its `base`. It then inherits
/// the schema, settings and rules of the base and may add rules.
pub fn load_contract_with_base(
    source: SourceFile,
    read: ContractFileReader<'_>,
    known: &ContractRegistry,
) -> Result<Contract, Vec<Diagnostic>> {
    let mut tree = ParsedSourceFile::parse(source).map_err(|fault| vec![fault])?;
    COMPILED_FILE_SCHEMA.fill_defaults(&mut tree.value);
    let violations = COMPILED_FILE_SCHEMA.list_violations(&tree.value);
    if !violations.is_empty() {
        return Err(violations
            .iter()
            .map(|violation| tree.diagnose_violation(violation))
            .collect());
    }
    let has = |key: &str| tree.value.get(key).is_some();
    let mut faults = Vec::new();
    match (has("schema"), has("base")) {
        (true, true) => {
            let message =
                "a contract has either a `schema` or a `base`, and this one has both; keep one";
            faults.push(tree.diagnose("misplaced_key", "/schema", message));
        }
        (false, false) => {
            let message = "a contract needs a `schema` or a `base`, and this one has neither";
            faults.push(tree.diagnose("required", "", message));
        }
        _ => {}
    }
    let base = find_base(&tree, known).map_err(|fault| faults.push(fault)).ok().flatten();
    let schema = match &base {
        Some(base) => Schema::compile(base.schema.source().clone()).ok(),
        None if has("base") || !has("schema") => None,
        None => load_schema(&tree, read).map_err(|fault| faults.push(fault)).ok(),
    };
    let rules = load_rules(&tree, base.as_deref(), &mut faults);
    let (Some(schema), true) = (schema, faults.is_empty()) else { return Err(faults) };

    let file = &tree.value;
    let text = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
    let intake = IntakeMode::parse(&text("intake"));
    let intake = intake.or(base.as_ref().map(|base| base.intake)).unwrap_or_default();
    let repairs = RepairLevel::parse(&text("repairs"))
        .or(base.as_ref().map(|base| base.repairs))
        .unwrap_or(intake.default_repairs());
    let extra_fields = ExtraFieldPolicy::parse(&text("extra_fields"))
        .or(base.as_ref().map(|base| base.extra_fields))
        .unwrap_or_default();
    let empty_fields = EmptyFieldPolicy::parse(&text("empty_fields"))
        .or(base.as_ref().map(|base| base.empty_fields))
        .unwrap_or_default();
    let text_field = file["text_field"].as_str().map(str::to_owned);
    let text_field = text_field.or(base.as_ref().and_then(|base| base.text_field.clone()));
    let policy = &file["on_violation"];
    let on_violation = match &base {
        Some(base) if policy.is_null() => base.on_violation,
        _ => OnViolation {
            reask: policy["reask"]
                .as_u64()
                .map_or(OnViolation::default().reask, |count| count as u32),
            then: if policy["then"] == "wait" { OnExhausted::Wait } else { OnExhausted::Fail },
        },
    };
    let mut decisive = json!({
        "schema": schema.source(),
        "intake": intake.as_str(),
        "repairs": repairs.as_str(),
        "rules": file["rules"],
        "on_violation": policy,
    });
    for key in ["extra_fields", "empty_fields", "text_field"] {
        if has(key) {
            decisive[key] = file[key].clone();
        }
    }
    if let Some(base) = &base {
        decisive["base"] = json!(base.digest);
    }
    let digest = json::digest_json(&decisive);
    Ok(Contract {
        id: text("id"),
        version: text("version"),
        title: text("title"),
        description: text("description"),
        intake,
        repairs,
        extra_fields,
        empty_fields,
        text_field,
        schema,
        rules,
        on_violation,
        compatibility: CompatibilityLevel::parse(&text("compatibility"))
            .unwrap_or(CompatibilityLevel::Initial),
        migration_notes: text("migration_notes"),
        digest,
    })
}

/// Loads a contract from a text that contains its schema. References to other files are errors.
pub fn load_inline_contract(text: &str) -> Result<Contract, Vec<Diagnostic>> {
    load_contract(SourceFile::new("<inline>", text), &|path| {
        Err(format!("`{path}`: an inline contract cannot read files"))
    })
}

/// Loads a contract from a JSON value with the members of a contract file, such as one whose
/// `schema` the program derives from its own types. References to other files are errors.
///
/// ```
/// use countersign_contract::contract::load_contract_value;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "required": ["score"] });
/// let contract = load_contract_value(&json!({
///     "id": "verdict", "version": "1.0.0", "intake": "tolerant", "schema": schema,
/// }))
/// .unwrap();
/// assert_eq!(contract.schema.source(), &schema);
/// ```
pub fn load_contract_value(contract: &Value) -> Result<Contract, Vec<Diagnostic>> {
    // As JSON, because YAML limits the length of keys.
    let source = SourceFile::new("<value>.json", format!("{contract:#}"));
    load_contract(source, &|path| Err(format!("`{path}`: a contract value reads no files")))
}

fn load_schema(
    tree: &ParsedSourceFile,
    read: ContractFileReader<'_>,
) -> Result<Schema, Diagnostic> {
    let (tree, base) = match &tree.value["schema"] {
        Value::String(path) => {
            let text =
                read(path).map_err(|reason| tree.diagnose("unreadable_file", "/schema", reason))?;
            (&ParsedSourceFile::parse(SourceFile::new(path, text))?, "")
        }
        _ => (tree, "/schema"),
    };
    let value = tree.value.pointer(base).cloned().unwrap_or_default();
    Schema::compile(value).map_err(|fault| {
        let pointer = format!("{base}{}", fault.pointer);
        tree.diagnose("invalid_schema", &pointer, format!("unsupported schema: {}", fault.message))
    })
}

/// Finds the contract that `base` names; `None` if the file has no `base`.
fn find_base(
    tree: &ParsedSourceFile,
    known: &ContractRegistry,
) -> Result<Option<Arc<Contract>>, Diagnostic> {
    let Some(name) = tree.value["base"].as_str() else { return Ok(None) };
    let fault = |error: ContractRegistryError| {
        tree.diagnose("unknown_contract", "/base", error.to_string())
    };
    known.find(name).map(|base| Some(Arc::clone(base))).map_err(fault)
}

fn load_rules(
    tree: &ParsedSourceFile,
    base: Option<&Contract>,
    faults: &mut Vec<Diagnostic>,
) -> Vec<Arc<ContractRule>> {
    let inherited = base.map_or(&[][..], |base| &base.rules);
    let mut rules: Vec<Arc<ContractRule>> = Vec::new();
    for (index, rule) in tree.value["rules"].as_array().into_iter().flatten().enumerate() {
        let base = format!("/rules/{index}");
        let text = |key: &str| rule[key].as_str().unwrap_or_default().to_owned();
        let id = text("id");
        let is_it = |other: &Arc<ContractRule>| other.id == id;
        let above = if rules.iter().any(is_it) {
            Some("above")
        } else {
            inherited.iter().any(is_it).then_some("in the base")
        };
        if let Some(location) = above {
            let message = format!("rule `{id}` is already defined {location}");
            faults.push(tree.diagnose("duplicate_id", &format!("{base}/id"), message));
        }
        let each = rule["each"].as_str().and_then(JsonPointerPattern::parse);
        // The variable `item` exists only in rules with `each`.
        let names = if each.is_some() {
            &RULE_VARIABLES[..]
        } else {
            &RULE_VARIABLES[..RULE_VARIABLES.len() - 1]
        };
        let mut compile = |key: &str| {
            let source = rule[key].as_str()?;
            let compiled = Expr::compile(source, names);
            compiled
                .map_err(|error| {
                    let pointer = format!("{base}/{key}");
                    let span = tree.find_excerpt_span(&pointer, source, &error.span);
                    let fault =
                        Diagnostic::new("invalid_expression", error.message, &tree.source, span);
                    faults.push(fault.with_hint(error.hint));
                })
                .ok()
        };
        let when = compile("when");
        if let Some(then) = compile("then") {
            let (at, says) = (text("at"), text("says"));
            rules.push(Arc::new(ContractRule { id, each, when, then, at, says }));
        }
    }
    rules.extend(inherited.iter().cloned());
    rules
}
