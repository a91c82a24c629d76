//! Rules: what a schema cannot say. Sums, "if and only if", old against new.
//!
//! A rule is put to a value that already satisfies its schema. It answers with violations, never
//! with an error: a rule that cannot be decided refuses, and says why.

use serde_json::Value;

use crate::expr::Expr;
use crate::json::{Pattern, Way};
use crate::reply::{Code, Context, Violation, show};

/// The names an expression of a rule may use.
pub const NAMES: [&str; 5] = ["reply", "state", "run", "new", "item"];

/// How many steps a rule may take over all its items: each has a budget of its own, and a hostile
/// reply has as many items as fit.
const STEPS: usize = 10_000_000;

const REPLY: usize = 0;
const STATE: usize = 1;
const RUN: usize = 2;
const NEW: usize = 3;

/// One rule of a contract.
#[derive(Debug)]
pub struct Rule {
    /// Its id, which is the code of its violations.
    pub id: String,
    /// The values it is put to, each as `item`; without it, the whole reply.
    pub each: Option<Pattern>,
    /// When it applies; without it, always.
    pub when: Option<Expr>,
    /// What must then hold.
    pub then: Expr,
    /// The faulty place: from the root, or from the item.
    pub at: String,
    /// What must hold, in a sentence.
    pub says: String,
}

impl Rule {
    /// Whether the rule asks for something this context does not have.
    #[must_use]
    pub fn lacks(&self, context: &Context<'_>) -> bool {
        let absent = |slot: usize| match slot {
            STATE => context.state.is_none(),
            RUN => context.run.is_none(),
            NEW => context.new.is_none(),
            _ => false,
        };
        let asks =
            |slot| self.then.uses(slot) || self.when.as_ref().is_some_and(|when| when.uses(slot));
        [STATE, RUN, NEW].into_iter().any(|slot| absent(slot) && asks(slot))
    }

    /// Puts the rule to a reply.
    pub fn check(&self, reply: &Value, context: &Context<'_>, into: &mut Vec<Violation>) {
        let mut roots = [Some(reply), context.state, context.run, context.new, None];
        debug_assert!(roots[REPLY].is_some());
        match &self.each {
            None => into.extend(self.ask(&roots, None, reply, &mut 0)),
            Some(pattern) => {
                let (mut spent, mut ended) = (0, false);
                pattern.for_each(reply, &mut |way, item| {
                    if spent < STEPS {
                        roots[NAMES.len() - 1] = Some(item);
                        into.extend(self.ask(&roots, Some(way), reply, &mut spent));
                    } else if !ended {
                        ended = true;
                        into.push(self.ended_early(way));
                    }
                });
            }
        }
    }

    /// There are more items than there is work allowed.
    fn ended_early(&self, way: &Way<'_>) -> Violation {
        let message = format!(
            "rule `{}` could not be decided: over all its items it may take at most {STEPS} steps",
            self.id
        );
        let pointer = format!("{way}{}", self.at);
        Violation::new(Code::Rule(self.id.clone()), pointer, &self.says, "too many items")
            .saying(message)
    }

    fn ask(
        &self,
        roots: &[Option<&Value>; 5],
        way: Option<&Way<'_>>,
        reply: &Value,
        spent: &mut usize,
    ) -> Option<Violation> {
        let applies = self.when.as_ref().map(|when| when.test_counting(roots, spent));
        let verdict = match applies {
            Some(Ok(false)) => return None,
            Some(Err(error)) => Err(error),
            Some(Ok(true)) | None => self.then.test_counting(roots, spent),
        };
        if let Ok(true) = verdict {
            return None;
        }
        let pointer = way.map_or_else(|| self.at.clone(), |way| format!("{way}{}", self.at));
        let found = reply.pointer(&pointer).map_or_else(|| "nothing".to_owned(), show);
        let violation = Violation::new(Code::Rule(self.id.clone()), &pointer, &self.says, found);
        match verdict {
            Ok(_) => {
                let place = if pointer.is_empty() { "the reply" } else { &pointer };
                let message = format!("{place}: {}; found {}", self.says, violation.found);
                Some(violation.saying(message))
            }
            Err(error) => {
                let message = format!("rule `{}` could not be decided: {}", self.id, error.message);
                Some(violation.saying(message))
            }
        }
    }
}
