//! Starts the `PostgreSQL` server for the tests, from installed binaries or from packages.
//!
//! Tests get its address in `COUNTERSIGN_TEST_POSTGRES`. `testkit` implements the cluster.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::PostgresCluster;

/// Starts a server, or returns the reason why it cannot start.
pub(crate) fn start_postgres() -> Result<PostgresCluster, String> {
    let binaries = match PostgresCluster::find_binaries() {
        Some(found) => found,
        None => install_postgres()?,
    };
    PostgresCluster::start(binaries, "pg", "")
}

fn install_postgres() -> Result<PathBuf, String> {
    if !testkit::is_root() || !Path::new("/usr/bin/apt-get").exists() {
        return Err("no PostgreSQL server in /usr/lib/postgresql".to_owned());
    }
    println!("$ apt-get install postgresql");
    // Otherwise the package would start its own server.
    let quiet = Path::new("/etc/postgresql-common");
    if !quiet.exists() {
        let _ = fs::create_dir_all(quiet);
        let _ = fs::write(quiet.join("createcluster.conf"), "create_main_cluster = false\n");
    }
    let apt = |arguments: &[&str]| {
        let status = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let package = ["install", "-y", "--no-install-recommends", "postgresql"];
    let installed = apt(&package) || (apt(&["update"]) && apt(&package));
    if !installed {
        return Err("`apt-get install postgresql` failed".to_owned());
    }
    PostgresCluster::find_binaries()
        .ok_or_else(|| "the package `postgresql` contains no server".to_owned())
}
