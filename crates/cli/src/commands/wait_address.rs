//! Resolves `RUN` or `RUN/WAIT` to a wait.

use countersign_run::WaitKind;

use crate::context::CliContext;
use crate::exit::CliError;
use crate::render;

/// Returns the run id and the wait id. If only a run is named, selects its only open wait of these
/// kinds.
pub(super) async fn resolve_wait(
    context: &CliContext,
    named: &str,
    kinds: &[WaitKind],
) -> Result<(String, String), CliError> {
    let (run, wait) = match named.split_once('/') {
        Some((run, wait)) => (run, Some(wait)),
        None => (named, None),
    };
    let run = context.resolve_run(Some(run)).await?;
    if let Some(wait) = wait {
        return Ok((run, wait.to_owned()));
    }
    let state = context.engine.get_run(&run).await?.state;
    let open: Vec<_> = state.waits.values().filter(|wait| kinds.contains(&wait.kind)).collect();
    match &open[..] {
        [one] => Ok((run, one.id.clone())),
        [] => {
            let status = render::format_run_status(&state);
            Err(CliError::Usage(format!("nothing of this kind is waiting. {status}")))
        }
        several => {
            let lines: Vec<String> =
                several.iter().map(|wait| render::format_wait(&run, wait)).collect();
            Err(CliError::Usage(format!(
                "several waits are open; name one of them:\n{}",
                lines.join("\n")
            )))
        }
    }
}
