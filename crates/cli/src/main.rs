//! Starts: reads the command line, runs one command, ends with a code that means something.

mod args;
mod commands;
mod exit;
mod files;
mod output;
mod show;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(&args) {
        Ok(exit) => exit.into(),
        Err(error) => {
            show::error(&error, args.wants_json());
            error.exit().into()
        }
    }
}
