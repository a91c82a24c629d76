//! Maintenance commands of the workspace, such as `cargo xtask verify` and `cargo xtask fix`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the terminal")]

mod architecture;
mod mcp_clients;
mod browser;
mod deny;
mod dist;
mod growth_targets;
mod embedder;
mod external_services;
mod bolt_server;
mod layers;
mod licences;
mod names;
mod npm;
#[cfg(unix)]
mod postgres;
mod python;
mod sbom;
mod python_server;
mod process;
mod tidy;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let done = match command.as_deref() {
        Some("verify") => verify::run(),
        Some("tidy") => verify::print_report("tidy", &tidy::run()),
        Some("names") => {
            names::print_counts();
            true
        }
        Some("fix") => {
            process::run_cargo(&["fmt", "--all"])
                && process::run_cargo(&[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--fix",
                    "--allow-dirty",
                ])
        }
        Some("foreign") => {
            let foreign = external_services::ExternalServices::start();
            foreign.unavailable().iter().for_each(|why| println!("foreign parts: {why}"));
            let rest: Vec<String> = std::env::args().skip(2).collect();
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            process::run_cargo_with_env(&rest, &foreign.environment_variables())
        }
        Some("sbom") => {
            sbom::write_sbom(&process::workspace_root().join("target/countersign.cdx.json"))
        }
        Some("dist") => dist::run(),
        Some("bless") => {
            process::run_cargo_with_env(&["test", "--workspace"], &[("INSTA_UPDATE", "always")])
        }
        _ => {
            eprintln!(
                "cargo xtask verify   everything that must hold; writes nothing\n\
                 cargo xtask tidy     only the checks of the house\n\
                 cargo xtask names    how types and functions are named, in numbers\n\
                 cargo xtask foreign test -p countersign-sources
                                      one cargo command beside the foreign servers of the tests
                 cargo xtask fix      format, and apply what clippy knows to mend\n\
                 cargo xtask bless    accept snapshots; read them first\n\
                 cargo xtask sbom     what the binary is made of, as CycloneDX\n\
                 cargo xtask dist     the binary that is handed out, with its SBOM and hashes"
            );
            false
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
