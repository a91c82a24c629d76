//! Installs pinned Python packages in a virtual environment below `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the Python interpreter of an environment with these `pip install` arguments; creates the
/// environment if it is missing.
pub(crate) fn prepare_virtualenv(folder: &Path, requirements: &[&str]) -> Result<PathBuf, String> {
    let packages = requirements.join(" ");
    let python = folder.join("bin/python");
    let done = folder.join(format!("has-{packages}"));
    if done.exists() && python.exists() {
        return Ok(python);
    }
    let run = |program: &Path, arguments: &[&str]| {
        let status = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    println!("$ pip install {packages}");
    let folder_text = folder.display().to_string();
    if !run(Path::new("python3"), &["-m", "venv", "--clear", &folder_text]) {
        return Err("`python3 -m venv` failed".to_owned());
    }
    if !run(&python, &[&["-m", "pip", "install", "--quiet"], requirements].concat()) {
        return Err(format!("`pip install {packages}` failed"));
    }
    fs::write(done, "").map_err(|error| error.to_string())?;
    Ok(python)
}
