//! A browser for tests: a headless Chromium and what drives it, from npm, in a folder below `target`.
//!
//! Tests get the folder in `COUNTERSIGN_TEST_BROWSER`. Nothing runs until a test wants it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The packages, pinned: what is tested is our page, not the newest browser.
const PACKAGES: [&str; 3] =
    ["playwright-core@1.65.0", "axe-core@4.14.0", "@sparticuz/chromium@147.0.0"];

/// The folder with the packages; they are installed where they are not there.
pub(crate) fn install(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("foreign").join("browser");
    let done = folder.join("has");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&done).is_ok_and(|has| has == wanted) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("no folder for it: {error}"))?;
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")
        .map_err(|error| error.to_string())?;
    println!("$ npm install {}", PACKAGES.join(" "));
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(PACKAGES)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match installed {
        Ok(status) if status.success() => {}
        Ok(_) => return Err("`npm install` failed".to_owned()),
        Err(error) => return Err(format!("npm: {error}")),
    }
    fs::write(done, wanted).map_err(|error| error.to_string())?;
    Ok(folder)
}
