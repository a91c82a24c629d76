//! `countersign memory …`: manages memory without a run.

mod age;
mod audit;
mod candidates;
mod memory_export;
mod memory_import;
mod foreign_files;
mod foreign_import;
mod compose;
mod open_memory;
mod line_diff;
mod embed;
mod expire;
mod explain;
mod forget;
mod learn;
mod policy_and_build;
mod propose;
mod remember;
mod memory_replay;
mod search;
mod summarize;
mod item_flags;
mod memory_verify;

use crate::args::{MemoryArgs, MemoryCommand};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &MemoryArgs, json: bool) -> Result<CliExit, CliError> {
    let whose = &args.scope_args;
    match &args.command {
        MemoryCommand::Remember(args) => remember::run(whose, args, json),
        MemoryCommand::Compose(args) => compose::run(whose, args, json),
        MemoryCommand::Explain(args) => explain::run(whose, args, json),
        MemoryCommand::Replay(args) => memory_replay::run(whose, args, json),
        MemoryCommand::Search(args) => search::run(whose, args, json),
        MemoryCommand::Embed(args) => embed::run(whose, args, json),
        MemoryCommand::Age(args) => age::run(whose, args, json),
        MemoryCommand::Expire(args) => expire::run(whose, args, json),
        MemoryCommand::Summarize(args) => summarize::run(whose, args, json),
        MemoryCommand::Propose(args) => propose::run(whose, args, json),
        MemoryCommand::Candidates(args) => candidates::list_candidates(whose, args, json),
        MemoryCommand::Promote(args) => candidates::promote_candidate(whose, args, json),
        MemoryCommand::Refuse(args) => candidates::refuse_candidate(whose, args, json),
        MemoryCommand::Validate(args) => learn::validate_insight(whose, args, json),
        MemoryCommand::Reject(args) => learn::reject_insight(whose, args, json),
        MemoryCommand::Learn(args) => learn::run(whose, args, json),
        MemoryCommand::Export(args) => memory_export::export_memory(whose, args, json),
        MemoryCommand::Import(args) if args.from.is_some() => {
            foreign_import::import_foreign(whose, args, json)
        }
        MemoryCommand::Import(args) => memory_import::import_memory(whose, args, json),
        MemoryCommand::Forget(args) => forget::run(whose, args, json),
        MemoryCommand::VerifyErased(args) => memory_verify::verify_erased(whose, args, json),
        MemoryCommand::VerifyScope => memory_verify::verify_scope(whose, json),
        MemoryCommand::Audit => audit::run(whose, json),
    }
}
