//! `countersign demo`: the whole of it in a minute, without a key and without a network.

use std::fs;
use std::sync::Arc;

use countersign_core::run::{Incoming, Start};
use countersign_protocols::find;
use countersign_runtime::watch::{Unwatched, Watch};

use super::init::put;
use super::run::{Manner, create, work};
use super::trust::trust_own_model;
use crate::args::{Demo, Site};
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, wait};
use crate::output;
use crate::progress::Progress;
use crate::show::HEADING;

pub(super) fn run(args: &Demo, json: bool) -> Result<Exit, Error> {
    let folder = &args.folder;
    let shown = folder.display().to_string();
    let unwritable = |source| Error::Unwritable { what: shown.clone(), source };
    fs::create_dir_all(folder).map_err(unwritable)?;
    if fs::read_dir(folder).map_err(unwritable)?.next().is_some() {
        return Err(Error::Usage(format!(
            "`{shown}` is not empty; name another folder, or remove it"
        )));
    }
    let shipped = find("demo").expect("the demo ships");
    // The folder is a workplace of its own, whatever lies above it.
    countersign_runtime::folder::Home::create(folder)?;
    put(shipped, folder)?;
    if !json {
        output::talk(&format!(
            "A protocol was put into {HEADING}{shown}{HEADING:#}: plan a text, write it, let a person decide, put it into a file."
        ));
        match &args.model {
            None => output::talk(
                "The model is a script, and two of its replies are wrong on purpose. Watch what happens to them.\n",
            ),
            Some(model) => output::talk(&format!("The model is {model}.\n")),
        }
    }
    let watch: Arc<dyn Watch> =
        if json { Arc::new(Unwatched) } else { Arc::new(Progress::default()) };
    wait(async {
        let house = House::open_in(folder, &Site::default(), args.model.as_deref(), watch)?;
        trust_own_model(&house)?;
        let (protocol, _) = protocol(&house.protocol_folder()?)?;
        let start = Start {
            protocol: protocol.digest.clone(),
            workflow: protocol.default_workflow.clone(),
            model: args.model.clone(),
            by: Some(house.settings.user()),
            ..Start::default()
        };
        let run = create(&house, &protocol, start, None).await?;
        if args.approve {
            house.driver()?.drive(&run).await?;
            let open = house.engine.look(&run).await?.state.waits.keys().next().cloned();
            if let Some(wait) = open {
                let (by, note) =
                    (house.settings.user(), Some("the demo approves itself".to_owned()));
                let what = Incoming::Decided { wait, approve: true, by, note };
                house.engine.give(&run, what, None).await?;
            }
        }
        let exit = work(&house, &run, Manner::Leaves, json).await?;
        if !json && !args.approve {
            output::talk(&format!(
                "\nNow you: cd {shown} && countersign approve {run} --note \"fine\""
            ));
        }
        Ok(exit)
    })
}
