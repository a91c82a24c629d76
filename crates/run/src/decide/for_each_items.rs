//! The items of a phase with `for_each`: evaluates the list, and reports the items that failed for
//! good.

use countersign_contract::reply::format_value;
use countersign_protocol::{FailurePolicy, ForEachItems};
use serde_json::Value;

use super::run_decision::RunDecision;
use crate::state::Continuation;

/// Maximum number of failed items that a message describes; the others are counted.
const MAX_DESCRIBED_ITEMS: usize = 3;

impl RunDecision<'_> {
    /// Evaluates the list of items against the current document; at most `MAX_ITEMS`.
    pub(super) fn evaluate_items(&self, each: &ForEachItems) -> Result<Vec<Value>, String> {
        let run = self.run_value();
        let source = each.items.source().trim();
        let roots = [Some(&*self.state.document), Some(&run)];
        let value = each.items.eval(&roots).map_err(|error| error.message)?.to_json();
        match value {
            Some(Value::Array(items)) if items.len() <= ForEachItems::MAX_ITEMS => Ok(items),
            Some(Value::Array(items)) => Err(format!(
                "`{source}` has {} items; the limit is {}",
                items.len(),
                ForEachItems::MAX_ITEMS
            )),
            Some(other) => Err(format!("`{source}` is {}, not a list", format_value(&other))),
            None => Err(format!("`{source}` is undefined, not a list")),
        }
    }

    /// Reports an incident after every item has ended and some failed. `next` retries the failed
    /// ones.
    pub(super) fn report_failed_items(&mut self, next: Continuation) -> Option<Continuation> {
        let lost = &self.state.item_progress.failed;
        let descriptions: Vec<&str> =
            lost.iter().take(MAX_DESCRIBED_ITEMS).map(|one| one.message.as_str()).collect();
        let more = lost.len().saturating_sub(MAX_DESCRIBED_ITEMS);
        let more = if more > 0 { format!(". And {more} more") } else { String::new() };
        let message = format!("{}{more}", descriptions.join(". "));
        self.apply_failure_policy(&FailurePolicy::Wait, message, next)
    }
}
