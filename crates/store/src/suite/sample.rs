//! Sample runs and commits for tests: every version of a sample run has two events.

use crate::{
    ActionRow, Blob, LoadedRun, LogEntryRow, NewRun, RunCommit, RunHead, RunHeadUpdate, RunId,
    SnapshotRow, Store, TenantId, WaitFilter, WaitRow,
};

/// Base time of all samples, in milliseconds since the Unix epoch.
pub const NOW: i64 = 1_763_200_000_000;

const CASES: [&str; 11] = [
    include_str!("commits.rs"),
    include_str!("refusals.rs"),
    include_str!("logs.rs"),
    include_str!("lists.rs"),
    include_str!("searches.rs"),
    include_str!("leases.rs"),
    include_str!("workers.rs"),
    include_str!("parking.rs"),
    include_str!("tenants.rs"),
    include_str!("crowds.rs"),
    include_str!("pruning.rs"),
];

/// Panics if `named` does not list every case of the suite, in order.
pub fn assert_all_cases_listed(named: &[&str]) {
    let lines = CASES.iter().flat_map(|text| text.lines());
    let written = lines.filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next());
    assert_eq!(written.collect::<Vec<_>>(), named);
}

/// The fixed properties of a sample run.
#[must_use]
pub fn new_run() -> NewRun {
    NewRun {
        protocol: "sha256:aa".into(),
        workflow: "intake".into(),
        created_at: NOW,
        ..NewRun::default()
    }
}

/// The log entry of a version.
#[must_use]
pub fn entry(version: u64) -> LogEntryRow {
    LogEntryRow {
        version,
        first_seq: 2 * version - 1,
        last_seq: 2 * version,
        time: NOW + version as i64,
        hash: format!("hash-{version}"),
        body: format!(r#"{{"version":{version}}}"#),
    }
}

/// The log entries of all versions up to `last`.
#[must_use]
pub fn entries(last: u64) -> Vec<LogEntryRow> {
    (1..=last).map(entry).collect()
}

/// A commit after `expected_version`, with two events.
#[must_use]
pub fn step(run: &RunId, expected_version: u64) -> RunCommit {
    let version = expected_version + 1;
    let head = RunHeadUpdate {
        status: "running".into(),
        phase: format!("phase-{version}"),
        updated_at: NOW + version as i64,
        summary: format!("step {version}"),
        ..RunHeadUpdate::default()
    };
    RunCommit::new(run.clone(), expected_version, entry(version), head)
}

/// A commit like [`step`], with a snapshot.
#[must_use]
pub fn step_with_snapshot(run: &RunId, expected_version: u64) -> RunCommit {
    let commit = step(run, expected_version);
    let (version, seq) = (commit.version, commit.entry.last_seq);
    let snapshot = Some(SnapshotRow { version, seq, body: format!(r#"{{"at":{version}}}"#) });
    RunCommit { snapshot, ..commit }
}

/// A commit like [`step`] that also has actions, a wait, a blob and a key, with names that begin
/// with `mark`.
#[must_use]
pub fn full_step(run: &RunId, expected_version: u64, mark: &str) -> RunCommit {
    RunCommit {
        actions: vec![action(&format!("{mark}-1")), action(&format!("{mark}-2"))],
        waits_opened: vec![wait(run, &format!("{mark}-wait"), Some(NOW + 60))],
        blobs: vec![blob(mark)],
        idempotency_key: Some(format!("{mark}-key")),
        wake_at: Some(NOW + 50),
        ..step_with_snapshot(run, expected_version)
    }
}

/// A sample action with this id.
#[must_use]
pub fn action(id: &str) -> ActionRow {
    ActionRow { id: id.into(), kind: "call_model".into(), body: format!(r#"{{"action":"{id}"}}"#) }
}

/// A sample wait of a run.
#[must_use]
pub fn wait(run: &RunId, id: &str, deadline: Option<i64>) -> WaitRow {
    WaitRow {
        id: id.into(),
        run: run.clone(),
        kind: "question".into(),
        opened_at: NOW,
        deadline,
        who: Vec::new(),
        body: r#"{"question":"?"}"#.into(),
    }
}

/// A sample blob whose digest is made from `name`.
#[must_use]
pub fn blob(name: &str) -> Blob {
    Blob { digest: format!("sha256:{name}"), bytes: vec![0, 255, 1, 254] }
}

/// Creates a run and advances it to a version.
pub async fn create_run_at_version(store: &dyn Store, run: &RunId, version: u64) {
    store.create_run(new_run(), step(run, 0)).await.unwrap();
    for expected in 1..version {
        store.append_commit(step(run, expected)).await.unwrap();
    }
}

/// Everything that a store returns about a run, for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    /// Head of the run.
    pub head: Option<RunHead>,
    /// The rows that the newest state is folded from.
    pub loaded: Option<LoadedRun>,
    /// All log entries of the run.
    pub log: Vec<LogEntryRow>,
    /// Pending actions of the run.
    pub actions: Vec<ActionRow>,
    /// Open waits of the run.
    pub waits: Vec<WaitRow>,
}

/// Loads everything about a run.
pub async fn load_stored_run(store: &dyn Store, run: &RunId) -> StoredRun {
    let waits = WaitFilter { run: Some(run.id.clone()), ..all_waits(&run.tenant) };
    StoredRun {
        head: store.load_head(run).await.unwrap(),
        loaded: store.load_run(run, None).await.unwrap(),
        log: store.read_log(run, 0, usize::MAX).await.unwrap(),
        actions: store.list_actions(run).await.unwrap(),
        waits: store.list_waits(&waits).await.unwrap(),
    }
}

/// Selects all open waits of a tenant.
#[must_use]
pub fn all_waits(tenant: &TenantId) -> WaitFilter {
    WaitFilter::all(tenant.clone(), usize::MAX)
}
