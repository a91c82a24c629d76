//! Resolves `RUN` or `RUN/WAIT` to a wait.

use countersign_run::{RunWait, WaitKind};
use countersign_store::{StoreError, WaitFilter};

use crate::context::CliContext;
use crate::exit::CliError;
use crate::render;

/// Maximum number of waits that are read to find the only one.
const MAX_LISTED_WAITS: usize = 20;

/// Returns the run id and the wait id. If only a run is named, selects its only open wait of these
/// kinds; if nothing is named, the only one of all runs.
pub(super) async fn resolve_wait(
    context: &CliContext,
    named: Option<&str>,
    kinds: &[WaitKind],
) -> Result<(String, String), CliError> {
    let Some(named) = named else { return find_only_wait(context, kinds).await };
    let (run, wait) = match named.split_once('/') {
        Some((run, wait)) => (run, Some(wait)),
        None => (named, None),
    };
    let run = context.resolve_run(Some(run)).await?;
    if let Some(wait) = wait {
        return Ok((run, wait.to_owned()));
    }
    let state = context.engine.get_run(&run).await?.state;
    let open: Vec<_> = state
        .waits
        .values()
        .filter(|wait| kinds.contains(&wait.kind))
        .map(|wait| (run.clone(), wait.clone()))
        .collect();
    let status =
        || format!("nothing of this kind is waiting. {}", render::format_run_status(&state));
    select_only_wait(&open, status)
}

/// Returns the only open wait of these kinds, in any run.
async fn find_only_wait(
    context: &CliContext,
    kinds: &[WaitKind],
) -> Result<(String, String), CliError> {
    let mut open = Vec::new();
    for kind in kinds {
        let mut filter = WaitFilter::all(context.engine.tenant().clone(), MAX_LISTED_WAITS);
        filter.kind = Some(kind.as_str().to_owned());
        for row in context.engine.store().list_waits(&filter).await? {
            let wait: RunWait = serde_json::from_str(&row.body).map_err(|error| {
                let reason = format!("wait {} of run {}: {error}", row.id, row.run.id);
                CliError::Store(StoreError::Corrupt { reason })
            })?;
            open.push((row.run.id, wait));
        }
    }
    let none = || {
        "nothing of this kind is waiting; `countersign inbox` shows everything that waits"
            .to_owned()
    };
    select_only_wait(&open, none)
}

fn select_only_wait(
    open: &[(String, RunWait)],
    describe_none: impl Fn() -> String,
) -> Result<(String, String), CliError> {
    match open {
        [(run, wait)] => Ok((run.clone(), wait.id.clone())),
        [] => Err(CliError::Usage(describe_none())),
        several => {
            let lines: Vec<String> =
                several.iter().map(|(run, wait)| render::format_wait(run, wait)).collect();
            Err(CliError::Usage(format!(
                "several waits are open; name one of them:\n{}",
                lines.join("\n")
            )))
        }
    }
}

/// Returns whether a text looks like the generated name of a run, such as `k7mw2p`, or like one
/// that a key gave.
pub(super) fn is_like_run_name(text: &str) -> bool {
    let is_generated = text.len() == 6
        && text.bytes().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit())
        && text.bytes().any(|sign| sign.is_ascii_digit());
    is_generated || text.starts_with("key-")
}
