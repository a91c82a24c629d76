//! Trials: long seeded runs that measure Countersign and, where available, comparable tools.
//!
//! Trials are not part of the product and do not replace unit tests: a trial prints a table and
//! exits with code 1 if a guarantee is broken. Each trial is a subcommand and a folder.

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
#[command(about = "Long seeded runs that measure Countersign and comparable tools.")]
struct TrialArgs {
    #[command(subcommand)]
    trial: TrialCommand,
}

#[derive(Debug, Subcommand)]
enum TrialCommand {
    /// Composes packets while the memory changes, and verifies that each is rebuilt byte for byte.
    Builds(builds::BuildsTrialArgs),
    /// Kills, suspends and resumes workers at random, then checks the tables.
    #[cfg(unix)]
    Chaos(chaos::ChaosTrialArgs),
    /// Measures how corrupted replies and decoys with a known meaning are recovered or refused.
    Mutations(mutations::MutationTrialArgs),
    /// Measures how many turns that answer a question about a long conversation are in the packet.
    Recall(recall::RecallTrialArgs),
    /// Tests the server with requests that an external checker generates from its API description.
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
            // If standard error is closed, the error cannot be reported.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
