//! Trials: long seeded runs that measure Countersign, beside its peers where there are any.
//!
//! Not a part of the product, and no place for unit tests of it: a trial prints a table and exits 1 when a promise
//! was broken. Every trial is a subcommand and a folder.

mod builds;
#[cfg(unix)]
mod chaos;
mod mutations;
mod recall;
mod schemathesis;

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(about = "Long seeded runs that measure Countersign, beside its peers.")]
struct TrialArgs {
    #[command(subcommand)]
    trial: TrialCommand,
}

#[derive(Debug, Subcommand)]
enum TrialCommand {
    /// Packets that were built while their memory lived on, composed again to the same bytes.
    Builds(builds::BuildsTrialArgs),
    /// Workers that are killed, stopped and woken at random; then a checker reads the tables.
    #[cfg(unix)]
    Chaos(chaos::ChaosTrialArgs),
    /// Corrupted replies and decoys whose truth is known: recovered right, recovered wrong, refused.
    Mutations(mutations::MutationTrialArgs),
    /// Questions about long conversations: how many of the turns that answer them come into a packet.
    Recall(recall::RecallTrialArgs),
    /// Requests made of the server's own description, by a checker that is not ours.
    Schemathesis(schemathesis::SchemathesisArgs),
}

fn main() -> ExitCode {
    let TrialArgs { trial } = TrialArgs::parse();
    let out = &mut io::stdout().lock();
    let outcome: Result<bool, Box<dyn Error>> = match trial {
        TrialCommand::Builds(settings) => builds::run(&settings, out).map_err(Into::into),
        #[cfg(unix)]
        TrialCommand::Chaos(settings) => chaos::run(&settings, out).map_err(Into::into),
        TrialCommand::Mutations(settings) => mutations::run(&settings, out).map_err(Into::into),
        TrialCommand::Recall(settings) => recall::run(&settings, out).map_err(Into::into),
        TrialCommand::Schemathesis(settings) => schemathesis::run(&settings, out),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // A closed standard error leaves nobody to tell.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
