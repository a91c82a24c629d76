//! `countersign demo`: shows a complete run in a minute, without an API key and without a network.

use std::fs;
use std::sync::Arc;

use countersign_run::RunStart;
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_shipped_protocols::find_shipped_protocol;

use super::init::write_template;
use super::run::{InteractionMode, create_run, drive_run};
use super::trust::trust_own_model;
use crate::args::{DemoArgs, StoreArgs};
use crate::context::{CliContext, block_on, load_protocol_folder};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::progress::ProgressPrinter;
use crate::render::HEADING;

pub(super) fn run(args: &DemoArgs, json: bool) -> Result<CliExit, CliError> {
    let folder = &args.folder;
    let shown = folder.display().to_string();
    let unwritable = |source| CliError::Unwritable { what: shown.clone(), source };
    fs::create_dir_all(folder).map_err(unwritable)?;
    if fs::read_dir(folder).map_err(unwritable)?.next().is_some() {
        return Err(CliError::Usage(format!(
            "`{shown}` is not empty; name another folder, or remove it"
        )));
    }
    let shipped = find_shipped_protocol("demo").expect("the demo protocol is shipped");
    // The folder gets its own engine home, regardless of any home in a parent folder.
    countersign_runtime::folder::EngineHome::create(folder)?;
    write_template(shipped, folder)?;
    if !json {
        output::print_message(&format!(
            "Created a protocol in {HEADING}{shown}{HEADING:#}: plan a text, write it, let a person approve it, save it to a file."
        ));
        match &args.model {
            None => output::print_message(
                "The model is a script, and two of its replies are wrong on purpose. Watch what happens to them.\n",
            ),
            Some(model) => output::print_message(&format!("The model is {model}.\n")),
        }
    }
    let watch: Arc<dyn RunObserver> =
        if json { Arc::new(NoopRunObserver) } else { Arc::new(ProgressPrinter::default()) };
    block_on(async {
        let context =
            CliContext::open_in(folder, &StoreArgs::default(), args.model.as_deref(), watch)?;
        trust_own_model(&context)?;
        let (protocol, _) = load_protocol_folder(&context.find_protocol_folder()?)?;
        let start = RunStart {
            protocol: protocol.digest.clone(),
            workflow: protocol.default_workflow.clone(),
            model: args.model.clone(),
            by: Some(context.settings.user()),
            sender: Some(context.settings.sender()),
            ..RunStart::default()
        };
        let run = create_run(&context, &protocol, start, None).await?;
        if args.approve {
            context.build_driver()?.drive(&run).await?;
            let state = context.engine.get_run(&run).await?.state;
            if let Some(wait) = state.waits.values().next() {
                let (by, note) = (context.settings.user(), Some("approved by the demo".to_owned()));
                let what = wait.decide(true, &by, note);
                context.submit_input(&run, what, None).await?;
            }
        }
        let exit = drive_run(&context, &run, InteractionMode::Detached, json).await?;
        if !json && !args.approve {
            output::print_message(&format!(
                "\nYour turn: cd {shown} && countersign approve {run} --note \"fine\""
            ));
        }
        Ok(exit)
    })
}
