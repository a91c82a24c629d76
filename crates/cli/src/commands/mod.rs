//! One file a command.

mod addressed;
mod admit;
mod answer;
mod cancel;
mod check;
mod completions;
mod contract;
mod decide;
mod demo;
mod diff;
mod doctor;
mod export;
mod fork;
mod given;
mod graph;
mod halt;
mod held;
mod history;
mod import;
mod inbox;
mod init;
mod key;
mod list;
mod mcp;
mod memory;
mod next;
mod people;
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

use crate::args::{Args, Command};
use crate::exit::{Error, Exit};

/// Runs the command that was asked for.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let json = args.json;
    match &args.command {
        Command::Demo(args) => demo::run(args, json),
        Command::Init(args) => init::run(args, json),
        Command::Check(args) => check::run(args, json),
        Command::Run(args) => run::run(args, json),
        Command::List(args) => list::run(args, json),
        Command::Status(args) => status::run(args, json),
        Command::History(args) => history::run(args, json),
        Command::Show(args) => show::run(args, json),
        Command::Diff(args) => diff::run(args, json),
        Command::Next(args) => next::run(args, json),
        Command::Submit(args) => submit::run(args, json),
        Command::Inbox(args) => inbox::run(args, json),
        Command::Answer(args) => answer::run(args, json),
        Command::Approve(args) => decide::run(args, true, json),
        Command::Deny(args) => decide::run(args, false, json),
        Command::Halt(args) => halt::run(args, json),
        Command::Resume(args) => resume::run(args, json),
        Command::Cancel(args) => cancel::run(args, json),
        Command::Task(args) => task::run(args, json),
        Command::Worker(args) => worker::run(args, json),
        Command::Workers(args) => workers::run(args, json),
        Command::Replay(args) => replay::run(args, json),
        Command::Fork(args) => fork::run(args, json),
        Command::Graph(args) => graph::run(args, json),
        Command::Export(args) => export::run(args, json),
        Command::Import(args) => import::run(args, json),
        Command::Store(args) => store::run(args, json),
        Command::Serve(args) => serve::run(args, json),
        Command::Mcp(args) => mcp::run(args),
        Command::Key(args) => key::run(args, json),
        Command::Trust(args) => trust::run(args, json),
        Command::Doctor(args) => Ok(doctor::run(args, json)),
        Command::Admit(args) => admit::run(args, json),
        Command::Contract(args) => contract::run(args, json),
        Command::Memory(args) => memory::run(args, json),
        Command::Completions { shell } => Ok(completions::run(*shell)),
    }
}
