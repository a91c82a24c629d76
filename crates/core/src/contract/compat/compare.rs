//! The comparison itself: each direction on its own, then the list of changes.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::algebra::{Proof, SchemaSet, contained};
use super::answer::{Answer, Comparison};
use super::carriage;
use super::change;
use super::defaults::{fills, seen_by, written_out};
use super::witness::Pool;
use crate::contract::{Contract, Rule, WorkBudget};
use crate::reply::Context;

/// Compares two versions of a contract.
///
/// ```
/// use countersign_core::contract::{Answer, Compatibility, compare, load_inline};
///
/// let version = |schema: &str| load_inline(&format!("id: verdict\nversion: 1.0.0\nschema: {schema}")).unwrap();
/// let old = version("{ type: object, properties: { score: { type: integer, maximum: 100 } } }");
/// let new = version("{ type: object, properties: { score: { type: integer, maximum: 10 } } }");
///
/// let comparison = compare(&old, &new);
/// assert_eq!(comparison.compatibility(), Compatibility::Forward);
/// let Answer::No { witness, because, .. } = comparison.backward else { panic!() };
/// assert_eq!(witness["score"], 11);
/// assert_eq!(because, ["/score: expected at most 10, found 11 [maximum]"]);
/// ```
#[must_use]
pub fn compare(old: &Contract, new: &Contract) -> Comparison {
    compare_with(old, new, &[])
}

/// Compares two versions of a contract, with values at hand that one of them took: replies of the
/// past, examples of the documentation. Rules are often too narrow for made-up values; these pass them.
#[must_use]
pub fn compare_with(old: &Contract, new: &Contract, examples: &[Value]) -> Comparison {
    compare_within(old, new, examples, &WorkBudget::default())
}

/// The same as far as a budget lasts. What is not decided by then stays undecided.
#[must_use]
pub fn compare_within(
    old: &Contract,
    new: &Contract,
    examples: &[Value],
    budget: &WorkBudget<'_>,
) -> Comparison {
    let changes = change::between(old, new);
    if old.digest == new.digest {
        return Comparison { backward: Answer::Yes, forward: Answer::Yes, changes };
    }
    let (before, after) = (Side::new(old, budget), Side::new(new, budget));
    let pool = Pool::gather(old, new, examples, &changes, budget);
    let backward = answer(&before, &after, &pool);
    let forward = answer(&after, &before, &pool);
    Comparison { backward, forward, changes }
}

/// One of the two contracts, with what the comparison needs of it.
struct Side<'a> {
    contract: &'a Contract,
    budget: &'a WorkBudget<'a>,
    /// Without its words.
    bare: SchemaSet,
    /// The defaults by place; none where there are too many.
    fills: Option<BTreeMap<String, Value>>,
    /// What it takes without filling anything in, where that can be written.
    written_out: OnceCell<Option<SchemaSet>>,
}

impl<'a> Side<'a> {
    fn new(contract: &'a Contract, budget: &'a WorkBudget<'a>) -> Self {
        let bare = change::bare(contract.schema.source());
        let fills = fills(&bare, budget);
        let written_out = OnceCell::new();
        Self { contract, budget, bare: SchemaSet::new(bare), fills, written_out }
    }

    fn written_out(&self) -> Option<&SchemaSet> {
        let write = || written_out(&self.bare.schema, self.budget).map(SchemaSet::new);
        self.written_out.get_or_init(write).as_ref()
    }
}

/// Does `to` take all that `from` takes?
fn answer(from: &Side<'_>, to: &Side<'_>, pool: &Pool<'_>) -> Answer {
    let mut doubts = Vec::new();
    let difference = match schemas(from, to) {
        Proof::Contained => None,
        Proof::Open { reason, difference } => {
            doubts.push(reason);
            difference
        }
    };
    doubts.extend(rules(from, to));
    let (from, to, budget) = (from.contract, to.contract, from.budget);
    // The contracts themselves have the last word, whatever was proven.
    let found = if doubts.is_empty() {
        pool.refute(from, to)
    } else {
        pool.find(from, to, difference.as_ref())
    };
    if let Some(value) = found {
        let refusal = to.admit_value(&value, &Context::default());
        let because = refusal.violations().iter().map(ToString::to_string).collect();
        return Answer::No { witness: value, text: None, because };
    }
    if carriage::stricter(from, to) {
        match carriage::find(from, to, budget) {
            Some((witness, text, because)) => {
                return Answer::No { witness, text: Some(text), because };
            }
            None => doubts.push("intake or repairs are stricter".to_owned()),
        }
    }
    if doubts.is_empty() {
        return Answer::Yes;
    }
    if budget.is_exhausted() {
        doubts.push(budget.reason().to_owned());
    }
    Answer::Unknown { reason: doubts.join("; ") }
}

/// The schemas, with defaults taken into account.
fn schemas(from: &Side<'_>, to: &Side<'_>) -> Proof {
    let open = |reason: &str| Proof::Open { reason: reason.to_owned(), difference: None };
    if from.budget.is_exhausted() {
        return open("the schemas were not compared as sets");
    }
    let (Some(before), Some(after)) = (&from.fills, &to.fills) else {
        return open("the defaults have too many places to be compared");
    };
    if before == after {
        // Both fill in the same, so it is enough to compare what they say of the filled value.
        let proof = contained(&from.bare, &to.bare);
        if matches!(proof, Proof::Contained) {
            return proof;
        }
    }
    match (from.written_out(), to.written_out()) {
        (Some(inner), Some(outer)) => contained(inner, outer),
        _ => open("defaults and conditions meet, and what they mean together cannot be proven"),
    }
}

/// Why the rules might refuse what they let pass before.
fn rules(from: &Side<'_>, to: &Side<'_>) -> Vec<String> {
    let mut doubts = Vec::new();
    for rule in &to.contract.rules {
        match from.contract.rules.iter().find(|other| other.id == rule.id) {
            Some(other) if same(rule, other) => {}
            Some(_) => doubts.push(format!("rule `{}` is another", rule.id)),
            None => doubts.push(format!("rule `{}` is more", rule.id)),
        }
    }
    let (Some(before), Some(after)) = (&from.fills, &to.fills) else { return doubts };
    let differs = |place: &&String| before.get(*place) != after.get(*place);
    for place in before.keys().chain(after.keys()).filter(differs) {
        if !from.budget.spend(1 + (to.contract.rules.len() * place.len()) as u64) {
            doubts.push("rules may read defaults that differ".to_owned());
            break;
        }
        let default = after.get(place).or(before.get(place)).unwrap_or(&Value::Null);
        if let Some(rule) = to.contract.rules.iter().find(|rule| seen_by(rule, place, default)) {
            doubts
                .push(format!("rule `{}` may read the default at {place}, which differs", rule.id));
        }
    }
    doubts
}

/// Whether two rules decide alike. Where they point and what they say decides nothing.
pub(super) fn same(one: &Rule, two: &Rule) -> bool {
    let when = |rule: &Rule| rule.when.as_ref().map(|when| when.source().to_owned());
    one.each == two.each && when(one) == when(two) && one.then.source() == two.then.source()
}
