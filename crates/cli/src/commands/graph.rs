//! `countersign graph [RUN]`: a workflow as a drawing, with the phase a run stands in.

use countersign_core::run::Event;
use countersign_runtime::engine::EngineError;
use countersign_server::show::graph::{Picture, mermaid, svg};
use serde_json::json;

use crate::args::{Graph, GraphFormat};
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, protocol_at, protocol_near, wait};
use crate::output;
use crate::settings::Settings;

pub(super) fn run(args: &Graph, json: bool) -> Result<Exit, Error> {
    let picture = match &args.run {
        Some(named) => of_run(args, named)?,
        None => of_workflow(args)?,
    };
    let (word, text) = match args.format {
        GraphFormat::Mermaid => ("mermaid", mermaid(&picture)),
        GraphFormat::Svg => ("svg", svg(&picture)),
    };
    if json {
        output::json(&json!({ "format": word, "text": text }));
    } else {
        output::data(&text);
    }
    Ok(Exit::Good)
}

/// The run's own workflow, as it was when the run began.
fn of_run(args: &Graph, named: &str) -> Result<Picture, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(Some(named)).await?;
        let outcome = house.engine.look(&run).await?;
        let events = house
            .engine
            .log(&run)
            .await?
            .iter()
            .map(|one| one.open(&run))
            .collect::<Result<Vec<Vec<Event>>, _>>();
        let events = events.map_err(|source| EngineError::corrupt(run.clone(), source))?.concat();
        let workflow = outcome.protocol.workflow(&outcome.state.workflow).map_err(Error::Usage)?;
        Ok(Picture::of(workflow).with_run(&outcome.state, &events))
    })
}

fn of_workflow(args: &Graph) -> Result<Picture, Error> {
    let here = std::path::Path::new(".");
    let whole = here
        .canonicalize()
        .map_err(|source| Error::Unreadable { what: "this folder".to_owned(), source })?;
    let settings = Settings::read(&whole, &args.site, None)?;
    let folder = match settings.protocol.value.as_deref() {
        Some(named) => protocol_at(std::path::Path::new(named))?,
        None => protocol_near(here)?,
    };
    let (protocol, _) = protocol(&folder)?;
    let named = args.workflow.as_deref().unwrap_or(&protocol.default_workflow);
    let workflow = protocol.workflow(named).map_err(Error::Usage)?;
    Ok(Picture::of(workflow))
}
