//! `countersign memory …`: memory alone, without a run.

mod compose;
mod desk;
mod difference;
mod explain;
mod moments;
mod packets;
mod remember;
mod replay;
mod search;
mod thing;
mod told;

use crate::args::{Memory, MemoryCommand};
use crate::exit::{Error, Exit};

pub(super) fn run(args: &Memory, json: bool) -> Result<Exit, Error> {
    let whose = &args.whose;
    match &args.command {
        MemoryCommand::Remember(args) => remember::run(whose, args, json),
        MemoryCommand::Compose(args) => compose::run(whose, args, json),
        MemoryCommand::Explain(args) => explain::run(whose, args, json),
        MemoryCommand::Replay(args) => replay::run(whose, args, json),
        MemoryCommand::Search(args) => search::run(whose, args, json),
    }
}
