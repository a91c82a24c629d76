//! Installs pinned npm packages in a folder below `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns a folder with packages; installs them if they are missing and then calls `then`.
pub(crate) fn install_npm_packages(
    folder: &Path,
    packages: &[&str],
    then: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let done = folder.join("has");
    let wanted = packages.join("\n");
    if fs::read_to_string(&done).is_ok_and(|has| has == wanted) {
        return Ok(folder.to_owned());
    }
    fs::create_dir_all(folder).map_err(|error| format!("cannot create its folder: {error}"))?;
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")
        .map_err(|error| error.to_string())?;
    println!("$ npm install {}", packages.join(" "));
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(packages)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match installed {
        Ok(status) if status.success() => {}
        Ok(_) => return Err("`npm install` failed".to_owned()),
        Err(error) => return Err(format!("npm: {error}")),
    }
    then(folder)?;
    fs::write(done, wanted).map_err(|error| error.to_string())?;
    Ok(folder.to_owned())
}
