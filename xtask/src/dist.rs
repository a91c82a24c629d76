//! `cargo xtask dist`: what is handed out: the binary, its bill of materials, and their hashes.

use std::fmt::Write as _;
use std::fs;

use countersign_core::json::sha256;

use crate::{sbom, steps};

/// Builds everything into `target/handout`; true where that succeeded.
pub(crate) fn run() -> bool {
    let folder = steps::root().join("target/handout");
    if let Err(error) = fs::create_dir_all(&folder) {
        println!("dist: {}: {error}", folder.display());
        return false;
    }
    let built = steps::cargo(&["build", "--profile", "dist", "--locked", "-p", "countersign"]);
    let binary = format!("countersign{}", std::env::consts::EXE_SUFFIX);
    let from = steps::root().join("target/dist").join(&binary);
    if !built || !sbom::write(&folder.join("countersign.cdx.json")) {
        return false;
    }
    if let Err(error) = fs::copy(&from, folder.join(&binary)) {
        println!("dist: {}: {error}", from.display());
        return false;
    }
    let mut sums = String::new();
    for name in [binary.as_str(), "countersign.cdx.json"] {
        let bytes = fs::read(folder.join(name)).unwrap_or_default();
        let _ = writeln!(sums, "{}  {name}", sha256(&[&bytes]));
    }
    let written = fs::write(folder.join("SHA256SUMS"), &sums).is_ok();
    println!("{sums}in {}", folder.display());
    written
}
