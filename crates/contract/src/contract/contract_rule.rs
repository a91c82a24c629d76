//! Rules: conditions that a schema cannot express, such as sums, "if and only if", and comparisons
//! of old and new values.
//!
//! A rule is evaluated on a value that already satisfies the schema. Its result is a list of
//! violations, never an error: a rule that cannot be decided refuses the value and says why.

use serde_json::Value;

use crate::expr::Expr;
use crate::json::{JsonPointerPattern, JsonValuePath};
use crate::reply::{RuleContext, Violation, ViolationCode, ViolationList, format_value};

/// The variables that a rule expression may use. `item` exists only in rules with `each`.
pub const RULE_VARIABLES: [&str; 5] = ["reply", "state", "run", "new", "item"];

/// The maximum number of steps of one rule over all its items. Each evaluation has its own budget,
/// but a hostile reply can have as many items as fit into it.
const MAX_RULE_STEPS: usize = 10_000_000;

const STATE: usize = 1;
const RUN: usize = 2;
const NEW: usize = 3;
const ITEM: usize = 4;

/// One rule of a contract.
#[derive(Debug)]
pub struct ContractRule {
    /// The id, which is also the code of the rule's violations.
    pub id: String,
    /// The values that the rule is evaluated on, each as `item`; if absent, the rule is evaluated
    /// once on the whole reply.
    pub each: Option<JsonPointerPattern>,
    /// The condition under which the rule applies; if absent, it always applies.
    pub when: Option<Expr>,
    /// The condition that must hold if the rule applies.
    pub then: Expr,
    /// The pointer that violations report: relative to the item if the rule has `each`, otherwise
    /// to the root.
    pub at: String,
    /// The requirement as a sentence, which violations show.
    pub says: String,
}

impl ContractRule {
    /// Returns whether the rule reads a value that this context lacks.
    #[must_use]
    pub fn lacks_context(&self, context: &RuleContext<'_>) -> bool {
        let absent = |slot: usize| match slot {
            STATE => context.state.is_none(),
            RUN => context.run.is_none(),
            NEW => context.new.is_none(),
            _ => false,
        };
        let asks = |slot| {
            self.then.uses_root(slot) || self.when.as_ref().is_some_and(|when| when.uses_root(slot))
        };
        [STATE, RUN, NEW].into_iter().any(|slot| absent(slot) && asks(slot))
    }

    /// Evaluates the rule on a reply and adds its violations to `into`.
    pub fn check(&self, reply: &Value, context: &RuleContext<'_>, into: &mut ViolationList) {
        tracing::trace!(rule = self.id, "evaluating a rule");
        let mut roots = [Some(reply), context.state, context.run, context.new, None];
        match &self.each {
            None => self.evaluate(&roots, None, self.when.as_ref(), reply, &mut 0, into),
            Some(pattern) => {
                let (mut spent, mut ended) = (0, false);
                // A condition that does not read the item has the same result for all of them.
                let mut when = self.when.as_ref();
                if let Some(shared) = when.filter(|when| !when.uses_root(ITEM)) {
                    match shared.eval_bool_counting_steps(&roots, &mut spent) {
                        Ok(false) => return,
                        Ok(true) => when = None,
                        // Every item reports the error.
                        Err(_) => {}
                    }
                }
                pattern.for_each_match(reply, &mut |path, item| {
                    if spent < MAX_RULE_STEPS {
                        roots[ITEM] = Some(item);
                        self.evaluate(&roots, Some(path), when, reply, &mut spent, into);
                    } else if !ended {
                        ended = true;
                        into.push(self.describe_step_limit(path));
                    }
                });
            }
        }
    }

    /// Describes a rule that has more items than its step limit allows.
    fn describe_step_limit(&self, path: &JsonValuePath<'_>) -> Violation {
        let message = format!(
            "rule `{}` could not be evaluated: all its items together may take at most {MAX_RULE_STEPS} steps",
            self.id
        );
        let pointer = format!("{path}{}", self.at);
        Violation::new(ViolationCode::Rule(self.id.clone()), pointer, &self.says, "too many items")
            .with_message(message)
    }

    fn evaluate(
        &self,
        roots: &[Option<&Value>; 5],
        path: Option<&JsonValuePath<'_>>,
        when: Option<&Expr>,
        reply: &Value,
        spent: &mut usize,
        into: &mut ViolationList,
    ) {
        let applies = when.map(|when| when.eval_bool_counting_steps(roots, spent));
        let verdict = match applies {
            Some(Ok(false)) => return,
            Some(Err(error)) => Err(error),
            Some(Ok(true)) | None => self.then.eval_bool_counting_steps(roots, spent),
        };
        if let Ok(true) = verdict {
            return;
        }
        if into.is_full() {
            into.count_more(1);
            return;
        }
        let pointer = path.map_or_else(|| self.at.clone(), |path| format!("{path}{}", self.at));
        let found = reply.pointer(&pointer).map_or_else(|| "nothing".to_owned(), format_value);
        let violation =
            Violation::new(ViolationCode::Rule(self.id.clone()), &pointer, &self.says, found);
        match verdict {
            Ok(_) => {
                let location = if pointer.is_empty() { "the reply" } else { &pointer };
                let message = format!("{location}: {}; found {}", self.says, violation.found);
                into.push(violation.with_message(message));
            }
            Err(error) => {
                let message =
                    format!("rule `{}` could not be evaluated: {}", self.id, error.message);
                into.push(violation.with_message(message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::load_inline_contract;
    use crate::reply::RuleContext;
    use serde_json::{Value, json};

    #[expect(clippy::needless_pass_by_value, reason = "a case reads better without ampersands")]
    #[track_caller]
    fn check(rule: &str, reply: Value, state: Option<Value>, expected: &[&str]) {
        let contract = load_inline_contract(&format!(
            "id: r\nversion: 1.0.0\nschema: true\nrules: [{{ {rule} }}]"
        ))
        .unwrap();
        let context = RuleContext { state: state.as_ref(), ..RuleContext::default() };
        let verdict = contract.admit_value(&reply, &context);
        let shown: Vec<String> = verdict.violations().iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn it_holds_or_says_what_must_hold_and_where() {
        let rule =
            "id: sum, then: reply.a + reply.b === reply.total, at: /total, says: the parts add up";
        check(rule, json!({"a": 1, "b": 2, "total": 3}), None, &[]);
        check(
            rule,
            json!({"a": 1, "b": 2, "total": 4}),
            None,
            &["/total: the parts add up; found 4 [rule:sum]"],
        );
        let guarded = "id: sum, when: reply.total > 10, then: 'false', says: never";
        check(guarded, json!({"total": 4}), None, &[]);
    }

    #[test]
    fn each_item_is_asked_and_named() {
        check(
            "id: filled, each: /list/*/words, then: item.trim() !== '', at: '', says: words are said",
            json!({"list": [{"words": "a"}, {"words": " "}, {}, {"words": ""}]}),
            None,
            &[
                "/list/1/words: words are said; found \" \" [rule:filled]",
                "/list/3/words: words are said; found \"\" [rule:filled]",
            ],
        );
    }

    #[test]
    fn what_cannot_be_decided_refuses() {
        check(
            "id: deep, then: reply.a.b === 1, at: /a, says: b is one",
            json!({}),
            None,
            &[
                "rule `deep` could not be evaluated: `reply.a` is undefined, so `b` cannot be read from it [rule:deep]",
            ],
        );
        check(
            "id: number, then: reply.a, at: /a, says: a holds",
            json!({"a": 1}),
            None,
            &[
                "rule `number` could not be evaluated: expected true or false, found the number 1 [rule:number]",
            ],
        );
    }

    #[test]
    fn a_rule_about_the_state_waits_for_one() {
        let rule = "id: grows, then: reply.n > state.n, at: /n, says: n grows";
        check(rule, json!({"n": 1}), None, &[]);
        check(rule, json!({"n": 1}), Some(json!({"n": 0})), &[]);
        check(rule, json!({"n": 1}), Some(json!({"n": 1})), &["/n: n grows; found 1 [rule:grows]"]);
        let contract = load_inline_contract(&format!(
            "id: r\nversion: 1.0.0\nschema: true\nrules: [{{ {rule} }}]"
        ))
        .unwrap();
        assert_eq!(contract.list_unchecked_rules(&RuleContext::default()), ["grows"]);
    }
}
