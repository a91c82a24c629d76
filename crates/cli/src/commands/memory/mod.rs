//! `countersign memory …`: memory alone, without a run.

mod age;
mod audit;
mod candidates;
mod carry;
mod import;
mod compose;
mod desk;
mod difference;
mod embed;
mod expire;
mod explain;
mod forget;
mod learn;
mod packets;
mod propose;
mod remember;
mod replay;
mod search;
mod summarize;
mod told;
mod verify;

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
        MemoryCommand::Embed(args) => embed::run(whose, args, json),
        MemoryCommand::Age(args) => age::run(whose, args, json),
        MemoryCommand::Expire(args) => expire::run(whose, args, json),
        MemoryCommand::Summarize(args) => summarize::run(whose, args, json),
        MemoryCommand::Propose(args) => propose::run(whose, args, json),
        MemoryCommand::Candidates(args) => candidates::list(whose, args, json),
        MemoryCommand::Promote(args) => candidates::promote(whose, args, json),
        MemoryCommand::Refuse(args) => candidates::refuse(whose, args, json),
        MemoryCommand::Validate(args) => learn::validate(whose, args, json),
        MemoryCommand::Reject(args) => learn::reject(whose, args, json),
        MemoryCommand::Learn(args) => learn::run(whose, args, json),
        MemoryCommand::Export(args) => carry::export(whose, args, json),
        MemoryCommand::Import(args) => import::import(whose, args, json),
        MemoryCommand::Forget(args) => forget::run(whose, args, json),
        MemoryCommand::VerifyErased(args) => verify::erased(whose, args, json),
        MemoryCommand::VerifyScope => verify::scope(whose, json),
        MemoryCommand::Audit => audit::run(whose, json),
    }
}
