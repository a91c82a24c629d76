//! The output of a completed run: the values at the pointers that its workflow declares as output.
//!
//! The protocol declares the pointers; this code knows nothing about the values.

use countersign_run::RunEndKind;
use countersign_runtime::engine::{Engine, EngineError};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::list_child_runs;

/// One output value of a run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunOutputView {
    /// The run that produced the value: the requested run, or one of its children.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The JSON Pointer of the value in that run's document.
    #[schema(example = "/text")]
    pub pointer: String,
    /// The value at the pointer.
    pub value: Value,
}

/// Collects the output of a run. If its workflow declares no output, collects the output of its
/// completed children.
pub async fn collect_outputs(
    engine: &Engine,
    run: &str,
) -> Result<Vec<RunOutputView>, EngineError> {
    let (mut made, mut queue) = (Vec::new(), vec![run.to_owned()]);
    while let Some(run) = queue.pop() {
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
            queue.extend(done.rev());
        }
        made.extend(workflow.select_output(&state.document).map(|(at, value)| RunOutputView {
            run: run.clone(),
            pointer: at.to_owned(),
            value: value.clone(),
        }));
    }
    Ok(made)
}
