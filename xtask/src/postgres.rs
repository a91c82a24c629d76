//! A `PostgreSQL` server for tests: a cluster in a temporary folder that nobody else reaches.
//!
//! Tests get its address in `COUNTERSIGN_TEST_POSTGRES`. It listens on a socket in its own folder
//! and on no network, trusts whoever may enter that folder, and is gone when it is dropped.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server that runs.
pub(crate) struct Cluster {
    binaries: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl Cluster {
    /// Starts one; the reason where that cannot be.
    pub(crate) fn start() -> Result<Self, String> {
        let binaries = match binaries() {
            Some(found) => found,
            None => install()?,
        };
        // A socket's path may be a hundred bytes long, so the folder lies high.
        let folder = std::env::temp_dir().join(format!("countersign-pg-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| format!("no folder for a cluster: {error}"))?;
        let private = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        private.map_err(|error| format!("no private folder: {error}"))?;
        // The server refuses to run as root.
        let user = if is_root() { Some(stranger()?) } else { None };
        let cluster = Self { binaries, folder, user };
        if let Some((uid, gid)) = user {
            chown(&cluster.folder, Some(uid), Some(gid)).map_err(|error| error.to_string())?;
        }
        let data = cluster.data();
        let data = data.display();
        cluster
            .run("initdb", &format!("-D {data} -U tester -A trust -E UTF8 --no-sync --locale=C"))?;
        let folder = cluster.folder.display();
        fs::write(cluster.data().join("postgresql.auto.conf"), settings(&cluster.folder))
            .map_err(|error| error.to_string())?;
        cluster.run("pg_ctl", &format!("-D {data} -l {folder}/log -w -t 30 start"))?;
        Ok(cluster)
    }

    /// The address, as the tests take it.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgresql://tester@{folder}/postgres")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn run(&self, program: &str, arguments: &str) -> Result<(), String> {
        let mut command = Command::new(self.binaries.join(program));
        command.args(arguments.split(' ')).current_dir(&self.folder).stdin(Stdio::null());
        // What the server inherits it keeps: a pipe would stay open as long as it runs.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((uid, gid)) = self.user {
            use std::os::unix::process::CommandExt as _;
            command.uid(uid).gid(gid);
        }
        let status = command.status().map_err(|error| format!("`{program}`: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("`{program}` ended with {status}")) }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        let _ = self.run("pg_ctl", &format!("-D {} -m immediate -w stop", data.display()));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// No network, and no waiting for the disk: the data is thrown away.
fn settings(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\n\
         synchronous_commit = off\nfull_page_writes = off\nmax_connections = 50\n"
    )
}

/// The newest server that Debian's packages put there.
fn binaries() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            let folder = entry.path().join("bin");
            folder.join("initdb").exists().then_some((version, folder))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, folder)| folder)
}

fn install() -> Result<PathBuf, String> {
    if !is_root() || !Path::new("/usr/bin/apt-get").exists() {
        return Err("no PostgreSQL server in /usr/lib/postgresql".to_owned());
    }
    println!("$ apt-get install postgresql");
    // The package would start a server of its own otherwise.
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
    binaries().ok_or_else(|| "the package `postgresql` brought no server".to_owned())
}

fn is_root() -> bool {
    id("-u", None) == Some(0)
}

/// A user who is not root: that of the package, or the one who owns nothing.
fn stranger() -> Result<(u32, u32), String> {
    let known = ["postgres", "nobody"].into_iter();
    let mut found = known.filter_map(|name| Some((id("-u", Some(name))?, id("-g", Some(name))?)));
    found.next().ok_or_else(|| "no user `postgres` or `nobody`".to_owned())
}

fn id(what: &str, user: Option<&str>) -> Option<u32> {
    let output = Command::new("id").arg(what).args(user).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().parse().ok())?
}
