//! The summary of a session is rolled forward when one of its runs comes to rest, by rules.

use countersign_memory::summarize::{Rolling, rolled};
use countersign_memory::tokens::TiktokenCounter;

use super::{Beginning, Recall, RecallError};
use crate::engine::Engine;

/// Rolls the summary forward where enough was said since. One that a person or a model wrote stays as it is.
pub(super) async fn roll(
    engine: &Engine,
    recall: &Recall,
    beginning: &Beginning,
) -> Result<(), RecallError> {
    let now = engine.clock().now();
    let rolling = Rolling::default();
    let material = recall.memory().material(&beginning.scope, now).await?;
    if !material.is_by_rules() || !rolling.is_due(&material) {
        return Ok(());
    }
    if let Some(summary) = rolled(&material, rolling.tokens, &TiktokenCounter::o200k(), now) {
        recall.memory().write_summary(&beginning.scope, summary).await?;
    }
    Ok(())
}
