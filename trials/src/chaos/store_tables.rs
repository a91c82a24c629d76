//! Reads the tables with independent SQL statements: a file through the `SQLite` library, a server
//! through `psql`.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::chaos_workspace::ChaosWorkspace;

/// One version in the log of a run.
#[derive(Debug)]
pub(super) struct ChaosLogEntry {
    pub(super) version: i64,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) hash: String,
    pub(super) body: String,
}

/// A wait for a person.
pub(super) struct ChaosWaitRow {
    pub(super) run: String,
    pub(super) wait: String,
    /// The number of answers that the run has received.
    pub(super) answered: usize,
    pub(super) is_approval: bool,
}

/// The state of a run, as its row records it.
#[derive(Debug)]
pub(super) struct ChaosRunRow {
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) seq: i64,
    pub(super) hash: String,
    pub(super) status: String,
    pub(super) phase: String,
    pub(super) due: bool,
    pub(super) lease_worker: Option<String>,
    /// The number of actions that are not done.
    pub(super) pending_actions: i64,
}

/// Access to the tables of a store.
pub(super) enum StoreTables {
    /// The tables of a `SQLite` file.
    File(PathBuf),
    /// The tables of a server, read as a user who sees all rows.
    Server(String),
}

impl StoreTables {
    pub(super) fn from_workspace(site: &ChaosWorkspace) -> Self {
        match site.server() {
            None => Self::File(site.path().join(".countersign/countersign.db")),
            Some(server) => Self::Server(server.to_owned()),
        }
    }

    /// Loads what waits for a person: open questions and approvals.
    pub(super) fn load_waits(&self) -> io::Result<Vec<ChaosWaitRow>> {
        let answered_count = "(SELECT count(*) FROM keys k WHERE k.run = w.run) - 1";
        let columns = ["w.run", "w.id", answered_count, "w.kind"];
        let rows = self.query(&columns, "FROM waits w WHERE w.kind IN ('question', 'approval')")?;
        let read = |row: &Vec<Value>| ChaosWaitRow {
            run: to_text(&row[0]),
            wait: to_text(&row[1]),
            answered: to_number(&row[2]).max(0) as usize,
            is_approval: to_text(&row[3]) == "approval",
        };
        Ok(rows.iter().map(read).collect())
    }

    /// Loads the runs that are parked, or will be parked when the lease of the third worker
    /// expires.
    pub(super) fn load_parked(&self) -> io::Result<Vec<String>> {
        let from = "FROM runs WHERE lease_version = version AND lease_deaths >= 2";
        Ok(self.query(&["id"], from)?.iter().map(|row| to_text(&row[0])).collect())
    }

    /// Returns the number of runs that have not ended.
    pub(super) fn count_unfinished(&self) -> io::Result<i64> {
        let from = "FROM runs WHERE status NOT IN ('completed', 'failed') OR wake_at IS NOT NULL";
        self.query_one(&["count(*)"], from).map(|row| to_number(&row[0]))
    }

    /// Loads the rows of all runs.
    pub(super) fn load_runs(&self) -> io::Result<Vec<ChaosRunRow>> {
        let orders = match self {
            Self::File(_) => "length(actions)",
            Self::Server(_) => {
                "(SELECT count(*) FROM actions a WHERE a.tenant = runs.tenant AND a.run = runs.id)"
            }
        };
        let columns = [
            "id",
            "version",
            "seq",
            "hash",
            "status",
            "phase",
            "coalesce(wake_at, -1)",
            "coalesce(lease_worker, '')",
            orders,
        ];
        let rows = self.query(&columns, "FROM runs ORDER BY tenant, id")?;
        let read = |row: &Vec<Value>| ChaosRunRow {
            id: to_text(&row[0]),
            version: to_number(&row[1]),
            seq: to_number(&row[2]),
            hash: to_text(&row[3]),
            status: to_text(&row[4]),
            phase: to_text(&row[5]),
            due: to_number(&row[6]) >= 0,
            lease_worker: Some(to_text(&row[7])).filter(|name| !name.is_empty()),
            pending_actions: to_number(&row[8]),
        };
        Ok(rows.iter().map(read).collect())
    }

    /// Loads the complete log by run and version; duplicates of a version would both appear.
    pub(super) fn load_logs(&self) -> io::Result<BTreeMap<String, Vec<ChaosLogEntry>>> {
        let (run, from) = match self {
            Self::File(_) => (
                "coalesce((SELECT id FROM runs WHERE number = log.run), '?')",
                "FROM log ORDER BY version, row",
            ),
            Self::Server(_) => ("run", "FROM log ORDER BY version"),
        };
        let mut logs: BTreeMap<String, Vec<ChaosLogEntry>> = BTreeMap::new();
        for row in self.query(&[run, "version", "first_seq", "last_seq", "hash", "body"], from)? {
            logs.entry(to_text(&row[0])).or_default().push(ChaosLogEntry {
                version: to_number(&row[1]),
                first: to_number(&row[2]),
                last: to_number(&row[3]),
                hash: to_text(&row[4]),
                body: to_text(&row[5]),
            });
        }
        Ok(logs)
    }

    /// Loads all snapshots: run, version, text.
    pub(super) fn load_snapshots(&self) -> io::Result<Vec<(String, i64, String)>> {
        let run = match self {
            Self::File(_) => "(SELECT id FROM runs WHERE number = snapshots.run)",
            Self::Server(_) => "run",
        };
        let rows = self.query(&[run, "version", "body"], "FROM snapshots")?;
        Ok(rows
            .iter()
            .map(|row| (to_text(&row[0]), to_number(&row[1]), to_text(&row[2])))
            .collect())
    }

    /// Loads all idempotency keys: run, key, version.
    pub(super) fn load_keys(&self) -> io::Result<Vec<(String, String, i64)>> {
        let rows = self.query(&["run", "key", "version"], "FROM keys")?;
        Ok(rows
            .iter()
            .map(|row| (to_text(&row[0]), to_text(&row[1]), to_number(&row[2])))
            .collect())
    }

    /// Returns the number of open waits and the number of registered workers.
    pub(super) fn count_leftovers(&self) -> io::Result<(i64, i64)> {
        let columns = ["(SELECT count(*) FROM waits)", "(SELECT count(*) FROM workers)"];
        self.query_one(&columns, "").map(|row| (to_number(&row[0]), to_number(&row[1])))
    }

    /// Terminates every other connection to the server.
    pub(super) fn cut_connections(&self) -> io::Result<()> {
        let others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        self.query(&["pg_terminate_backend(pid)"], others).map(|_| ())
    }

    fn query_one(&self, columns: &[&str], from: &str) -> io::Result<Vec<Value>> {
        self.query(columns, from)?
            .pop()
            .ok_or_else(|| io::Error::other("the query returned no row"))
    }

    fn query(&self, columns: &[&str], from: &str) -> io::Result<Vec<Vec<Value>>> {
        match self {
            Self::File(file) if !file.is_file() => Ok(Vec::new()),
            Self::File(file) => query_file(file, columns, from).map_err(io::Error::other),
            Self::Server(server) => {
                let mut tries = 0;
                loop {
                    match query_server(server, columns, from) {
                        // The server may be restarting.
                        Err(_) if tries < MAX_QUERY_ATTEMPTS => tries += 1,
                        answer => return answer,
                    }
                    thread::sleep(Duration::from_millis(200));
                }
            }
        }
    }
}

/// How many times to query a server that does not answer.
const MAX_QUERY_ATTEMPTS: usize = 50;

fn query_file(file: &PathBuf, columns: &[&str], from: &str) -> rusqlite::Result<Vec<Vec<Value>>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.busy_timeout(Duration::from_secs(30))?;
    db.pragma_update(None, "query_only", true)?;
    let mut statement = db.prepare(&format!("SELECT {} {from}", columns.join(", ")))?;
    let rows = statement.query_map([], |row| {
        let column = |index| {
            Ok(match row.get_ref(index)? {
                ValueRef::Integer(number) => json!(number),
                ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
                _ => Value::Null,
            })
        };
        (0..columns.len()).map(column).collect::<rusqlite::Result<Vec<_>>>()
    })?;
    rows.collect()
}

fn query_server(server: &str, columns: &[&str], from: &str) -> io::Result<Vec<Vec<Value>>> {
    let sql = format!("SELECT json_build_array({}) {from}", columns.join(", "));
    let output = Command::new("psql")
        .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname", server])
        .args(["--command", &sql])
        .env("PGOPTIONS", "-c search_path=countersign -c countersign.all_tenants=on")
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let rows = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    rows.map_err(io::Error::other)
}

fn to_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn to_number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(-1)
}
