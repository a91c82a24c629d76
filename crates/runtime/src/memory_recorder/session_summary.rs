//! Updates the summary of a session by rules when one of its runs becomes idle.

use countersign_memory::summarize::{SummaryPolicy, summarize_by_rules};
use countersign_memory::tokens::TiktokenCounter;

use super::{MemoryRecorder, MemoryRecorderError, RunMemoryOrigin};
use crate::engine::Engine;

/// Updates the summary if enough new events were recorded. A summary that a person or a model wrote
/// is left unchanged.
pub(super) async fn update_session_summary(
    engine: &Engine,
    recall: &MemoryRecorder,
    beginning: &RunMemoryOrigin,
) -> Result<(), MemoryRecorderError> {
    let now = engine.clock().now();
    let rolling = SummaryPolicy::default();
    let material = recall.memory().load_summary_input(&beginning.scope, now).await?;
    if !material.is_by_rules() || !rolling.is_due(&material) {
        return Ok(());
    }
    if let Some(summary) =
        summarize_by_rules(&material, rolling.max_tokens, &TiktokenCounter::o200k(), now)
    {
        recall.memory().write_summary(&beginning.scope, summary).await?;
    }
    Ok(())
}
