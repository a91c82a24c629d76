//! `countersign graph [RUN]`: draws a workflow and marks the current phase of a run.

use countersign_run::RunEvent;
use countersign_runtime::engine::EngineError;
use countersign_view::show::graph::{WorkflowGraph, render_mermaid, render_svg};
use serde_json::json;

use crate::args::{GraphArgs, GraphFormat};
use crate::context::{
    CliContext, block_on, find_nearest_protocol, load_protocol_folder, resolve_protocol_folder,
};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::settings::CliSettings;

pub(super) fn run(args: &GraphArgs, json: bool) -> Result<CliExit, CliError> {
    let picture = match &args.run {
        Some(named) => build_run_graph(args, named)?,
        None => build_workflow_graph(args)?,
    };
    let (word, text) = match args.format {
        GraphFormat::Mermaid => ("mermaid", render_mermaid(&picture)),
        GraphFormat::Svg => ("svg", render_svg(&picture)),
    };
    if json {
        output::print_json(&json!({ "format": word, "text": text }));
    } else {
        output::print_data(&text);
    }
    Ok(CliExit::Success)
}

/// Builds the graph of the run's own workflow, as it was when the run started.
fn build_run_graph(args: &GraphArgs, named: &str) -> Result<WorkflowGraph, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = context.resolve_run(Some(named)).await?;
        let outcome = context.engine.get_run(&run).await?;
        let events = context
            .engine
            .read_log(&run)
            .await?
            .iter()
            .map(|one| one.decode_events(&run))
            .collect::<Result<Vec<Vec<RunEvent>>, _>>();
        let events = events.map_err(|source| EngineError::corrupt(run.clone(), source))?.concat();
        let workflow =
            outcome.protocol.find_workflow(&outcome.state.workflow).map_err(CliError::Usage)?;
        Ok(WorkflowGraph::from_workflow(workflow).with_run(&outcome.state, &events))
    })
}

fn build_workflow_graph(args: &GraphArgs) -> Result<WorkflowGraph, CliError> {
    let here = std::path::Path::new(".");
    let whole = here
        .canonicalize()
        .map_err(|source| CliError::Unreadable { what: "this folder".to_owned(), source })?;
    let settings = CliSettings::load(&whole, &args.store_args, None)?;
    let folder = match settings.protocol.value.as_deref() {
        Some(named) => resolve_protocol_folder(std::path::Path::new(named))?,
        None => find_nearest_protocol(here)?,
    };
    let (protocol, _) = load_protocol_folder(&folder)?;
    let named = args.workflow.as_deref().unwrap_or(&protocol.default_workflow);
    let workflow = protocol.find_workflow(named).map_err(CliError::Usage)?;
    Ok(WorkflowGraph::from_workflow(workflow))
}
