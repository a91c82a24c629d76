//! `cargo xtask dist`: builds the distribution: the binary, its bill of materials, and their
//! hashes.

use std::fmt::Write as _;
use std::fs;

use countersign_contract::json::sha256_hex;

use crate::{process, sbom};

/// Builds everything into `target/handout`; returns whether it succeeded.
pub(crate) fn run() -> bool {
    let folder = process::workspace_root().join("target/handout");
    if let Err(error) = fs::create_dir_all(&folder) {
        println!("dist: {}: {error}", folder.display());
        return false;
    }
    let built =
        process::run_cargo(&["build", "--profile", "dist", "--locked", "-p", "countersign-cli"]);
    let binary = format!("countersign{}", std::env::consts::EXE_SUFFIX);
    let from = process::workspace_root().join("target/dist").join(&binary);
    if !built || !sbom::write_sbom(&folder.join("countersign.cdx.json")) {
        return false;
    }
    if let Err(error) = fs::copy(&from, folder.join(&binary)) {
        println!("dist: {}: {error}", from.display());
        return false;
    }
    let mut sums = String::new();
    for name in [binary.as_str(), "countersign.cdx.json"] {
        let bytes = fs::read(folder.join(name)).unwrap_or_default();
        let _ = writeln!(sums, "{}  {name}", sha256_hex(&[&bytes]));
    }
    let written = fs::write(folder.join("SHA256SUMS"), &sums).is_ok();
    println!("{sums}in {}", folder.display());
    written
}
