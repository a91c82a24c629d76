//! Identifies the other process that drives a run.

use countersign_runtime::driver::IdleReason;

use crate::context::CliContext;
use crate::exit::CliError;

/// Describes who drives a run, or the child it waits for; `None` if no process holds a lease.
pub(super) async fn describe_lease_holder(
    context: &CliContext,
    run: &str,
    rest: &IdleReason,
) -> Result<Option<String>, CliError> {
    let (id, what) = match rest {
        IdleReason::LeasedElsewhere => (run, format!("run {run}")),
        IdleReason::WaitingForChild(child) => {
            (child.as_str(), format!("run {child}, which this run waits for"))
        }
        _ => return Ok(None),
    };
    let head = context.engine.store().load_head(&context.engine.run_id(id)).await?;
    let now = context.engine.clock().now().0;
    let lease = head.and_then(|head| head.lease).filter(|lease| lease.until > now);
    Ok(lease.map(|lease| format!("worker {} is working on {what}", lease.worker)))
}
