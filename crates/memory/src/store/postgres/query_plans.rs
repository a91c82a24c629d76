//! Checks the query plans of statements that must not walk a subject, on a subject that has
//! 100,000 rows in each table.

use countersign_postgres::{PgConnectOptions, PgServer};
use countersign_store::PostgresSettings;
use tokio_postgres::{Client, NoTls};

use super::super::revisioned_row::compute_task_digest;
use super::{PostgresMemory, builds, events, facts, index, rows, transaction};
use crate::record::MemoryInsight;

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

/// One subject of a tenant with 100,000. Of its events, a third expires at a timestamp and a third with one of 10,000 runs;
/// of its insights, a half each. A row is used by twenty builds, a fact by one.
const FILL: &str = "SET synchronous_commit = off;
    INSERT INTO countersign.memory_subjects (tenant, number, user_id, agent, index_version)
        OVERRIDING SYSTEM VALUE
        SELECT 't', n, 'u' || n, 'a', '' FROM generate_series(1, 100000) AS n;
    INSERT INTO countersign.memory_events
            (tenant, subject, session, position, id, expires_at, expires_with_run, body)
        SELECT 't', 1, n / 100, n % 100, 'e' || n, CASE n % 3 WHEN 1 THEN n END,
            CASE n % 3 WHEN 2 THEN 'run-' || (n % 10000) END, 'x'
        FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_vectors (tenant, subject, embedder, session, position, body)
        SELECT 't', 1, 'm', n / 100, n % 100, 'x' FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_insights
            (tenant, subject, id, revision, current, ordering, expires_at, expires_with_run, body)
        SELECT 't', 1, 'i' || n, 1, true, n, CASE n % 2 WHEN 1 THEN n END,
            CASE n % 2 WHEN 0 THEN 'run-' || (n % 10000) END, 'x'
        FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_procedures
            (tenant, subject, id, revision, current, ordering, task_digest, body)
        SELECT 't', 1, 'p' || n, 1, true, n, CASE n % 1000 WHEN 7 THEN 'RARE' ELSE 'common' END, 'x'
        FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_context_builds (tenant, subject, id, session, built_at, body)
        SELECT 't', 1, 'b' || n, 's', n, 'x' FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_build_rows
            (tenant, subject, build, number, kind, id, revision, selected, score)
        SELECT 't', 1, 'b' || (n / 100), n % 100,
            CASE n % 100 WHEN 0 THEN 'tenant_fact' ELSE 'quote' END,
            CASE n % 100 WHEN 0 THEN 'f' || n ELSE 'e' || (n % 5000) END, 1, true, ''
        FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_terms (tenant, subject, term, df, blocks, tail)
        SELECT 't', 1, 'e' || n, 1, 0, 'x' FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_fact_evidence
            (tenant, subject, fact, revision, piece, source, event, quote)
        SELECT 't', 1, 'e' || n, 1, 0, 1, 'e', 'null' FROM generate_series(0, 99999) AS n;
    INSERT INTO countersign.memory_tombstones (tenant, hash, erased_at)
        SELECT 't', 'e' || n, 1 FROM generate_series(0, 99999) AS n;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweeps_builds_and_procedures_go_by_indexes() {
    let Ok(base) = std::env::var(ADDRESS) else {
        let why =
            format!("{ADDRESS} is not set; `cargo xtask verify` starts a server where it can");
        testkit::report_not_run("memory in postgres: query plans", &why);
        return;
    };
    let name = format!("memory_plans{}", std::process::id());
    let admin = connect(&base).await;
    admin.batch_execute(&format!("CREATE ROLE r_{name} LOGIN")).await.unwrap();
    let create = format!("CREATE DATABASE {name} OWNER r_{name} TEMPLATE template0");
    admin.batch_execute(&create).await.unwrap();
    let (server, _) = base.rsplit_once('/').unwrap();
    let url = format!("{server}/{name}").replace("tester@", &format!("r_{name}@"));
    let own_server = PgServer::parse(&url, &PgConnectOptions::default()).unwrap();
    drop(PostgresMemory::open(own_server, PostgresSettings::default()).await.unwrap());
    // Row-level security does not apply to the superuser that fills the tables.
    let filler = connect(&format!("{server}/{name}")).await;
    filler.batch_execute(&FILL.replace("RARE", &compute_task_digest("rare"))).await.unwrap();
    filler.batch_execute("VACUUM ANALYZE").await.unwrap();
    drop(filler);

    let client = connect(&url).await;
    for (sql, values, index, conditions) in hot_statements() {
        let plan = explain_plan(&client, &sql, &values).await;
        testkit::check_index_search(&sql, &plan, index, conditions);
        // Evidence is sorted, and only that of the requested facts.
        assert!(sql == facts::EVIDENCE || !plan.contains("Sort Method"), "{sql} sorts:\n{plan}");
    }
    drop(client);
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    admin.batch_execute(&format!("DROP ROLE r_{name}")).await.unwrap();
}

type HotStatement = (String, Vec<String>, &'static str, &'static [&'static str]);

/// Statements with their values, and the index that each must search by these conditions.
#[expect(clippy::too_many_lines, reason = "a list of statements with their indexes")]
fn hot_statements() -> Vec<HotStatement> {
    const TENANT: &str = "'t'";
    const SUBJECT: &str = "1";
    // More ids than one, because the server estimates the rows for all of them.
    let ids: Vec<String> = (1000..1500).map(|number| format!("'e{number}'")).collect();
    let ids = format!("ARRAY[{}]", ids.join(", "));
    let revisions = format!("ARRAY[{}]", vec!["1"; 500].join(", "));
    let digest = format!("'{}'", compute_task_digest("rare"));
    vec![
        // Sweeping at the end of a run.
        build_hot_statement(
            events::ENDED_WITH_RUN,
            &[TENANT, SUBJECT, "'run-152'"],
            "memory_events_run_end",
            &["(tenant =", "(subject =", "(expires_with_run ="],
        ),
        build_hot_statement(
            events::EXPIRED,
            &[TENANT, SUBJECT, "20"],
            "memory_events_expiring",
            &["(tenant =", "(subject =", "(expires_at <"],
        ),
        build_hot_statement(
            rows::INSIGHTS_ENDED_WITH_RUN,
            &[TENANT, SUBJECT, "'run-152'"],
            "memory_insights_run_end",
            &["(tenant =", "(subject =", "(expires_with_run ="],
        ),
        build_hot_statement(
            rows::EXPIRED_INSIGHTS,
            &[TENANT, SUBJECT, "20"],
            "memory_insights_expiring",
            &["(tenant =", "(subject =", "(expires_at <"],
        ),
        build_hot_statement(
            builds::USED,
            &[TENANT, SUBJECT, &ids],
            "memory_build_rows_id",
            &["(tenant =", "(id = asked.id)", "(subject ="],
        ),
        build_hot_statement(
            events::REMOVE,
            &[TENANT, SUBJECT, "ARRAY[3, 5]", "ARRAY[4, 6]"],
            "memory_events_pkey",
            &["(tenant =", "(subject =", "(session =", "(\"position\" ="],
        ),
        build_hot_statement(
            events::REMOVE_VECTORS,
            &[TENANT, SUBJECT, "ARRAY[3, 5]", "ARRAY[4, 6]"],
            "memory_vectors_event",
            &["(tenant =", "(subject =", "(session =", "(\"position\" ="],
        ),
        build_hot_statement(
            &rows::build_remove_sql::<MemoryInsight>(),
            &[TENANT, SUBJECT, "'i55'"],
            "memory_insights_pkey",
            &["(tenant =", "(subject =", "(id ="],
        ),
        build_hot_statement(
            index::TERMS,
            &[TENANT, SUBJECT, &ids],
            "memory_terms_pkey",
            &["(tenant =", "(subject =", "(term = asked.term)"],
        ),
        build_hot_statement(
            index::DROP_TERM,
            &[TENANT, SUBJECT, "'e55'"],
            "memory_terms_pkey",
            &["(tenant =", "(subject =", "(term ="],
        ),
        // The rows of a build, and the builds of a row.
        build_hot_statement(
            builds::ONE,
            &[TENANT, SUBJECT, "'b55'"],
            "memory_context_builds_pkey",
            &["(tenant =", "(subject =", "(id ="],
        ),
        build_hot_statement(
            builds::ROWS,
            &[TENANT, SUBJECT, "'b55'"],
            "memory_build_rows_pkey",
            &["(tenant =", "(subject =", "(build ="],
        ),
        build_hot_statement(
            builds::REDACT_ID,
            &[TENANT, SUBJECT, "'f5500'", "'tenant_fact'", "''", "''"],
            "memory_build_rows_id",
            &["(tenant =", "(id ="],
        ),
        build_hot_statement(
            events::BY_ID,
            &[TENANT, SUBJECT, &ids],
            "memory_events_tenant_subject_id_key",
            &["(tenant =", "(subject =", "(id = asked.id)"],
        ),
        build_hot_statement(
            facts::EVIDENCE,
            &[TENANT, SUBJECT, &ids, &revisions],
            "memory_fact_evidence_pkey",
            &["(tenant =", "(subject =", "(fact = asked.fact)", "(revision = asked.revision)"],
        ),
        build_hot_statement(
            transaction::FIND_TOMBSTONES,
            &[TENANT, &ids],
            "memory_tombstones_pkey",
            &["(tenant =", "(hash = asked.hash)"],
        ),
        // The procedures of a task type, in the order of the index.
        build_hot_statement(
            rows::PROCEDURES_OF_TASK,
            &[TENANT, SUBJECT, &digest, "20"],
            "memory_procedures_task",
            &["(tenant =", "(subject =", "(task_digest ="],
        ),
    ]
}

fn build_hot_statement(
    sql: &str,
    values: &[&str],
    index: &'static str,
    conditions: &'static [&'static str],
) -> HotStatement {
    (sql.to_owned(), values.iter().map(|value| (*value).to_owned()).collect(), index, conditions)
}

/// Returns the plan of a statement, which runs and is rolled back.
async fn explain_plan(client: &Client, sql: &str, values: &[String]) -> String {
    let mut statement = sql.to_owned();
    for (place, value) in (1..).zip(values) {
        statement = statement.replace(&format!("${place}"), value);
    }
    client.batch_execute("BEGIN; SET LOCAL countersign.tenant = 't'").await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, COSTS off) {statement}");
    let lines = client.query(&explain, &[]).await.unwrap();
    client.batch_execute("ROLLBACK").await.unwrap();
    lines.iter().map(|line| line.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    client
}
