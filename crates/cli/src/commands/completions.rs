//! `countersign completions SHELL`

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::Exit;
use crate::output;

pub(super) fn run(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "countersign", &mut script);
    output::data(&String::from_utf8_lossy(&script));
    Exit::Good
}
