//! The items of a phase that does the same for each of several: which they are, and what follows when some
//! of them failed for good.

use serde_json::Value;

use super::deciding::Deciding;
use crate::protocol::{Each, Otherwise};
use crate::reply::show;
use crate::run::state::Next;

/// How many of several sentences are told.
const TOLD: usize = 3;

impl Deciding<'_> {
    /// The items that there are now.
    pub(super) fn items(&self, each: &Each) -> Result<Vec<Value>, String> {
        let run = self.run();
        let source = each.items.source().trim();
        let roots = [Some(&*self.state.document), Some(&run)];
        let value = each.items.eval(&roots).map_err(|error| error.message)?.to_json();
        match value {
            Some(Value::Array(items)) if items.len() <= Each::MOST => Ok(items),
            Some(Value::Array(items)) => Err(format!(
                "`{source}` gives {} items; at most {} are taken",
                items.len(),
                Each::MOST
            )),
            Some(other) => Err(format!("`{source}` gives {}, and no list", show(&other))),
            None => Err(format!("`{source}` is undefined, and no list")),
        }
    }

    /// Every item has ended, some of them badly: a person must look. `next` tries those again.
    pub(super) fn tell_lost(&mut self, next: Next) {
        let lost = &self.state.round.lost;
        let told: Vec<&str> = lost.iter().take(TOLD).map(|one| one.what.as_str()).collect();
        let more = lost.len().saturating_sub(TOLD);
        let more = if more > 0 { format!(". And {more} more") } else { String::new() };
        let what = format!("{}{more}", told.join(". "));
        self.otherwise(&Otherwise::Wait, what, next);
    }
}
