//! Starts: reads the command line, runs one command, ends with a code that means something.

mod args;
mod commands;
mod elapsed;
mod excerpt;
mod exit;
mod files;
mod house;
mod output;
mod place;
mod product;
mod progress;
mod projecting;
mod settings;
mod show;
mod signals;
mod sized;
mod sources;
mod style;
mod table;
mod telemetry;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else, so that a process which reads somebody's PDF knows nothing to lose.
    if std::env::args().nth(1).is_some_and(|first| first == sources::READ_PDF) {
        return countersign_sources::read_pdf_from_stdin();
    }
    std::panic::set_hook(Box::new(output::panicked));
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return output::usage(&error),
    };
    match commands::run(&args) {
        Ok(exit) => exit.into(),
        Err(error) => {
            show::error(&error, args.json);
            error.exit().into()
        }
    }
}
