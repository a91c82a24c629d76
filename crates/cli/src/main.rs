//! The `countersign` binary: parses the command line, runs one command, and returns its exit code.

mod args;
mod channel_settings;
mod contract_records;
mod commands;
mod time_format;
mod excerpt;
mod exit;
mod files;
mod logging;
mod context;
mod output;
mod store_location;
mod run_outputs;
mod progress;
mod state_file_writer;
mod settings;
mod os_user;
mod render;
mod signals;
mod byte_format;
mod source_kinds;
mod style;
mod table;
mod telemetry;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // This runs before anything else, so that a process that reads an untrusted document has no secrets
    // to leak.
    if std::env::args().nth(1).is_some_and(|first| first == source_kinds::READ_DOCUMENT) {
        return countersign_documents::read_document_from_stdin();
    }
    std::panic::set_hook(Box::new(output::print_panic));
    let args = match args::CliArgs::try_parse() {
        Ok(args) => args,
        Err(error) => return output::print_usage_error(&error),
    };
    let configured = logging::set_options(args.verbose, args.json);
    match configured.and_then(|()| commands::run(&args)) {
        Ok(exit) => exit.into(),
        Err(error) => {
            render::print_error(&error, args.json);
            error.exit_code().into()
        }
    }
}
