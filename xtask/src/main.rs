//! Maintenance commands of the workspace, such as `cargo xtask verify` and `cargo xtask fix`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a maintenance command prints to the terminal"
)]

mod architecture;
mod mcp_clients;
mod browser;
mod channel_receivers;
mod docx_reader;
mod deny;
mod dist;
mod doc_commands;
mod growth_targets;
mod embedder;
mod external_services;
mod bolt_server;
mod layers;
mod licences;
mod links;
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
mod yaml_reader;

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
            foreign
                .unavailable()
                .iter()
                .for_each(|why| println!("external service not available: {why}"));
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
                "cargo xtask verify   run all checks and tests; writes no tracked file\n\
                 cargo xtask tidy     run only the repository checks\n\
                 cargo xtask names    count how types and functions are named\n\
                 cargo xtask foreign  run a cargo command with the external services of the tests:\n\
                 \x20                    cargo xtask foreign test -p countersign-sources\n\
                 cargo xtask fix      format the code and apply the fixes of clippy\n\
                 cargo xtask bless    accept changed snapshots; review them first\n\
                 cargo xtask sbom     write the components of the binary as CycloneDX\n\
                 cargo xtask dist     build the release binary with its SBOM and hashes"
            );
            false
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
