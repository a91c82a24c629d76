//! The commands, one file each.

mod wait_address;
mod admit;
mod agent;
mod answer;
mod cancel;
mod channel;
mod check;
mod completions;
mod contract;
mod decide;
mod delegate;
mod demo;
mod diff;
mod doctor;
mod export;
mod fork;
mod after_input;
mod graph;
mod halt;
mod lease_holder;
mod history;
mod import;
mod inbox;
mod init;
mod key;
mod list;
mod mcp;
mod memory;
mod next;
mod prompts;
mod provide_document;
mod replay;
mod resume;
mod run;
mod serve;
mod show;
mod start;
mod status;
mod store;
mod submit;
mod task;
mod trust;
mod worker;
mod workers;

use crate::args::{CliArgs, CliCommand};
use crate::exit::{CliError, CliExit};
use crate::logging::{self, Collectors};

/// Returns whether a command may open a store. Opening one starts the log, because the settings next
/// to the store say where telemetry is sent.
fn opens_store(command: &CliCommand) -> bool {
    !matches!(
        command,
        CliCommand::Init(_)
            | CliCommand::Check(_)
            | CliCommand::Admit(_)
            | CliCommand::Contract(_)
            | CliCommand::Channel(_)
            | CliCommand::Completions { .. }
    )
}

/// Runs the selected command.
pub(crate) fn run(args: &CliArgs) -> Result<CliExit, CliError> {
    let json = args.json;
    if !opens_store(&args.command) {
        logging::install(Collectors::default());
    }
    match &args.command {
        CliCommand::Demo(args) => demo::run(args, json),
        CliCommand::Init(args) => init::run(args, json),
        CliCommand::Check(args) => check::run(args, json),
        CliCommand::Run(args) => run::run(args, json),
        CliCommand::List(args) => list::run(args, json),
        CliCommand::Status(args) => status::run(args, json),
        CliCommand::History(args) => history::run(args, json),
        CliCommand::Show(args) => show::run(args, json),
        CliCommand::Diff(args) => diff::run(args, json),
        CliCommand::Next(args) => next::run(args, json),
        CliCommand::Submit(args) => submit::run(args, json),
        CliCommand::Inbox(args) => inbox::run(args, json),
        CliCommand::Answer(args) => answer::run(args, json),
        CliCommand::Approve(args) => decide::run(args, true, json),
        CliCommand::Deny(args) => decide::run(args, false, json),
        CliCommand::Delegate(args) => delegate::run(args, json),
        CliCommand::Halt(args) => halt::run(args, json),
        CliCommand::Resume(args) => resume::run(args, json),
        CliCommand::Cancel(args) => cancel::run(args, json),
        CliCommand::Task(args) => task::run(args, json),
        CliCommand::Worker(args) => worker::run(args, json),
        CliCommand::Workers(args) => workers::run(args, json),
        CliCommand::Replay(args) => replay::run(args, json),
        CliCommand::Fork(args) => fork::run(args, json),
        CliCommand::Graph(args) => graph::run(args, json),
        CliCommand::Agent(args) => agent::run(args, json),
        CliCommand::Export(args) => export::run(args, json),
        CliCommand::Import(args) => import::run(args, json),
        CliCommand::Store(args) => store::run(args, json),
        CliCommand::Serve(args) => serve::run(args, json),
        CliCommand::Mcp(args) => mcp::run(args),
        CliCommand::Key(args) => key::run(args, json),
        CliCommand::Channel(args) => channel::run(args, json),
        CliCommand::Trust(args) => trust::run(args, json),
        CliCommand::Doctor(args) => Ok(doctor::run(args, json)),
        CliCommand::Admit(args) => admit::run(args, json),
        CliCommand::Contract(args) => contract::run(args, json),
        CliCommand::Memory(args) => memory::run(args, json),
        CliCommand::Completions { shell } => Ok(completions::run(*shell)),
    }
}
