//! Runs programs and passes their output through.

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the root folder of the workspace.
pub(crate) fn workspace_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Runs cargo; returns whether it succeeded.
pub(crate) fn run_cargo(arguments: &[&str]) -> bool {
    run_cargo_with_env(arguments, &[])
}

/// Runs cargo with environment variables; returns whether it succeeded.
pub(crate) fn run_cargo_with_env(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    println!("\n$ cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    // Removes the variables that cargo sets for this program. With them, some build scripts would
    // rerun and rebuild everything that depends on them, whenever builds by hand and by xtask
    // alternate.
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

/// Returns the output of a program; `None` if it is missing or fails.
pub(crate) fn capture_output(program: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).current_dir(workspace_root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
