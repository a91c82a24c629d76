//! Checks the query plans of statements that must not walk a subject, on a subject that has
//! 100,000 rows in each table.
//!
//! A plan must name the index and every column that it searches by, because `SEARCH` alone may
//! read all rows of a subject. The number of executed instructions shows that few rows are read.

use rusqlite::types::Value;
use rusqlite::{Connection, StatementStatus, params_from_iter};

use super::super::revisioned_row::compute_task_digest;
use super::backend::SCHEMA;
use super::{builds, events, rows};
use crate::record::MemoryInsight;

/// One subject of a tenant with 100,000. Of its events, a third expires at a timestamp and a third with one of 10,000 runs;
/// of its insights, a half each. A row is used by twenty builds, a fact by one.
const FILL: &str = "
    CREATE TEMP TABLE numbers AS WITH RECURSIVE numbers (n) AS
        (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99999) SELECT n FROM numbers;
    INSERT INTO subjects (number, tenant, user, agent)
        SELECT n + 1, 't', 'u' || n, 'a' FROM numbers;
    INSERT INTO events (subject, session, position, id, expires_at, expires_with_run, body)
        SELECT 1, n / 100, n % 100, 'e' || n, iif(n % 3 = 1, n, NULL),
            iif(n % 3 = 2, 'run-' || (n % 10000), NULL), 'x' FROM numbers;
    INSERT INTO vectors (subject, embedder, session, position, body)
        SELECT 1, 'm', n / 100, n % 100, x'00' FROM numbers;
    INSERT INTO insights (subject, id, revision, current, ordering, expires_at, expires_with_run, body)
        SELECT 1, 'i' || n, 1, 1, n, iif(n % 2 = 1, n, NULL),
            iif(n % 2 = 0, 'run-' || (n % 10000), NULL), 'x' FROM numbers;
    INSERT INTO procedures (subject, id, revision, current, ordering, task_digest, body)
        SELECT 1, 'p' || n, 1, 1, n, iif(n % 1000 = 7, 'RARE', 'common'), 'x' FROM numbers;
    INSERT INTO context_builds (subject, id, body)
        SELECT 1, 'b' || n, 'x' FROM numbers WHERE n < 1000;
    INSERT INTO build_rows (subject, build, number, kind, id, revision, selected, score)
        SELECT 1, 'b' || (n / 100), n % 100, iif(n % 100 = 0, 'tenant_fact', 'quote'),
            iif(n % 100 = 0, 'f' || n, 'e' || (n % 5000)), 1, 1, '' FROM numbers;";

/// The maximum number of instructions of a statement. Reading the 100,000 rows of the subject
/// takes more.
const MAX_INSTRUCTIONS: i32 = 5_000;

#[test]
fn sweeps_builds_and_procedures_go_by_indexes() {
    let db = Connection::open_in_memory().unwrap();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    for step in SCHEMA.migrations {
        db.execute_batch(step.sql).unwrap();
    }
    let fill = FILL.replace("RARE", &compute_task_digest("rare"));
    db.execute_batch(&format!("BEGIN; {fill} COMMIT;")).unwrap();
    let (subject, run): (Value, Value) = (1.into(), "run-152".to_owned().into());
    let text = |text: &str| Value::from(text.to_owned());
    // Sweeping at the end of a run.
    for (sql, values, plan) in [
        (
            events::ENDED_WITH_RUN,
            vec![subject.clone(), run.clone()],
            "SEARCH events USING INDEX events_run_end (subject=? AND expires_with_run=?)",
        ),
        (
            events::EXPIRED,
            vec![subject.clone(), 20.into()],
            "SEARCH events USING INDEX events_expiring (subject=? AND expires_at<?)",
        ),
        (
            rows::INSIGHTS_ENDED_WITH_RUN,
            vec![subject.clone(), run],
            "SEARCH insights USING INDEX insights_run_end (subject=? AND expires_with_run=?)",
        ),
        (
            rows::EXPIRED_INSIGHTS,
            vec![subject.clone(), 20.into()],
            "SEARCH insights USING INDEX insights_expiring (subject=? AND expires_at<?)",
        ),
        (
            builds::USED,
            vec![text("e55"), subject.clone()],
            "SEARCH build_rows USING COVERING INDEX build_rows_id (id=? AND subject=?)",
        ),
        (
            events::REMOVE_VECTORS,
            vec![subject.clone(), 3.into(), 4.into()],
            "SEARCH vectors USING INDEX vectors_event (subject=? AND session=? AND position=?)",
        ),
        (
            events::REMOVE,
            vec![subject.clone(), 3.into(), 4.into()],
            "SEARCH events USING INDEX sqlite_autoindex_events_1 (subject=? AND session=? AND position=?)",
        ),
        (
            &*rows::build_remove_sql::<MemoryInsight>(),
            vec![subject.clone(), text("i55")],
            "SEARCH insights USING COVERING INDEX sqlite_autoindex_insights_1 (subject=? AND id=?)",
        ),
    ] {
        check_statement(&db, sql, &values, &[plan]);
    }
    // The rows of a period; only those of the same timestamp are sorted.
    check_statement(
        &db,
        &rows::build_period_sql::<MemoryInsight>(true),
        &[subject.clone(), 400.into(), 500.into(), 50.into()],
        &[
            "SEARCH insights USING INDEX insights_current (subject=? AND ordering>? AND ordering<?)",
            "USE TEMP B-TREE FOR LAST TERM OF ORDER BY",
        ],
    );
    // The rows of a build, and the builds of a row.
    check_statement(
        &db,
        builds::ONE,
        &[subject.clone(), text("b55")],
        &[
            "SEARCH context_builds USING INDEX sqlite_autoindex_context_builds_1 (subject=? AND id=?)",
        ],
    );
    check_statement(
        &db,
        builds::ROWS,
        &[subject.clone(), text("b55")],
        &["SEARCH build_rows USING PRIMARY KEY (subject=? AND build=?)"],
    );
    check_statement(
        &db,
        builds::REDACT_ID,
        &[text("f5500"), text("tenant_fact"), text("t"), text(""), text("")],
        &[
            "SEARCH build_rows USING INDEX build_rows_id (id=?)",
            "CORRELATED SCALAR SUBQUERY 1",
            "SEARCH subjects USING INTEGER PRIMARY KEY (rowid=?)",
        ],
    );
    // The procedures of a task type, in the order of the index.
    check_statement(
        &db,
        rows::PROCEDURES_OF_TASK,
        &[subject, compute_task_digest("rare").into(), 20.into()],
        &["SEARCH procedures USING INDEX procedures_task (subject=? AND task_digest=?)"],
    );
}

/// Checks the plan of a statement, that it finds rows, and that it reads few.
#[track_caller]
fn check_statement(db: &Connection, sql: &str, values: &[Value], plan: &[&str]) {
    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = statement.query_map(params_from_iter(values), |row| row.get(3)).unwrap();
    assert_eq!(steps.collect::<Result<Vec<String>, _>>().unwrap(), plan, "{sql}");
    let mut statement = db.prepare(sql).unwrap();
    let found = if statement.readonly() {
        statement.query_map(params_from_iter(values), |_| Ok(())).unwrap().count()
    } else {
        statement.execute(params_from_iter(values)).unwrap()
    };
    assert!(found > 0, "{sql} finds nothing");
    let instructions = statement.get_status(StatementStatus::VmStep);
    assert!(instructions < MAX_INSTRUCTIONS, "{sql}: {instructions} instructions");
}
