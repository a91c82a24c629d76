//! `countersign mcp`: MCP over standard input and output, and the driver of runs, in one process.

use std::io::IsTerminal as _;
use std::sync::Arc;

use countersign_server::access::Keyring;
use countersign_server::house::House as Served;
use countersign_server::mcp::{Session, over_stdio};

use super::serve::{Warnings, furniture};
use crate::args::Mcp;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::signals::Signals;
use crate::{output, show};

pub(super) fn run(args: &Mcp) -> Result<Exit, Error> {
    if let Some(folder) = &args.folder {
        // Before anything is opened, and before there are threads that would see it change.
        std::env::set_current_dir(folder).map_err(|source| Error::Unreadable {
            what: format!("`{}`, to work there", folder.display()),
            source,
        })?;
    }
    wait(async {
        let model = args.model.as_deref();
        let house =
            House::open_remembering(&args.site, model, Arc::new(Warnings), !args.no_memory)?
                .with_allowed(&args.allow)?;
        let mut signals = Signals::listen();
        if std::io::stdin().is_terminal() {
            output::talk(
                "Speaks MCP on standard input and output, for a coding agent that starts it (docs/agents.md). Ctrl-C ends it.",
            );
        }
        let session = Session {
            house: Arc::new(Served::open(furniture(&house)?)),
            keyring: Arc::new(Keyring::at(house.home.folder().join("keys.json"))),
            decides: !args.no_decisions,
        };
        let spoken = over_stdio(session, signals.next()).await;
        let exit = match spoken {
            Ok(()) => Exit::Good,
            Err(error) => {
                let error = Error::Usage(error.to_string());
                show::error(&error, false);
                error.exit()
            }
        };
        // What is told of it goes out now: nothing is dropped after an exit.
        drop(house);
        // A thread may still be reading standard input, and nothing interrupts it.
        std::process::exit(exit as i32)
    })
}
