//! The comparison itself: each direction on its own, then the list of changes.

use serde_json::Value;

use super::algebra::{Proof, contained};
use super::answer::{Answer, Comparison};
use super::carriage;
use super::change;
use super::defaults::{fills, seen_by, written_out};
use super::witness::Pool;
use crate::contract::{Contract, Rule};
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
    let changes = change::between(old, new);
    if old.digest == new.digest {
        return Comparison { backward: Answer::Yes, forward: Answer::Yes, changes };
    }
    let pool = Pool::gather(old, new, examples, &changes);
    Comparison { backward: answer(old, new, &pool), forward: answer(new, old, &pool), changes }
}

/// Does `to` take all that `from` takes?
fn answer(from: &Contract, to: &Contract, pool: &Pool) -> Answer {
    let mut doubts = Vec::new();
    let difference = match schemas(from, to) {
        Proof::Contained => None,
        Proof::Open { reason, difference } => {
            doubts.push(reason);
            difference
        }
    };
    doubts.extend(rules(from, to));
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
        match carriage::find(from, to) {
            Some((witness, text, because)) => {
                return Answer::No { witness, text: Some(text), because };
            }
            None => doubts.push("intake or repairs are stricter".to_owned()),
        }
    }
    if doubts.is_empty() { Answer::Yes } else { Answer::Unknown { reason: doubts.join("; ") } }
}

/// The schemas, with defaults taken into account.
fn schemas(from: &Contract, to: &Contract) -> Proof {
    let (inner, outer) = (change::bare(from.schema.source()), change::bare(to.schema.source()));
    if fills(&inner) == fills(&outer) {
        // Both fill in the same, so it is enough to compare what they say of the filled value.
        let proof = contained(&inner, &outer);
        if matches!(proof, Proof::Contained) {
            return proof;
        }
    }
    match (written_out(&inner), written_out(&outer)) {
        (Some(inner), Some(outer)) => contained(&inner, &outer),
        _ => Proof::Open {
            reason: "defaults and conditions meet, and what they mean together cannot be proven"
                .to_owned(),
            difference: None,
        },
    }
}

/// Why the rules might refuse what they let pass before.
fn rules(from: &Contract, to: &Contract) -> Vec<String> {
    let mut doubts = Vec::new();
    for rule in &to.rules {
        match from.rules.iter().find(|other| other.id == rule.id) {
            Some(other) if same(rule, other) => {}
            Some(_) => doubts.push(format!("rule `{}` is another", rule.id)),
            None => doubts.push(format!("rule `{}` is more", rule.id)),
        }
    }
    let (before, after) = (fills(from.schema.source()), fills(to.schema.source()));
    let differs = |place: &&String| before.get(*place) != after.get(*place);
    for place in before.keys().chain(after.keys()).filter(differs) {
        let default = after.get(place).or(before.get(place)).unwrap_or(&Value::Null);
        if let Some(rule) = to.rules.iter().find(|rule| seen_by(rule, place, default)) {
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
