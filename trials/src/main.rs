//! Trials: long seeded runs that measure Countersign, beside its peers where there are any.
//!
//! Not a part of the product, and no place for unit tests of it: a trial prints a table and exits 1 when a promise
//! was broken. Every trial is a subcommand and a folder.

mod builds;
#[cfg(unix)]
mod chaos;
mod mutations;
mod recall;
mod scale;
mod schemathesis;

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(about = "Long seeded runs that measure Countersign, beside its peers.")]
struct Arguments {
    #[command(subcommand)]
    trial: Trial,
}

#[derive(Debug, Subcommand)]
enum Trial {
    /// Packets that were built while their memory lived on, composed again to the same bytes.
    Builds(builds::Settings),
    /// Workers that are killed, stopped and woken at random; then a checker reads the tables.
    #[cfg(unix)]
    Chaos(chaos::Settings),
    /// Corrupted replies and decoys whose truth is known: recovered right, recovered wrong, refused.
    Mutations(mutations::Settings),
    /// Questions about long conversations: how many of the turns that answer them come into a packet.
    Recall(recall::Settings),
    /// A million runs on a server: what every operation costs, and what it scans.
    Scale(scale::Settings),
    /// Requests made of the server's own description, by a checker that is not ours.
    Schemathesis(schemathesis::Settings),
}

fn main() -> ExitCode {
    let Arguments { trial } = Arguments::parse();
    let out = &mut io::stdout().lock();
    let outcome: Result<bool, Box<dyn Error>> = match trial {
        Trial::Builds(settings) => builds::run(&settings, out).map_err(Into::into),
        #[cfg(unix)]
        Trial::Chaos(settings) => chaos::run(&settings, out).map_err(Into::into),
        Trial::Mutations(settings) => mutations::run(&settings, out).map_err(Into::into),
        Trial::Recall(settings) => recall::run(&settings, out).map_err(Into::into),
        Trial::Scale(settings) => scale::run(&settings, out),
        Trial::Schemathesis(settings) => schemathesis::run(&settings, out),
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
