//! Contracts as the API sends them: a row, the whole contract, a comparison, and an export for a
//! provider.

use countersign_contract::contract::{Contract, ContractRule};
use countersign_schema_tools::{CompatOutcome, ExportTarget, ExportedContract};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A contract in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContractRow {
    /// The id of the contract.
    #[schema(example = "guardian_report")]
    pub id: String,
    /// The version of the contract.
    pub version: String,
    /// A one-line description.
    pub title: String,
    /// What may surround the JSON object in a reply: `strict`, `fenced`, `tolerant`.
    pub intake: String,
    /// The repairs that are allowed: `none`, `lossless`, `syntactic`, `guess`.
    pub repairs: String,
    /// The number of rules.
    pub rules: usize,
    /// The declared compatibility with the previous version: `initial`, `full`, `backward`,
    /// `forward`, `breaking`.
    pub compatibility: String,
    /// What changed since the previous version.
    pub migration_notes: String,
    /// The digest of everything that affects verdicts.
    pub digest: String,
}

impl From<&Contract> for ContractRow {
    fn from(contract: &Contract) -> Self {
        Self {
            id: contract.id.clone(),
            version: contract.version.clone(),
            title: contract.title.clone(),
            intake: contract.intake.as_str().to_owned(),
            repairs: contract.repairs.as_str().to_owned(),
            rules: contract.rules.len(),
            compatibility: contract.compatibility.as_str().to_owned(),
            migration_notes: contract.migration_notes.clone(),
            digest: contract.digest.clone(),
        }
    }
}

/// A whole contract.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ContractView {
    /// The id of the contract.
    #[schema(example = "guardian_report")]
    pub id: String,
    /// The version of the contract.
    pub version: String,
    /// A one-line description.
    pub title: String,
    /// What may surround the JSON object in a reply: `strict`, `fenced`, `tolerant`.
    pub intake: String,
    /// The repairs that are allowed: `none`, `lossless`, `syntactic`, `guess`.
    pub repairs: String,
    /// What happens to fields that the schema forbids as unknown: `refuse` or `report`.
    pub extra_fields: String,
    /// What happens to optional fields that hold nothing: `keep` or `omit`.
    pub empty_fields: String,
    /// The field that a reply of plain text is the value of. Null: plain text is refused.
    pub text_field: Option<String>,
    /// The rules that a value must satisfy in addition to the schema.
    pub rules: Vec<RuleView>,
    /// The declared compatibility with the previous version: `initial`, `full`, `backward`,
    /// `forward`, `breaking`.
    pub compatibility: String,
    /// What changed since the previous version.
    pub migration_notes: String,
    /// The digest of everything that affects verdicts.
    pub digest: String,
    /// The purpose of the contract.
    pub description: String,
    /// What happens after a refused reply.
    pub on_violation: OnViolationView,
    /// The JSON Schema of accepted values.
    pub schema: Value,
}

/// What happens after a refused reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OnViolationView {
    /// How many times the model may retry.
    pub reask: u32,
    /// What happens after the last retry: `fail` (the step fails) or `wait` (a person is asked).
    pub then: String,
}

/// A rule that a value must satisfy in addition to the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RuleView {
    /// The id of the rule, unique in the contract.
    pub id: String,
    /// The pattern of the locations at which the rule is evaluated, one by one. Null: once, for the
    /// whole value.
    pub each: Option<String>,
    /// The condition under which the rule applies. Null: always.
    pub when: Option<String>,
    /// The expression that must be true.
    pub then: String,
    /// The JSON Pointer that a violation reports, from the root or from the item.
    pub at: String,
    /// The message of a violation.
    pub says: String,
}

impl From<&Contract> for ContractView {
    fn from(contract: &Contract) -> Self {
        let row = ContractRow::from(contract);
        Self {
            id: row.id,
            version: row.version,
            title: row.title,
            intake: row.intake,
            repairs: row.repairs,
            extra_fields: contract.extra_fields.as_str().to_owned(),
            empty_fields: contract.empty_fields.as_str().to_owned(),
            text_field: contract.text_field.clone(),
            rules: contract.rules.iter().map(|rule| RuleView::from(&**rule)).collect(),
            compatibility: row.compatibility,
            migration_notes: row.migration_notes,
            digest: row.digest,
            description: contract.description.clone(),
            on_violation: OnViolationView {
                reask: contract.on_violation.reask,
                then: contract.on_violation.then.as_str().to_owned(),
            },
            schema: contract.schema.source().clone(),
        }
    }
}

impl From<&ContractRule> for RuleView {
    fn from(rule: &ContractRule) -> Self {
        Self {
            id: rule.id.clone(),
            each: rule.each.as_ref().map(ToString::to_string),
            when: rule.when.as_ref().map(|when| when.source().to_owned()),
            then: rule.then.source().to_owned(),
            at: rule.at.clone(),
            says: rule.says.clone(),
        }
    }
}

/// A reference to a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContractRef {
    /// The id of the contract.
    pub id: String,
    /// The version of the contract.
    pub version: String,
    /// The digest of everything that affects verdicts.
    pub digest: String,
}

impl From<&Contract> for ContractRef {
    fn from(contract: &Contract) -> Self {
        let Contract { id, version, digest, .. } = contract;
        Self { id: id.clone(), version: version.clone(), digest: digest.clone() }
    }
}

/// The compatibility of a new version of a contract with an old one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ContractDiffView {
    /// The old contract.
    pub old: ContractRef,
    /// The new contract.
    pub new: ContractRef,
    /// The compatibility that was found: `full`, `backward`, `forward`, `breaking`.
    pub compatibility: String,
    /// The compatibility that the new contract file declares.
    pub declared: String,
    /// Whether a part of the comparison could not be decided.
    pub undecided: bool,
    /// Whether the new contract accepts everything that the old one accepts.
    pub backward: CompatibilityView,
    /// Whether the old contract accepts everything that the new one accepts.
    pub forward: CompatibilityView,
    /// The changes, by pointer.
    pub changes: Vec<SchemaChangeView>,
}

/// The result for one direction of a comparison. Members that do not apply are null.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CompatibilityView {
    /// The result: `yes`, `no` or `unknown`.
    pub answer: String,
    /// A value that one contract accepts and the other refuses.
    pub witness: Option<Value>,
    /// The text to send the value as, if the value alone does not show the difference.
    pub text: Option<String>,
    /// The reasons for which the value is refused.
    pub violations: Option<Vec<String>>,
    /// Why the comparison could not be decided.
    pub reason: Option<String>,
}

/// One change between two contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SchemaChangeView {
    /// The pointer in the values; `*` stands for every item.
    pub pointer: String,
    /// The kind of change.
    pub kind: String,
    /// The change, in one sentence.
    pub message: String,
}

impl ContractDiffView {
    /// Builds the view from a comparison.
    #[must_use]
    pub fn from_comparison(
        old: &Contract,
        new: &Contract,
        comparison: &countersign_schema_tools::ContractComparison,
    ) -> Self {
        let changes = comparison.changes.iter().map(|change| SchemaChangeView {
            pointer: change.pointer.clone(),
            kind: change.kind.as_str().to_owned(),
            message: change.message.clone(),
        });
        Self {
            old: old.into(),
            new: new.into(),
            compatibility: comparison.compatibility().as_str().to_owned(),
            declared: new.compatibility.as_str().to_owned(),
            undecided: comparison.is_undecided(),
            backward: (&comparison.backward).into(),
            forward: (&comparison.forward).into(),
            changes: changes.collect(),
        }
    }
}

impl From<&CompatOutcome> for CompatibilityView {
    fn from(answer: &CompatOutcome) -> Self {
        let said = |word: &str| Self {
            answer: word.to_owned(),
            witness: None,
            text: None,
            violations: None,
            reason: None,
        };
        match answer {
            CompatOutcome::Yes => said("yes"),
            CompatOutcome::No { witness, reply_text: text, violations: because } => Self {
                witness: Some(witness.clone()),
                text: text.clone(),
                violations: Some(because.iter().map(ToString::to_string).collect()),
                ..said("no")
            },
            CompatOutcome::Unknown { reason } => {
                Self { reason: Some(reason.clone()), ..said("unknown") }
            }
        }
    }
}

/// The form of a contract that a provider accepts, and what only Countersign enforces.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ContractExportView {
    /// The target: `openai`, `anthropic`, `gemini` or `grammar`.
    pub target: String,
    /// The date of the provider's rules that the export follows. Null for a grammar.
    pub as_of: Option<String>,
    /// The JSON Schema. Null if the export is a grammar.
    pub schema: Option<Value>,
    /// The grammar. Null if the export is a schema.
    pub grammar: Option<String>,
    /// Pointers at which null means that the member is absent.
    pub nullable: Vec<String>,
    /// Whether the export refuses something that the contract accepts.
    pub narrows: bool,
    /// The parts of the contract that the export cannot express.
    pub losses: Vec<ExportLossView>,
}

/// A part of a contract that an export cannot express.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExportLossView {
    /// The pointer in the contract's schema.
    pub pointer: String,
    /// The keyword, or `rule:` with the id of a rule, or `limit`.
    pub keyword: String,
    /// The effect on the export: `widened`, `narrowed`, `unstated`, `over limit`.
    pub effect: String,
    /// What is lost, in one sentence.
    pub reason: String,
    /// Who enforces the lost part: `runtime` or `provider`.
    pub enforced_by: String,
}

impl ContractExportView {
    /// Builds the view from an export.
    #[must_use]
    pub fn from_export(exported: &ExportedContract, target: ExportTarget) -> Self {
        let losses = exported.losses.iter().map(|loss| ExportLossView {
            pointer: loss.pointer.clone(),
            keyword: loss.keyword.clone(),
            effect: loss.effect.as_str().to_owned(),
            reason: loss.reason.clone(),
            enforced_by: loss.enforced_by.to_owned(),
        });
        Self {
            target: target.as_str().to_owned(),
            as_of: target.as_of().map(str::to_owned),
            schema: exported.schema().cloned(),
            grammar: exported.grammar().map(str::to_owned),
            nullable: exported.nullable.clone(),
            narrows: exported.is_narrower(),
            losses: losses.collect(),
        }
    }
}
