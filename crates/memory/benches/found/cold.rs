//! Taking a file out of the system's memory.

use std::path::Path;
use std::process::{Command, Stdio};

/// Drops a file that nobody writes from the page cache, and says how many bytes of it stayed there;
/// `None` where that cannot be known.
pub(crate) fn drop_from_cache(path: &Path) -> Option<u64> {
    let from = format!("if={}", path.display());
    for arguments in
        [vec![&*from, "iflag=nocache", "count=0"], vec![&*from, "of=/dev/null", "count=0"]]
    {
        let mut dd = Command::new("dd");
        dd.args(arguments).stderr(Stdio::null());
        if !dd.status().is_ok_and(|status| status.success()) {
            return None;
        }
    }
    let mut fincore = Command::new("fincore");
    let told =
        fincore.args(["--bytes", "--noheadings", "--output", "RES"]).arg(path).output().ok()?;
    String::from_utf8(told.stdout).ok()?.trim().parse().ok()
}
