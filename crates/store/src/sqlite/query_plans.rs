//! Checks the query plans of the statements that read, on a store of 100,000 runs.
//!
//! A plan must name the index and every column that it searches by, because `SEARCH` alone may
//! read all runs of a tenant. The number of executed instructions shows that few rows are read.

use rusqlite::types::Value;
use rusqlite::{Connection, StatementStatus, params_from_iter};

use super::migrate::{RUNS_SCHEMA, migrate};
use super::{due_runs, queries, run_log, run_search, workers};

/// Runs of ten tenants: one in fifty is due, one in a thousand is held, one in a thousand is
/// parked, and a few have a rare status or workflow.
const FILL: &str = "
    CREATE TEMP TABLE numbers AS WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000) SELECT n FROM numbers;
    INSERT INTO runs (number, tenant, id, protocol, workflow, created_at, version, seq, hash, tail,
            status, phase, updated_at, summary, lease_worker, lease_epoch, lease_until, wake_at,
            actions, lease_version, lease_deaths, protocol_version, started_by, parent, title, asks,
            ended_at, input_tokens, output_tokens, cost)
        SELECT n, 'tenant-' || (n % 10), 'run-' || n, 'sha256:p', iif(n % 4000 = 5, 'rare', 'intake'),
            n, 1, 3, '', n,
            CASE WHEN n % 5000 = 5 THEN 'failed' WHEN n % 3 = 0 THEN 'done' ELSE 'waiting' END,
            'phase', n, 'a run', iif(n % 1000 = 0, 'worker', NULL), 1,
            iif(n % 1000 = 0, 9000000000000, 0), iif(n % 50 = 0, n, NULL), '',
            iif(n % 1000 = 5, 1, 0), iif(n % 1000 = 5, 3, 0), '1.0.0',
            iif(n % 4000 = 5, 'anna', 'ben'), iif(n % 2000 = 15, 'run-1055', NULL), 'a title', '',
            iif(n % 3 = 0, n + 5, NULL), 1, 1, 1
        FROM numbers;
    INSERT INTO run_terms SELECT 'tenant-' || (n % 10), word.value, n, 'run-' || n
        FROM numbers, (SELECT 'common' AS value UNION ALL SELECT 'usual') AS word;
    INSERT INTO run_terms SELECT 'tenant-' || (n % 10), 'rare', n, 'run-' || n
        FROM numbers WHERE n % 4000 = 5;
    INSERT INTO run_search SELECT n, 'common usual' FROM numbers;
    INSERT INTO log SELECT n, 0, n, 1, 1, 3, n, '', 'x' FROM numbers;
    INSERT INTO snapshots SELECT n, 1, n, 3, 'x' FROM numbers;
    INSERT INTO waits SELECT 'tenant-' || (n % 10), 'run-' || n, 'w1', 'question', n, NULL, NULL, 'x'
        FROM numbers;
    INSERT INTO keys SELECT 'tenant-' || (n % 10), 'run-' || n, 'k', 1 FROM numbers;
    INSERT INTO blobs SELECT 'tenant-' || (n % 10), 'sha256:' || n, x'00' FROM numbers;
    INSERT INTO protocols SELECT 'tenant-' || (n % 10), 'sha256:' || n, 'x' FROM numbers;
    INSERT INTO workers VALUES ('worker', 'h', 1, '1', 1, 1, 1, 9000000000000);";

/// The maximum number of instructions of a statement. Reading the 10,000 runs of a tenant takes
/// more.
const MAX_INSTRUCTIONS: i32 = 10_000;

/// A timestamp at which every run with a wake-up time is due.
const LATER: i64 = 1_000_000_000;

#[test]
fn hot_statements_go_by_indexes() {
    let mut db = Connection::open_in_memory().unwrap();
    migrate(&mut db, RUNS_SCHEMA).unwrap();
    db.execute_batch(&format!("BEGIN; {FILL} COMMIT;")).unwrap();
    for (sql, values, plan) in hot_statements() {
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = db.prepare(&explain).unwrap();
        let steps = statement.query_map(params_from_iter(&values), |row| row.get(3)).unwrap();
        assert_eq!(steps.collect::<Result<Vec<String>, _>>().unwrap(), plan, "{sql}");
        let mut statement = db.prepare(sql).unwrap();
        let found = statement.query_map(params_from_iter(&values), |_| Ok(())).unwrap().count();
        assert!(found > 0, "{sql} finds nothing");
        let instructions = statement.get_status(StatementStatus::VmStep);
        assert!(instructions < MAX_INSTRUCTIONS, "{sql}: {instructions} instructions");
    }
}

type HotStatement = (&'static str, Vec<Value>, Vec<&'static str>);

/// The plan of a statement about one run.
const BY_ID: &str = "SEARCH runs USING INDEX sqlite_autoindex_runs_1 (tenant=? AND id=?)";

/// The plan of a filter by assignees: it reads the few names that the caller gave.
const NAMES: &str = "CORRELATED SCALAR SUBQUERY 1";
const EACH_NAME: &str = "SCAN one VIRTUAL TABLE INDEX 1:";

/// The plan of a search: the rarest word, then its runs one by one, each asked for the other words.
const SEARCH: [&str; 6] = [
    "SEARCH hit USING PRIMARY KEY (tenant=? AND term=? AND created_at>? AND (created_at,run)<(?,?))",
    "CORRELATED SCALAR SUBQUERY 2",
    "SCAN other VIRTUAL TABLE INDEX 1:",
    "CORRELATED SCALAR SUBQUERY 1",
    "SEARCH also USING PRIMARY KEY (tenant=? AND term=? AND created_at=? AND run=?)",
    "SEARCH runs USING INDEX sqlite_autoindex_runs_1 (tenant=? AND id=?)",
];

/// The statements that a busy store runs, with values that match rows, and their plans.
#[expect(clippy::too_many_lines, reason = "a list of statements with their plans")]
fn hot_statements() -> Vec<HotStatement> {
    let text = |text: &str| Value::from(text.to_owned());
    let (tenant, run) = (text("tenant-5"), text("run-1055"));
    let one_run = vec![tenant.clone(), run.clone()];
    // The first page of a list, and the filters of a list.
    let filtered = |status: Value, workflow: Value, starter: Value| {
        let cursor = [i64::MAX.into(), Value::Blob(Vec::new())];
        let filters = [status, Value::Null, workflow, Value::Null, 20.into()];
        let more = [Value::Null, i64::MIN.into(), starter];
        let values = [tenant.clone()].into_iter().chain(cursor).chain(filters).chain(more);
        values.collect::<Vec<Value>>()
    };
    let list = |status: Value, workflow: Value| filtered(status, workflow, Value::Null);
    let search = |rarest: &str, others: &str| {
        let mut values = list(Value::Null, Value::Null);
        values.extend([text(rarest), text(others)]);
        values
    };
    let waits = |run: Value| {
        let values = [tenant.clone(), 0.into(), 0.into(), text(""), text(""), run];
        values.into_iter().chain([Value::Null, Value::Null, 20.into()]).collect::<Vec<Value>>()
    };
    let (later, worker) = (Value::from(LATER), text("other"));
    vec![
        (queries::HEAD, one_run.clone(), vec![BY_ID]),
        (
            queries::RUNS,
            list(Value::Null, Value::Null),
            vec![
                "SEARCH runs USING INDEX runs_newest (tenant=? AND created_at>? AND (created_at,id)<(?,?))",
            ],
        ),
        (
            queries::RUNS_BY_STATUS,
            list(text("failed"), Value::Null),
            vec![
                "SEARCH runs USING INDEX runs_status (tenant=? AND status=? AND created_at>? AND (created_at,id)<(?,?))",
            ],
        ),
        (
            queries::RUNS_BY_STATUS,
            list(text("failed"), text("rare")),
            vec![
                "SEARCH runs USING INDEX runs_status (tenant=? AND status=? AND created_at>? AND (created_at,id)<(?,?))",
            ],
        ),
        (
            queries::RUNS_BY_WORKFLOW,
            list(Value::Null, text("rare")),
            vec![
                "SEARCH runs USING INDEX runs_workflow (tenant=? AND workflow=? AND created_at>? AND (created_at,id)<(?,?))",
            ],
        ),
        (
            queries::RUNS_BY_STARTER,
            filtered(Value::Null, Value::Null, text("anna")),
            vec![
                "SEARCH runs USING INDEX runs_starter (tenant=? AND started_by=? AND created_at>? AND (created_at,id)<(?,?))",
            ],
        ),
        (queries::RUNS_BY_TERMS, search("common", "[]"), SEARCH.to_vec()),
        (queries::RUNS_BY_TERMS, search("rare", r#"["common"]"#), SEARCH.to_vec()),
        (
            run_search::TERM_COUNT,
            vec![tenant.clone(), text("common")],
            vec![
                "CO-ROUTINE (subquery-1)",
                "SEARCH run_terms USING PRIMARY KEY (tenant=? AND term=?)",
                "SCAN (subquery-1)",
            ],
        ),
        (
            run_search::TERMS,
            one_run.clone(),
            vec![
                "SEARCH run_search USING INTEGER PRIMARY KEY (rowid=?)",
                "SCALAR SUBQUERY 1",
                "SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_1 (tenant=? AND id=?)",
            ],
        ),
        (
            queries::CHILDREN,
            vec![tenant.clone(), run.clone(), 20.into()],
            vec!["SEARCH runs USING INDEX runs_children (tenant=? AND parent=?)"],
        ),
        (
            queries::OPEN_CHILDREN,
            vec![tenant.clone(), run.clone(), 20.into()],
            vec!["SEARCH runs USING INDEX runs_open_children (tenant=? AND parent=?)"],
        ),
        (
            queries::FIGURES,
            vec![tenant.clone(), 90_000.into(), 91_000.into(), Value::Null, 100.into()],
            vec![
                "SEARCH runs USING INDEX runs_newest (tenant=? AND created_at>? AND created_at<?)",
            ],
        ),
        (
            queries::FIGURES_BY_WORKFLOW,
            vec![tenant.clone(), 0.into(), 91_000.into(), text("rare"), 100.into()],
            vec![
                "SEARCH runs USING INDEX runs_workflow (tenant=? AND workflow=? AND created_at>? AND created_at<?)",
            ],
        ),
        (
            queries::PARKED,
            vec![tenant.clone(), later.clone(), 20.into()],
            vec!["SEARCH runs USING INDEX runs_parked (tenant=?)"],
        ),
        // The index has the order of the list.
        (
            queries::WAITS,
            waits(Value::Null),
            vec!["SEARCH waits USING INDEX waits_inbox (tenant=?)", NAMES, EACH_NAME],
        ),
        // This query sorts the open waits of one run.
        (
            queries::WAITS_OF_RUN,
            waits(run.clone()),
            vec![
                "SEARCH waits USING PRIMARY KEY (tenant=? AND run=?)",
                NAMES,
                EACH_NAME,
                "USE TEMP B-TREE FOR ORDER BY",
            ],
        ),
        (queries::ACTIONS, one_run.clone(), vec![BY_ID]),
        (
            queries::KEY_VERSION,
            vec![tenant.clone(), run.clone(), text("k")],
            vec!["SEARCH keys USING PRIMARY KEY (tenant=? AND run=? AND key=?)"],
        ),
        (
            queries::KEYS,
            one_run.clone(),
            vec!["SEARCH keys USING PRIMARY KEY (tenant=? AND run=?)"],
        ),
        (
            queries::BLOB,
            vec![tenant.clone(), text("sha256:1055")],
            vec!["SEARCH blobs USING INDEX sqlite_autoindex_blobs_1 (tenant=? AND digest=?)"],
        ),
        (
            queries::PROTOCOL,
            vec![tenant.clone(), text("sha256:1055")],
            vec![
                "SEARCH protocols USING INDEX sqlite_autoindex_protocols_1 (tenant=? AND digest=?)",
            ],
        ),
        (
            queries::RUNS_BY_PREFIX,
            vec![tenant.clone(), text("run-1055"), text("run-1056"), 16.into()],
            vec![
                "SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_1 (tenant=? AND id>? AND id<?)",
            ],
        ),
        (run_log::TAIL, one_run, vec![BY_ID]),
        (
            run_log::SNAPSHOT,
            vec![1055.into(), 8.into()],
            vec!["SEARCH snapshots USING INDEX sqlite_autoindex_snapshots_1 (run=? AND version<?)"],
        ),
        (
            run_log::NEXT_SNAPSHOT,
            vec![1055.into(), 1.into()],
            vec!["SEARCH snapshots USING INDEX sqlite_autoindex_snapshots_1 (run=? AND version>?)"],
        ),
        (run_log::ENTRY, vec![1055.into()], vec!["SEARCH log USING INTEGER PRIMARY KEY (rowid=?)"]),
        (
            due_runs::ANY_DUE,
            vec![later.clone(), worker.clone()],
            vec!["SEARCH runs USING INDEX runs_wake (wake_at>? AND wake_at<?)"],
        ),
        (
            due_runs::FIRST_DUE,
            vec![later.clone(), 16.into(), worker.clone()],
            vec!["SEARCH runs USING INDEX runs_wake (wake_at>? AND wake_at<?)"],
        ),
        (
            due_runs::NEXT_TENANT,
            vec![text("")],
            vec!["SEARCH runs USING COVERING INDEX runs_due (tenant>?)"],
        ),
        (
            due_runs::DUE_OF_TENANT,
            vec![text("tenant-0"), later.clone(), 16.into(), worker],
            vec!["SEARCH runs USING INDEX runs_due (tenant=? AND wake_at>? AND wake_at<?)"],
        ),
        (
            due_runs::LEASE_COUNT_OF_TENANT,
            vec![text("tenant-0"), later.clone()],
            vec!["SEARCH runs USING INDEX runs_held (tenant=?)"],
        ),
        // The leases of all tenants: the index has no other runs.
        (workers::LEASES, vec![later.clone(), 100.into()], vec!["SCAN runs USING INDEX runs_held"]),
        (
            workers::WORKERS,
            vec![later],
            vec![
                "MATERIALIZE (subquery-1)",
                "SCAN runs USING INDEX runs_held",
                "USE TEMP B-TREE FOR GROUP BY",
                "SCAN workers",
                "BLOOM FILTER ON (subquery-1) (lease_worker=?)",
                "SEARCH (subquery-1) USING AUTOMATIC COVERING INDEX (lease_worker=?) LEFT-JOIN",
            ],
        ),
    ]
}
