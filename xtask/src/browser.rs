//! A browser for tests: a headless Chromium and its driver, from npm, in a folder below `target`.
//!
//! Tests get the folder in `COUNTERSIGN_TEST_BROWSER`. The browser runs only when a test needs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::npm;

/// The pinned packages: the tests cover the page, not the newest browser.
const PACKAGES: [&str; 3] =
    ["playwright-core@1.65.0", "axe-core@4.14.0", "@sparticuz/chromium@147.0.0"];

/// Returns the folder with the packages; installs them if they are missing.
pub(crate) fn install(target: &Path) -> Result<PathBuf, String> {
    npm::install_npm_packages(&target.join("foreign").join("browser"), &PACKAGES, unpack_browser)
}

/// Unpacks the browser before any test needs it: two tests that unpack it concurrently would
/// overwrite a running browser.
fn unpack_browser(folder: &Path) -> Result<(), String> {
    let target = folder.join("unpacked");
    fs::create_dir_all(&target)
        .map_err(|error| format!("cannot create a folder for the browser: {error}"))?;
    let unpacked = Command::new("node")
        .args(["--input-type=module", "--eval"])
        .arg("const { default: packed } = await import('@sparticuz/chromium'); await packed.executablePath();")
        .env("TMPDIR", &target)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match unpacked {
        Ok(status) if status.success() && target.join("chromium").exists() => Ok(()),
        Ok(_) => Err("the browser could not be unpacked".to_owned()),
        Err(error) => Err(format!("node: {error}")),
    }
}
