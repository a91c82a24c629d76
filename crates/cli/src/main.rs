//! Starts: reads the command line, runs one command, ends with a code that means something.

mod args;
mod commands;
mod elapsed;
mod exit;
mod files;
mod graph;
mod house;
mod incoming;
mod output;
mod progress;
mod projecting;
mod settings;
mod show;
mod standing;
mod table;
mod waiting;

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(&args) {
        Ok(exit) => exit.into(),
        Err(error) => {
            show::error(&error, args.json);
            error.exit().into()
        }
    }
}
