//! Compares the tools of a server with those that the last run of the same protocol pinned.

use countersign_run::{McpToolChanges, McpToolDefinition};
use countersign_store::RunFilter;
use tracing::debug;

use crate::engine::{Engine, LiveRun};

/// How many earlier runs of the workflow are searched for one that pinned tools of the server.
const MAX_EARLIER_RUNS: usize = 20;

/// Compares tools with those that the newest earlier run of the protocol pinned; `None` if they are
/// the same, or there is no such run. A store that does not answer does not stop the run: the
/// comparison is information, and the tools of this run are pinned anyway.
pub(crate) async fn find_tool_changes(
    engine: &Engine,
    live: &LiveRun,
    server: &str,
    tools: &[McpToolDefinition],
) -> Option<McpToolChanges> {
    let state = &live.state;
    let tenant = engine.run_id(&state.run).tenant;
    let filter = RunFilter {
        workflow: Some(state.workflow.clone()),
        ..RunFilter::newest(tenant, MAX_EARLIER_RUNS + 1)
    };
    let heads = engine.store().list_runs(&filter).await.unwrap_or_default();
    for head in heads.into_iter().filter(|head| head.run.id != state.run) {
        let Ok(earlier) = engine.load_version(&head.run.id, None).await else {
            debug!(run = head.run.id, "an earlier run cannot be read");
            continue;
        };
        if earlier.protocol.name != live.protocol.name {
            continue;
        }
        if let Some(pinned) = earlier.state.mcp_tools.get(server) {
            return McpToolChanges::compare(&earlier.state.run, &pinned.tools, tools);
        }
    }
    None
}
