//! Lists the changes between two versions for people: pointer, kind and sentence.
//!
//! The list is for reading. The outcome of a comparison rests on proofs and witnesses only.

use countersign_contract::contract::Contract;
use serde_json::{Map, Value};

use super::compare_contracts::is_same_rule;
use super::schema_diff::SchemaDiffWalker;
use super::text_witness::strictness_rank;
use crate::annotation_keywords::ANNOTATION_KEYWORDS;

/// One change between two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractChange {
    /// The pointer in the values, with `*` for every item; empty for the whole contract.
    pub pointer: String,
    /// The kind of change, for programs.
    pub kind: ContractChangeKind,
    /// The change as a sentence.
    pub message: String,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContractChangeKind {
    /// The schema declares a new field.
    FieldAdded,
    /// The schema no longer declares a field.
    FieldRemoved,
    /// A field is now required.
    BecameRequired,
    /// A field is now optional.
    BecameOptional,
    /// An enumeration has a new member.
    MemberAdded,
    /// An enumeration lost a member.
    MemberRemoved,
    /// The new version allows less.
    Tightened,
    /// The new version allows more.
    Loosened,
    /// The type is different.
    TypeChanged,
    /// The default is different.
    DefaultChanged,
    /// A keyword is different, and the change does not say whether that allows more or less.
    KeywordChanged,
    /// The new version has a new rule.
    RuleAdded,
    /// The new version lacks a rule.
    RuleRemoved,
    /// A rule has another condition.
    RuleChanged,
}

impl ContractChangeKind {
    /// Returns the name that JSON output uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FieldAdded => "field_added",
            Self::FieldRemoved => "field_removed",
            Self::BecameRequired => "became_required",
            Self::BecameOptional => "became_optional",
            Self::MemberAdded => "member_added",
            Self::MemberRemoved => "member_removed",
            Self::Tightened => "tightened",
            Self::Loosened => "loosened",
            Self::TypeChanged => "type_changed",
            Self::DefaultChanged => "default_changed",
            Self::KeywordChanged => "keyword_changed",
            Self::RuleAdded => "rule_added",
            Self::RuleRemoved => "rule_removed",
            Self::RuleChanged => "rule_changed",
        }
    }
}

/// Returns every change from the old version to the new one.
pub(super) fn list_changes(old: &Contract, new: &Contract) -> Vec<ContractChange> {
    let mut changes = SchemaDiffWalker::diff_schemas(
        &strip_annotations(old.schema.source()),
        &strip_annotations(new.schema.source()),
    );
    let mut push = |kind, says: String| {
        changes.push(ContractChange { pointer: String::new(), kind, message: says });
    };
    for rule in &new.rules {
        match old.rules.iter().find(|other| other.id == rule.id) {
            None => {
                push(
                    ContractChangeKind::RuleAdded,
                    format!("rule `{}` was added: {}", rule.id, rule.says),
                );
            }
            Some(other) if !is_same_rule(rule, other) => {
                push(
                    ContractChangeKind::RuleChanged,
                    format!("rule `{}` was changed: {}", rule.id, rule.says),
                );
            }
            Some(_) => {}
        }
    }
    for rule in old.rules.iter().filter(|rule| !new.rules.iter().any(|other| other.id == rule.id)) {
        push(
            ContractChangeKind::RuleRemoved,
            format!("rule `{}` was removed: {}", rule.id, rule.says),
        );
    }
    let ways = [
        (
            "intake",
            strictness_rank(old.intake).cmp(&strictness_rank(new.intake)),
            old.intake.as_str(),
            new.intake.as_str(),
        ),
        ("repairs", old.repairs.cmp(&new.repairs), old.repairs.as_str(), new.repairs.as_str()),
        (
            "extra_fields",
            old.extra_fields.cmp(&new.extra_fields),
            old.extra_fields.as_str(),
            new.extra_fields.as_str(),
        ),
        (
            "empty_fields",
            old.empty_fields.cmp(&new.empty_fields),
            old.empty_fields.as_str(),
            new.empty_fields.as_str(),
        ),
        (
            "text_field",
            old.text_field.is_some().cmp(&new.text_field.is_some()),
            old.text_field.as_deref().unwrap_or("none"),
            new.text_field.as_deref().unwrap_or("none"),
        ),
    ];
    for (name, order, before, after) in ways {
        if order.is_ne() {
            let (kind, word) = if order.is_gt() {
                (ContractChangeKind::Tightened, "stricter")
            } else {
                (ContractChangeKind::Loosened, "looser")
            };
            push(kind, format!("{name} is {word}: {before} became {after}"));
        }
    }
    changes
}

/// Removes the annotations of a schema. The root keeps `$schema`, and keeps `$id` only if a
/// reference may use it.
pub(super) fn strip_annotations(schema: &Value) -> Value {
    let mut bare = strip_subschema(schema);
    if let Some(keywords) = bare.as_object_mut() {
        keywords
            .extend(schema.get("$schema").map(|dialect| ("$schema".to_owned(), dialect.clone())));
        if !refers_outside(schema) {
            keywords.shift_remove("$id");
        }
    }
    bare
}

fn strip_subschema(schema: &Value) -> Value {
    let Some(keywords) = schema.as_object() else { return schema.clone() };
    let kept =
        keywords.iter().filter(|(keyword, _)| !ANNOTATION_KEYWORDS.contains(&keyword.as_str()));
    let each = |fields: &Map<String, Value>| {
        Value::Object(
            fields.iter().map(|(name, field)| (name.clone(), strip_subschema(field))).collect(),
        )
    };
    let stripped = kept.map(|(keyword, said)| {
        let said = match (keyword.as_str(), said) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(fields),
            ) => each(fields),
            ("enum" | "const" | "default" | "required" | "dependentRequired", said) => said.clone(),
            (_, Value::Array(parts)) => Value::Array(parts.iter().map(strip_subschema).collect()),
            (_, said) => strip_subschema(said),
        };
        (keyword.clone(), said)
    });
    Value::Object(stripped.collect())
}

fn refers_outside(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.iter().any(|(keyword, said)| {
            (keyword == "$ref" && said.as_str().is_some_and(|target| !target.starts_with('#')))
                || refers_outside(said)
        }),
        Value::Array(parts) => parts.iter().any(refers_outside),
        _ => false,
    }
}
