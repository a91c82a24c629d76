//! The comparison itself: each direction separately, then the list of changes.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use countersign_contract::contract::{Contract, ContractRule};
use countersign_contract::reply::RuleContext;
use serde_json::Value;

use super::comparison::{CompatOutcome, ContractComparison};
use super::contract_change;
use super::default_rewriter::{collect_defaults, may_rule_read, rewrite_without_defaults};
use super::schema_set::{ContainmentProof, SchemaSet, prove_containment};
use super::text_witness;
use super::witness_pool::WitnessPool;
use crate::WorkBudget;

/// Compares two versions of a contract.
///
/// ```
/// use countersign_contract::contract::{CompatibilityLevel, load_inline_contract};
/// use countersign_schema_tools::{CompatOutcome, compare};
///
/// let version = |schema: &str| {
///     load_inline_contract(&format!("id: verdict\nversion: 1.0.0\nschema: {schema}")).unwrap()
/// };
/// let old = version("{ type: object, properties: { score: { type: integer, maximum: 100 } } }");
/// let new = version("{ type: object, properties: { score: { type: integer, maximum: 10 } } }");
///
/// let comparison = compare(&old, &new);
/// assert_eq!(comparison.compatibility(), CompatibilityLevel::Forward);
/// let CompatOutcome::No { witness, violations, .. } = comparison.backward else { panic!() };
/// assert_eq!(witness["score"], 11);
/// assert_eq!(violations, ["/score: expected at most 10, found 11 [maximum]"]);
/// ```
#[must_use]
pub fn compare(old: &Contract, new: &Contract) -> ContractComparison {
    compare_with(old, new, &[])
}

/// Like [`compare`], with example values that one of the versions accepts, such as earlier replies
/// or documentation examples. Rules are often too narrow for generated values; examples satisfy
/// them.
#[must_use]
pub fn compare_with(old: &Contract, new: &Contract, examples: &[Value]) -> ContractComparison {
    compare_within(old, new, examples, &WorkBudget::default())
}

/// Like [`compare_with`], within a budget. A direction that is not decided when the budget ends
/// stays undecided.
#[must_use]
pub fn compare_within(
    old: &Contract,
    new: &Contract,
    examples: &[Value],
    budget: &WorkBudget<'_>,
) -> ContractComparison {
    let changes = contract_change::list_changes(old, new);
    if old.digest == new.digest {
        return ContractComparison {
            backward: CompatOutcome::Yes,
            forward: CompatOutcome::Yes,
            changes,
        };
    }
    let (before, after) = (ComparedContract::new(old, budget), ComparedContract::new(new, budget));
    let pool = WitnessPool::from_contracts(old, new, examples, &changes, budget);
    let backward = compare_direction(&before, &after, &pool);
    let forward = compare_direction(&after, &before, &pool);
    ContractComparison { backward, forward, changes }
}

/// One of the two contracts, with the data that the comparison needs.
struct ComparedContract<'a> {
    contract: &'a Contract,
    budget: &'a WorkBudget<'a>,
    /// The schema without annotations.
    schema_set: SchemaSet,
    /// The defaults by pointer; `None` if there are too many.
    defaults: Option<BTreeMap<String, Value>>,
    /// The equivalent schema without defaults, if it can be expressed; computed on first use.
    schema_without_defaults: OnceCell<Option<SchemaSet>>,
}

impl<'a> ComparedContract<'a> {
    fn new(contract: &'a Contract, budget: &'a WorkBudget<'a>) -> Self {
        let bare = contract_change::strip_annotations(contract.schema.source());
        let defaults = collect_defaults(&bare, budget);
        let schema_without_defaults = OnceCell::new();
        Self {
            contract,
            budget,
            schema_set: SchemaSet::new(bare),
            defaults,
            schema_without_defaults,
        }
    }

    fn schema_without_defaults(&self) -> Option<&SchemaSet> {
        let write =
            || rewrite_without_defaults(&self.schema_set.schema, self.budget).map(SchemaSet::new);
        self.schema_without_defaults.get_or_init(write).as_ref()
    }
}

/// Returns whether `to` accepts everything that `from` accepts.
fn compare_direction(
    from: &ComparedContract<'_>,
    to: &ComparedContract<'_>,
    pool: &WitnessPool<'_>,
) -> CompatOutcome {
    let mut doubts = Vec::new();
    let difference = match compare_schemas(from, to) {
        ContainmentProof::Contained => None,
        ContainmentProof::Unproven { reason, difference } => {
            doubts.push(reason);
            difference
        }
    };
    doubts.extend(compare_rules(from, to));
    let (from, to, budget) = (from.contract, to.contract, from.budget);
    // The contracts themselves decide, even against a proof.
    let found = if doubts.is_empty() {
        pool.find_refutation(from, to)
    } else {
        pool.find_witness(from, to, difference.as_ref())
    };
    if let Some(value) = found {
        let refusal = to.admit_value(&value, &RuleContext::default());
        let violations = refusal.violations().iter().map(ToString::to_string).collect();
        return CompatOutcome::No { witness: value, reply_text: None, violations };
    }
    if text_witness::is_stricter(from, to) {
        match text_witness::find_text_witness(from, to, budget) {
            Some((witness, text, violations)) => {
                return CompatOutcome::No { witness, reply_text: Some(text), violations };
            }
            None => doubts.push("intake or repairs are stricter".to_owned()),
        }
    }
    if doubts.is_empty() {
        return CompatOutcome::Yes;
    }
    if budget.is_exhausted() {
        doubts.push(budget.stop_reason().to_owned());
    }
    CompatOutcome::Unknown { reason: doubts.join("; ") }
}

/// Compares the schemas, taking defaults into account.
fn compare_schemas(from: &ComparedContract<'_>, to: &ComparedContract<'_>) -> ContainmentProof {
    let open =
        |reason: &str| ContainmentProof::Unproven { reason: reason.to_owned(), difference: None };
    if from.budget.is_exhausted() {
        return open("the schemas were not compared as sets");
    }
    let (Some(before), Some(after)) = (&from.defaults, &to.defaults) else {
        return open("there are too many defaults to compare");
    };
    if before == after {
        // Both fill in the same defaults, so it is enough to compare the schemas of the filled
        // value.
        let proof = prove_containment(&from.schema_set, &to.schema_set);
        if matches!(proof, ContainmentProof::Contained) {
            return proof;
        }
    }
    match (from.schema_without_defaults(), to.schema_without_defaults()) {
        (Some(inner), Some(outer)) => prove_containment(inner, outer),
        _ => open("defaults and conditions interact, and their combined effect cannot be proven"),
    }
}

/// Returns the reasons why the rules of `to` might refuse what the rules of `from` accept.
fn compare_rules(from: &ComparedContract<'_>, to: &ComparedContract<'_>) -> Vec<String> {
    let mut doubts = Vec::new();
    for rule in &to.contract.rules {
        match from.contract.rules.iter().find(|other| other.id == rule.id) {
            Some(other) if is_same_rule(rule, other) => {}
            Some(_) => doubts.push(format!("rule `{}` was changed", rule.id)),
            None => doubts.push(format!("rule `{}` was added", rule.id)),
        }
    }
    let (Some(before), Some(after)) = (&from.defaults, &to.defaults) else { return doubts };
    let differs = |pointer: &&String| before.get(*pointer) != after.get(*pointer);
    for pointer in before.keys().chain(after.keys()).filter(differs) {
        if !from.budget.spend(1 + (to.contract.rules.len() * pointer.len()) as u64) {
            doubts.push("rules may read defaults that differ".to_owned());
            break;
        }
        let default = after.get(pointer).or(before.get(pointer)).unwrap_or(&Value::Null);
        if let Some(rule) =
            to.contract.rules.iter().find(|rule| may_rule_read(rule, pointer, default))
        {
            doubts.push(format!(
                "rule `{}` may read the default at {pointer}, which differs",
                rule.id
            ));
        }
    }
    doubts
}

/// Returns whether two rules decide alike. Their pointers and messages do not matter.
pub(super) fn is_same_rule(one: &ContractRule, two: &ContractRule) -> bool {
    let when = |rule: &ContractRule| rule.when.as_ref().map(|when| when.source().to_owned());
    one.each == two.each && when(one) == when(two) && one.then.source() == two.then.source()
}
