//! What a run made: what stands at the places that its workflow calls its output, once it is completed.
//!
//! Which places these are is the protocol's to say; nothing here knows what they hold.

use countersign_core::run::RunEndKind;
use countersign_runtime::engine::{Engine, EngineError};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::list_child_runs;

/// One thing that a run made.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunOutputView {
    /// The run that made it: the one that was asked for, or a child that it left this to.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The place in that run's document.
    #[schema(example = "/text")]
    pub at: String,
    /// What stands there.
    pub value: Value,
}

/// What a run made. One whose workflow names no output hands on what its children made.
pub async fn collect_outputs(
    engine: &Engine,
    run: &str,
) -> Result<Vec<RunOutputView>, EngineError> {
    let (mut made, mut asked) = (Vec::new(), vec![run.to_owned()]);
    while let Some(run) = asked.pop() {
        let outcome = engine.get_run(&run).await?;
        let state = outcome.state;
        let completed = matches!(state.end, Some((RunEndKind::Completed, _)));
        let Some(workflow) = outcome.protocol.workflows.get(&state.workflow).filter(|_| completed)
        else {
            continue;
        };
        if workflow.output.is_empty() {
            let children = list_child_runs(&run, &engine.read_log(&run).await?).into_iter();
            let done = children.filter(|(_, end)| *end == Some(true)).map(|(child, _)| child);
            asked.extend(done.rev());
        }
        made.extend(workflow.select_output(&state.document).map(|(at, value)| RunOutputView {
            run: run.clone(),
            at: at.to_owned(),
            value: value.clone(),
        }));
    }
    Ok(made)
}
