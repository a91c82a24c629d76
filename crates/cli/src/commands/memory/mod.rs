//! `countersign memory …`: memory alone, without a run.

mod desk;
mod moments;
mod remember;
mod thing;
mod told;

use crate::args::{Memory, MemoryCommand};
use crate::exit::{Error, Exit};

pub(super) fn run(args: &Memory, json: bool) -> Result<Exit, Error> {
    let whose = &args.whose;
    match &args.command {
        MemoryCommand::Remember(args) => remember::run(whose, args, json),
    }
}
