//! A private `PostgreSQL` server for tests, in a temporary folder.
//!
//! The server listens only on a Unix socket in its own folder, trusts every user who can access
//! that folder, and is removed when the value is dropped.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A `PostgreSQL` server that is running or stopped.
pub struct PostgresCluster {
    binaries: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl PostgresCluster {
    /// Finds the binaries of the newest server installed by Debian packages.
    #[must_use]
    pub fn find_binaries() -> Option<PathBuf> {
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

    /// Starts a server from these binaries, with additional configuration lines. Returns the reason
    /// if the server cannot start.
    pub fn start(binaries: PathBuf, name: &str, settings: &str) -> Result<Self, String> {
        let cluster = Self::prepare_folder(binaries, name)?;
        let data = cluster.data_folder();
        let data = data.display();
        cluster.run_program(
            "initdb",
            &format!("-D {data} -U tester -A trust -E UTF8 --no-sync --locale=C"),
        )?;
        let settings = format!("{}{settings}", base_settings(&cluster.folder));
        fs::write(cluster.data_folder().join("postgresql.auto.conf"), settings)
            .map_err(|error| error.to_string())?;
        cluster.start_again()?;
        Ok(cluster)
    }

    /// Creates a standby of this server, which replicates it and accepts reads.
    pub fn create_standby(&self, name: &str) -> Result<Self, String> {
        let standby = Self::prepare_folder(self.binaries.clone(), name)?;
        let (data, from) = (standby.data_folder(), self.folder.display());
        let copy = format!("-D {} -h {from} -U tester -R -c fast", data.display());
        standby.run_program("pg_basebackup", &copy)?;
        let settings = data.join("postgresql.auto.conf");
        let text = fs::read_to_string(&settings).map_err(|error| error.to_string())?;
        let text = format!("{text}{}", base_settings(&standby.folder));
        fs::write(&settings, text).map_err(|error| error.to_string())?;
        standby.start_again()?;
        Ok(standby)
    }

    /// Promotes a standby to a primary that accepts writes.
    pub fn promote(&self) -> Result<(), String> {
        self.run_program("pg_ctl", &format!("-D {} -w promote", self.data_folder().display()))
    }

    fn prepare_folder(binaries: PathBuf, name: &str) -> Result<Self, String> {
        // A socket path is limited to about a hundred bytes, so the folder is close to the root.
        let folder =
            std::env::temp_dir().join(format!("countersign-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)
            .map_err(|error| format!("cannot create a folder for the cluster: {error}"))?;
        let private = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        private.map_err(|error| format!("cannot make the folder private: {error}"))?;
        // The server refuses to run as root.
        let user = if is_root() { Some(find_unprivileged_user()?) } else { None };
        if let Some((uid, gid)) = user {
            chown(&folder, Some(uid), Some(gid)).map_err(|error| error.to_string())?;
        }
        Ok(Self { binaries, folder, user })
    }

    /// Returns the connection URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgresql://tester@{folder}/postgres")
    }

    /// Starts a stopped server again.
    pub fn start_again(&self) -> Result<(), String> {
        let (data, folder) = (self.data_folder(), self.folder.display());
        self.run_program("pg_ctl", &format!("-D {} -l {folder}/log -w -t 30 start", data.display()))
    }

    /// Stops the server. The mode `fast` disconnects clients, `immediate` simulates a crash.
    pub fn stop(&self, how: &str) -> Result<(), String> {
        self.run_program("pg_ctl", &format!("-D {} -m {how} -w stop", self.data_folder().display()))
    }

    /// Runs another of the server's binaries. Arguments must not contain spaces.
    pub fn run_program(&self, program: &str, arguments: &str) -> Result<(), String> {
        let mut command = Command::new(self.binaries.join(program));
        command.args(arguments.split(' ')).current_dir(&self.folder).stdin(Stdio::null());
        // The server keeps inherited handles: a pipe would stay open as long as the server runs.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        let status = command.status().map_err(|error| format!("`{program}`: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("`{program}` ended with {status}")) }
    }

    /// Returns the folder that holds the socket and the data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn data_folder(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        let _ = self.stop("immediate");
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// No network and no waiting for the disk, because the data is discarded.
fn base_settings(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\n\
         synchronous_commit = off\nfull_page_writes = off\nmax_connections = 80\n"
    )
}

/// Returns whether the process runs as root.
#[must_use]
pub fn is_root() -> bool {
    query_id("-u", None) == Some(0)
}

/// Finds an unprivileged user: the package's `postgres`, or else `nobody`.
fn find_unprivileged_user() -> Result<(u32, u32), String> {
    let known = ["postgres", "nobody"].into_iter();
    let mut found =
        known.filter_map(|name| Some((query_id("-u", Some(name))?, query_id("-g", Some(name))?)));
    found.next().ok_or_else(|| "no user `postgres` or `nobody`".to_owned())
}

fn query_id(what: &str, user: Option<&str>) -> Option<u32> {
    let output = Command::new("id").arg(what).args(user).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().parse().ok())?
}
