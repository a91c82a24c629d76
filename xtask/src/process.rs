//! Running programs, with what they print passed through.

use std::path::Path;
use std::process::{Command, Stdio};

/// The root of the workspace.
pub(crate) fn workspace_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Runs cargo; true where it succeeded.
pub(crate) fn run_cargo(arguments: &[&str]) -> bool {
    run_cargo_with_env(arguments, &[])
}

/// Runs cargo with variables.
pub(crate) fn run_cargo_with_env(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    println!("\n$ cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    // What cargo tells this program of itself would make some build scripts run again, and so
    // everything that stands on them, each time a build is started by hand and by a chore in turn.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name == "OUT_DIR"
            || ["CARGO_MANIFEST", "CARGO_PKG_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"]
                .iter()
                .any(|own| name.starts_with(own))
        {
            command.env_remove(name);
        }
    }
    let status = command
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(workspace_root())
        .stdin(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// What a program prints, or `Empty` where it is absent or fails.
pub(crate) fn capture_output(program: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).current_dir(workspace_root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
