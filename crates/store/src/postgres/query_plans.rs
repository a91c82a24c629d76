//! Checks the query plans of the hot statements on tables that are large enough to matter.
//!
//! These tests are here, and not with the others, because they read the statements themselves.
//! `COUNTERSIGN_PLAN_RUNS` sets the number of runs (default: 100,000), each with ten versions.

use countersign_postgres::{PgConnectOptions, PgServer};
use tokio_postgres::{Client, NoTls};

use super::migrate::{RUNS_SCHEMA, migrate};
use super::{queries, run_search, workers};

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

/// Runs of ten tenants; one in fifty is due, one in a thousand is held.
const FILL: &str = "SET countersign.all_tenants = 'on'; SET synchronous_commit = off;
    INSERT INTO countersign.runs (tenant, id, created_at, version, seq, updated_at, wake_at,
        lease_epoch, lease_until, lease_worker, protocol, workflow, hash, status, phase, summary, started_by,
        parent, ended_at)
    SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'run-' || lpad(n::text, 9, '0'), n, 10, 30, n,
        CASE WHEN n % 50 = 0 THEN n WHEN n % 7 = 0 THEN 1000000000000 + n END, 1,
        CASE WHEN n % 1000 = 0 THEN 9000000000000 ELSE 0 END,
        CASE WHEN n % 1000 = 0 THEN 'worker' END,
        'sha256:p', CASE WHEN n % 4000 = 5 THEN 'rare' ELSE 'intake' END, repeat('0', 64),
        CASE WHEN n % 5000 = 5 THEN 'failed' WHEN n % 3 = 0 THEN 'done' ELSE 'waiting' END,
        'phase', 'a run', CASE WHEN n % 4000 = 5 THEN 'anna' ELSE 'ben' END,
        CASE WHEN n % 2000 = 15 THEN 'run-000001055' END, CASE WHEN n % 3 = 0 THEN n END
    FROM generate_series(1, RUNS) AS n;";
const FILL_OTHERS: &str = "
    INSERT INTO countersign.log
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'run-' || lpad(n::text, 9, '0'), v,
            3 * v - 2, 3 * v, n, repeat('0', 64), repeat('x', 300)
        FROM generate_series(1, RUNS) AS n, generate_series(1, 10) AS v;
    INSERT INTO countersign.snapshots
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'run-' || lpad(n::text, 9, '0'), 5, 15, 'x'
        FROM generate_series(1, RUNS) AS n;
    INSERT INTO countersign.waits
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'run-' || lpad(n::text, 9, '0'), 'w1', n,
            9223372036854775807, 'question', NULL, 'x'
        FROM generate_series(1, RUNS) AS n WHERE n % 3 <> 0;
    INSERT INTO countersign.run_terms
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), word, n, 'run-' || lpad(n::text, 9, '0')
        FROM generate_series(1, RUNS) AS n, unnest(ARRAY['common', 'usual']) AS word;
    INSERT INTO countersign.run_terms
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'rare', n, 'run-' || lpad(n::text, 9, '0')
        FROM generate_series(1, RUNS) AS n WHERE n % 4000 = 5;
    INSERT INTO countersign.keys
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'run-' || lpad(n::text, 9, '0'), 'k', 1
        FROM generate_series(1, RUNS) AS n;
    INSERT INTO countersign.actions
        SELECT 'tenant-' || lpad((n % 10)::text, 3, '0'), 'run-' || lpad(n::text, 9, '0'), 'a', 1, 1,
            'call_model', 'x'
        FROM generate_series(1, RUNS) AS n;";

#[tokio::test]
async fn hot_statements_go_by_indexes() {
    let Ok(base) = std::env::var(ADDRESS) else {
        let why =
            format!("{ADDRESS} is not set; `cargo xtask verify` starts a server where it can");
        testkit::report_not_run("postgres: hot_statements_go_by_indexes", &why);
        return;
    };
    let runs = std::env::var("COUNTERSIGN_PLAN_RUNS").ok().and_then(|runs| runs.parse().ok());
    let runs: u64 = runs.unwrap_or(100_000);
    let name = format!("plans{}", std::process::id());
    let admin = connect(&base).await;
    admin.batch_execute(&format!("CREATE ROLE r_{name} LOGIN")).await.unwrap();
    let create = format!("CREATE DATABASE {name} OWNER r_{name} TEMPLATE template0");
    admin.batch_execute(&create).await.unwrap();
    let (server, _) = base.rsplit_once('/').unwrap();
    let mighty = connect(&format!("{server}/{name}")).await;
    let url = format!("{server}/{name}").replace("tester@", &format!("r_{name}@"));
    migrate(&PgServer::parse(&url, &PgConnectOptions::default()).unwrap(), RUNS_SCHEMA)
        .await
        .unwrap();
    for statement in [FILL, FILL_OTHERS, "VACUUM ANALYZE"] {
        mighty.batch_execute(&statement.replace("RUNS", &runs.to_string())).await.unwrap();
    }
    drop(mighty);

    // Connects as the role that row security applies to.
    let client = connect(&url).await;
    for HotStatement { name, sql, values, index, conditions } in hot_statements() {
        let told = explain_plan(&client, sql, values).await;
        testkit::check_index_search(name, &told, index, conditions);
        // Few runs are held, or have the rare status or workflow, and the query reads no others.
        let reads_few = name.starts_with("runs of a ") || told.contains("runs_held");
        let sorts = told.contains("Sort Method") && !reads_few;
        assert!(!sorts, "{name} sorts:\n{told}");
        print_timing(name, &told, runs);
    }
    let take =
        "tenant, id FROM countersign.acquire_1('w', 1000000000, NULL, 30000, 16, NULL, NULL, '{}')";
    let began = std::time::Instant::now();
    let taken = client.query(&format!("SELECT {take}"), &[]).await.unwrap();
    assert_eq!(taken.len(), 16);
    print_timing("acquire_1", &format!("16 runs in {:?}", began.elapsed()), runs);
    drop(client);
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    admin.batch_execute(&format!("DROP ROLE r_{name}")).await.unwrap();
}

/// A statement that a busy store runs, with values, and how it must be searched.
struct HotStatement {
    name: &'static str,
    sql: &'static str,
    values: &'static [&'static str],
    index: &'static str,
    /// Conditions that the index must be searched by; without any, the whole index is read.
    conditions: &'static [&'static str],
}

/// The statements that a busy store runs, with values of a run in the middle.
#[expect(clippy::too_many_lines, reason = "a table, one entry per statement")]
fn hot_statements() -> [HotStatement; 20] {
    const TENANT: &str = "'tenant-005'";
    const RUN: &str = "'run-000001055'";
    [
        HotStatement {
            name: "head",
            sql: queries::HEAD,
            values: &[TENANT, RUN],
            index: "runs_pkey",
            conditions: &["(tenant =", "(id ="],
        },
        HotStatement {
            name: "runs",
            sql: queries::RUNS,
            values: &[
                TENANT, "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "20", "NULL", "NULL",
                "NULL",
            ],
            index: "runs_newest",
            conditions: &["(tenant ="],
        },
        HotStatement {
            name: "runs after",
            sql: queries::RUNS,
            values: &[
                TENANT,
                "19055",
                "'run-000019055'",
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "20",
                "NULL",
                "NULL",
                "NULL",
            ],
            index: "runs_newest",
            conditions: &["(tenant =", "(ROW(created_at, id) <"],
        },
        HotStatement {
            name: "runs of a status",
            sql: queries::RUNS_BY_STATUS,
            values: &[
                TENANT, "NULL", "NULL", "'failed'", "NULL", "NULL", "NULL", "20", "NULL", "NULL",
                "NULL",
            ],
            index: "runs_status",
            conditions: &["(tenant =", "(status ="],
        },
        HotStatement {
            name: "runs of a workflow",
            sql: queries::RUNS_BY_WORKFLOW,
            values: &[
                TENANT, "NULL", "NULL", "NULL", "NULL", "'rare'", "NULL", "20", "NULL", "NULL",
                "NULL",
            ],
            index: "runs_workflow",
            conditions: &["(tenant =", "(workflow ="],
        },
        HotStatement {
            name: "runs of a starter",
            sql: queries::RUNS_BY_STARTER,
            values: &[
                TENANT, "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "20", "NULL", "NULL",
                "'anna'",
            ],
            index: "runs_starter",
            conditions: &["(tenant =", "(started_by ="],
        },
        HotStatement {
            name: "found by a common word",
            sql: queries::RUNS_BY_TERMS,
            values: &[
                TENANT,
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "20",
                "NULL",
                "NULL",
                "NULL",
                "'common'",
                "ARRAY['usual']",
            ],
            index: "run_terms_pkey",
            conditions: &["(tenant =", "(term ="],
        },
        HotStatement {
            name: "runs of a rare word",
            sql: queries::RUNS_BY_TERMS,
            values: &[
                TENANT,
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "20",
                "NULL",
                "NULL",
                "NULL",
                "'rare'",
                "ARRAY['usual', 'common']",
            ],
            index: "run_terms_pkey",
            conditions: &["(tenant =", "(term ="],
        },
        HotStatement {
            name: "count of a word",
            sql: run_search::TERM_COUNT,
            values: &[TENANT, "'common'"],
            index: "run_terms_pkey",
            conditions: &["(tenant =", "(term ="],
        },
        HotStatement {
            name: "runs of a parent",
            sql: queries::CHILDREN,
            values: &[TENANT, "ARRAY['run-000001055']", "20"],
            index: "runs_children",
            conditions: &["(tenant =", "(parent ="],
        },
        HotStatement {
            name: "runs of a parent, open",
            sql: queries::OPEN_CHILDREN,
            values: &[TENANT, "ARRAY['run-000001055']", "20"],
            index: "runs_open_children",
            conditions: &["(tenant =", "(parent ="],
        },
        HotStatement {
            name: "figures",
            sql: run_search::FIGURES,
            values: &[TENANT, "0", "91000", "NULL", "100"],
            index: "runs_newest",
            conditions: &["(tenant =", "(created_at >=", "(created_at <"],
        },
        HotStatement {
            name: "runs of a workflow, figures",
            sql: run_search::FIGURES_BY_WORKFLOW,
            values: &[TENANT, "0", "91000", "'rare'", "100"],
            index: "runs_workflow",
            conditions: &["(tenant =", "(workflow =", "(created_at >=", "(created_at <"],
        },
        HotStatement {
            name: "snapshot",
            sql: queries::SNAPSHOT,
            values: &[TENANT, RUN, "8"],
            index: "snapshots_pkey",
            conditions: &["(tenant =", "(run =", "(version <="],
        },
        HotStatement {
            name: "entries",
            sql: queries::ENTRIES,
            values: &[TENANT, RUN, "8"],
            index: "log_pkey",
            conditions: &["(tenant =", "(run =", "(version <=", "(version >"],
        },
        HotStatement {
            name: "log",
            sql: queries::LOG,
            values: &[TENANT, RUN, "3", "5"],
            index: "log_pkey",
            conditions: &["(tenant =", "(run =", "(version >"],
        },
        HotStatement {
            name: "waits",
            sql: queries::WAITS,
            values: &[TENANT, "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "20"],
            index: "waits_inbox",
            conditions: &["(tenant ="],
        },
        HotStatement {
            name: "keyed",
            sql: queries::KEY_VERSION,
            values: &[TENANT, RUN, "'k'"],
            index: "keys_pkey",
            conditions: &["(tenant =", "(run =", "(key ="],
        },
        HotStatement {
            name: "starting",
            sql: queries::RUNS_BY_PREFIX,
            values: &[TENANT, "'run-00000'", "'run-00001'", "16"],
            index: "runs_pkey",
            conditions: &["(tenant =", "(id >=", "(id <"],
        },
        HotStatement {
            name: "held",
            sql: workers::LEASES,
            values: &["NULL", "100"],
            index: "runs_held",
            conditions: &[],
        },
    ]
}

async fn explain_plan(client: &Client, sql: &str, values: &[&str]) -> String {
    let mut asked = sql.to_owned();
    for (place, value) in values.iter().enumerate().rev() {
        asked = asked.replace(&format!("${}", place + 1), value);
    }
    let across = if sql == workers::LEASES {
        "countersign.all_tenants = 'on'"
    } else {
        "countersign.tenant = 'tenant-005'"
    };
    client.batch_execute(&format!("BEGIN; SET LOCAL {across}")).await.unwrap();
    let rows = client.query(&format!("EXPLAIN (ANALYZE, COSTS off) {asked}"), &[]).await.unwrap();
    client.batch_execute("COMMIT").await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

/// With many runs this is a measurement, so it prints its figures.
fn print_timing(name: &str, told: &str, runs: u64) {
    if runs > 100_000 {
        let time = told.lines().find(|line| line.starts_with("Execution Time")).unwrap_or(told);
        eprintln!("{name:<12}{}", time.trim_start_matches("Execution Time: "));
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    client
}
