//! `countersign completions SHELL`: prints a shell completion script.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::CliArgs;
use crate::exit::CliExit;
use crate::output;

pub(super) fn run(shell: Shell) -> CliExit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CliArgs::command(), "countersign", &mut script);
    output::print_data(&String::from_utf8_lossy(&script));
    CliExit::Success
}
