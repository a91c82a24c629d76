//! Running programs, with what they print passed through.

use std::path::Path;
use std::process::{Command, Stdio};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Runs cargo; true where it succeeded.
pub(crate) fn cargo(arguments: &[&str]) -> bool {
    cargo_with(arguments, &[])
}

/// Runs cargo with variables.
pub(crate) fn cargo_with(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    println!("\n$ cargo {}", arguments.join(" "));
    let status = Command::new("cargo")
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root())
        .stdin(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// What a program prints, or `None` where it is absent or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
