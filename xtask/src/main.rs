//! Chores of the workspace, as commands: `cargo xtask verify`, `cargo xtask fix`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the terminal")]

mod layers;
mod licences;
mod steps;
mod tidy;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let done = match command.as_deref() {
        Some("verify") => verify::run(),
        Some("tidy") => verify::report("tidy", &tidy::run()),
        Some("fix") => {
            steps::cargo(&["fmt", "--all"])
                && steps::cargo(&[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--fix",
                    "--allow-dirty",
                ])
        }
        Some("bless") => steps::cargo_with(&["test", "--workspace"], &[("INSTA_UPDATE", "always")]),
        _ => {
            eprintln!(
                "cargo xtask verify   everything that must hold; writes nothing\n\
                 cargo xtask tidy     only the checks of the house\n\
                 cargo xtask fix      format, and apply what clippy knows to mend\n\
                 cargo xtask bless    accept snapshots; read them first"
            );
            false
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
