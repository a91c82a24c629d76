//! Runs and commits for tests: every version of a sample run has two events.

use crate::{
    ActionRow, Blob, LoadedRun, LogEntryRow, NewRun, RunCommit, RunHead, RunHeadUpdate, RunId,
    SnapshotRow, Store, TenantId, WaitFilter, WaitRow,
};

/// When everything in samples happens.
pub const NOW: i64 = 1_763_200_000_000;

const CASES: [&str; 10] = [
    include_str!("commits.rs"),
    include_str!("refusals.rs"),
    include_str!("logs.rs"),
    include_str!("lists.rs"),
    include_str!("leases.rs"),
    include_str!("workers.rs"),
    include_str!("parking.rs"),
    include_str!("tenants.rs"),
    include_str!("crowds.rs"),
    include_str!("pruning.rs"),
];

/// Panics where the suite has a case that is not named.
pub fn assert_all_cases_listed(named: &[&str]) {
    let lines = CASES.iter().flat_map(|text| text.lines());
    let written = lines.filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next());
    assert_eq!(written.collect::<Vec<_>>(), named);
}

/// A run as it begins.
#[must_use]
pub fn new_run() -> NewRun {
    NewRun { protocol: "sha256:aa".into(), workflow: "intake".into(), created_at: NOW }
}

/// The entry of a version.
#[must_use]
pub fn entry(version: u64) -> LogEntryRow {
    LogEntryRow {
        version,
        first: 2 * version - 1,
        last: 2 * version,
        time: NOW + version as i64,
        hash: format!("hash-{version}"),
        body: format!(r#"{{"version":{version}}}"#),
    }
}

/// The entries of the versions up to one.
#[must_use]
pub fn entries(last: u64) -> Vec<LogEntryRow> {
    (1..=last).map(entry).collect()
}

/// The step after a version, with two events.
#[must_use]
pub fn step(run: &RunId, expected_version: u64) -> RunCommit {
    let version = expected_version + 1;
    let head = RunHeadUpdate {
        status: "running".into(),
        phase: format!("phase-{version}"),
        updated_at: NOW + version as i64,
        summary: format!("step {version}"),
    };
    RunCommit::new(run.clone(), expected_version, entry(version), head)
}

/// The same with a snapshot.
#[must_use]
pub fn step_with_snapshot(run: &RunId, expected_version: u64) -> RunCommit {
    let commit = step(run, expected_version);
    let (version, seq) = (commit.version, commit.entry.last);
    let snapshot = Some(SnapshotRow { version, seq, body: format!(r#"{{"at":{version}}}"#) });
    RunCommit { snapshot, ..commit }
}

/// The same with something of everything, under names that begin with `mark`.
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

/// An action.
#[must_use]
pub fn action(id: &str) -> ActionRow {
    ActionRow { id: id.into(), kind: "call_model".into(), body: format!(r#"{{"action":"{id}"}}"#) }
}

/// A wait.
#[must_use]
pub fn wait(run: &RunId, id: &str, deadline: Option<i64>) -> WaitRow {
    WaitRow {
        id: id.into(),
        run: run.clone(),
        kind: "question".into(),
        opened_at: NOW,
        deadline,
        who: None,
        body: r#"{"question":"?"}"#.into(),
    }
}

/// Bytes.
#[must_use]
pub fn blob(name: &str) -> Blob {
    Blob { digest: format!("sha256:{name}"), bytes: vec![0, 255, 1, 254] }
}

/// Creates a run and takes it to a version.
pub async fn create_run_at_version(store: &dyn Store, run: &RunId, version: u64) {
    store.create_run(new_run(), step(run, 0)).await.unwrap();
    for expected in 1..version {
        store.append_commit(step(run, expected)).await.unwrap();
    }
}

/// Everything a store tells of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    /// Its head.
    pub head: Option<RunHead>,
    /// Its state.
    pub loaded: Option<LoadedRun>,
    /// Its log.
    pub log: Vec<LogEntryRow>,
    /// What it has to do.
    pub actions: Vec<ActionRow>,
    /// What it waits for.
    pub waits: Vec<WaitRow>,
}

/// Asks for everything about a run.
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

/// The whole inbox of a tenant.
#[must_use]
pub fn all_waits(tenant: &TenantId) -> WaitFilter {
    WaitFilter::all(tenant.clone(), usize::MAX)
}
