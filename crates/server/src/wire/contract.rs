//! Contracts as they are sent: one line, the whole, the difference of two, and what a provider can take.

use countersign_core::contract::{
    self, CompatOutcome, Contract, ContractRule, ExportTarget, ExportedContract,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A contract in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContractRow {
    /// Its id.
    #[schema(example = "guardian_report")]
    pub id: String,
    /// Its version.
    pub version: String,
    /// What it is, in a line.
    pub title: String,
    /// What may stand around the object: `strict`, `fenced`, `tolerant`.
    pub intake: String,
    /// Which repairs may be made: `none`, `lossless`, `syntactic`, `guess`.
    pub repairs: String,
    /// How many rules it has.
    pub rules: usize,
    /// How it goes on from the version before: `full`, `backward`, `forward`, `none`.
    pub compatibility: String,
    /// What changed.
    pub migration_notes: String,
    /// The digest of what decides.
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
    /// Its id.
    #[schema(example = "guardian_report")]
    pub id: String,
    /// Its version.
    pub version: String,
    /// What it is, in a line.
    pub title: String,
    /// What may stand around the object.
    pub intake: String,
    /// Which repairs may be made.
    pub repairs: String,
    /// What must hold beyond the schema.
    pub rules: Vec<RuleView>,
    /// How it goes on from the version before.
    pub compatibility: String,
    /// What changed.
    pub migration_notes: String,
    /// The digest of what decides.
    pub digest: String,
    /// What it is for.
    pub description: String,
    /// What happens to a reply that is refused.
    pub on_violation: OnViolationView,
    /// The JSON Schema.
    pub schema: Value,
}

/// What happens to a reply that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OnViolationView {
    /// How often the model is asked again.
    pub reask: u32,
    /// What happens then.
    pub then: String,
}

/// Something that must hold beyond the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RuleView {
    /// Its id.
    pub id: String,
    /// The places it is asked at, one by one.
    pub each: Option<String>,
    /// When it is asked.
    pub when: Option<String>,
    /// What must hold.
    pub then: String,
    /// The place it points at.
    pub at: String,
    /// What it says to whoever broke it.
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

/// A contract by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContractRef {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its digest.
    pub digest: String,
}

impl From<&Contract> for ContractRef {
    fn from(contract: &Contract) -> Self {
        let Contract { id, version, digest, .. } = contract;
        Self { id: id.clone(), version: version.clone(), digest: digest.clone() }
    }
}

/// Whether a new version of a contract is compatible.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ContractDiffView {
    /// The contract before.
    pub old: ContractRef,
    /// The contract after.
    pub new: ContractRef,
    /// What was found: `full`, `backward`, `forward`, `none`.
    pub compatibility: String,
    /// What the new file declares.
    pub declared: String,
    /// Whether something could not be decided.
    pub undecided: bool,
    /// Does the new one take all that the old one took?
    pub backward: CompatibilityView,
    /// Does the old one take all that the new one takes?
    pub forward: CompatibilityView,
    /// What changed, by place.
    pub changes: Vec<SchemaChangeView>,
}

/// The answer to one of the two questions. Members that do not belong to it are null.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CompatibilityView {
    /// `yes`, `no` or `unknown`.
    pub answer: String,
    /// A value that one takes and the other refuses.
    pub witness: Option<Value>,
    /// The text it must be sent as, where the value alone does not show it.
    pub text: Option<String>,
    /// What it is refused for.
    pub because: Option<Vec<String>>,
    /// Why it could not be decided.
    pub reason: Option<String>,
}

/// One change between two contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SchemaChangeView {
    /// The place in the values; `*` stands for every item.
    pub pointer: String,
    /// What kind of change.
    pub kind: String,
    /// The change in a sentence.
    pub says: String,
}

impl ContractDiffView {
    /// What a comparison of two contracts came to.
    #[must_use]
    pub fn from_comparison(
        old: &Contract,
        new: &Contract,
        comparison: &contract::ContractComparison,
    ) -> Self {
        let changes = comparison.changes.iter().map(|change| SchemaChangeView {
            pointer: change.pointer.clone(),
            kind: change.kind.as_str().to_owned(),
            says: change.says.clone(),
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
            because: None,
            reason: None,
        };
        match answer {
            CompatOutcome::Yes => said("yes"),
            CompatOutcome::No { witness, reply_text: text, because } => Self {
                witness: Some(witness.clone()),
                text: text.clone(),
                because: Some(because.iter().map(ToString::to_string).collect()),
                ..said("no")
            },
            CompatOutcome::Unknown { reason } => {
                Self { reason: Some(reason.clone()), ..said("unknown") }
            }
        }
    }
}

/// What a provider can take of a contract, and what only Countersign still enforces.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ContractExportView {
    /// `openai`, `anthropic`, `gemini` or `grammar`.
    pub target: String,
    /// The day of the provider's rules that it follows.
    pub as_of: Option<String>,
    /// The schema; null where it is a grammar.
    pub schema: Option<Value>,
    /// The grammar; null where it is a schema.
    pub grammar: Option<String>,
    /// Places where null means that the field is absent.
    pub nullable: Vec<String>,
    /// Whether it refuses something that the contract takes.
    pub narrows: bool,
    /// What it cannot say.
    pub losses: Vec<ExportLossView>,
}

/// Something that an export cannot say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExportLossView {
    /// The place in the contract's schema.
    pub pointer: String,
    /// The keyword, or `rule:` and its id, or `limit`.
    pub keyword: String,
    /// What that does to the export.
    pub effect: String,
    /// What is lost.
    pub reason: String,
    /// Who still enforces it.
    pub enforced_by: String,
}

impl ContractExportView {
    /// What an export came to.
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
