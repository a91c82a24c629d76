//! Rows by the million, made inside the server.

use tokio_postgres::Client;

/// How much there is to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) runs: i64,
    pub(super) versions: i64,
    pub(super) tenants: i64,
}

/// Which of the runs wait for a person, and which are due: one in so many.
pub(super) const WAITING: i64 = 10;
pub(super) const DUE: i64 = 1_000;

/// The tenant and the id of a run by its number, as the statements below write them.
pub(super) fn name(size: Size, number: i64) -> (String, String) {
    (format!("t{:04}", number % size.tenants), format!("run-{number:09}"))
}

/// Fills the tables. They must be there, and empty.
pub(super) async fn fill(client: &Client, size: Size) -> Result<(), tokio_postgres::Error> {
    let Size { runs, versions, tenants } = size;
    // The rows are of many tenants, and a table's owner is held to one: the wall is lowered for whoever
    // made it, for as long as this takes.
    let tables = ["runs", "log", "snapshots", "waits", "actions"];
    for table in tables {
        let open = format!("ALTER TABLE countersign.{table} NO FORCE ROW LEVEL SECURITY");
        client.batch_execute(&open).await?;
    }
    let numbers = format!("generate_series(0, {runs} - 1) AS n");
    let who =
        format!("'t' || lpad((n % {tenants})::text, 4, '0'), 'run-' || lpad(n::text, 9, '0')");
    client
        .batch_execute(&format!(
            "INSERT INTO countersign.runs (tenant, id, created_at, version, seq, updated_at, wake_at,
                lease_epoch, lease_until, protocol, workflow, hash, status, phase, summary)
            SELECT {who}, 1700000000000 + n, {versions}, {versions}, 1700000000000 + n,
                CASE WHEN n % {DUE} = 0 THEN 1700000000000 + n END, 0, 0, repeat('a', 64), 'main',
                md5(n::text) || md5(n::text),
                CASE WHEN n % {DUE} = 0 THEN 'running' WHEN n % {WAITING} = 1 THEN 'waiting' ELSE 'done' END,
                'work', 'a run of the scale trial'
            FROM {numbers};
            INSERT INTO countersign.snapshots (tenant, run, version, seq, body)
            SELECT {who}, 1, 1, repeat(md5(n::text), 16) FROM {numbers};
            INSERT INTO countersign.waits (tenant, run, id, opened_at, deadline, kind, who, body)
            SELECT {who}, 'w1', 1700000000000 + n,
                CASE WHEN n % 3 = 0 THEN 9223372036854775807 ELSE 1800000000000 + n END,
                'question', NULL, '{{\"question\":\"How many?\"}}'
            FROM {numbers} WHERE n % {WAITING} = 1;
            INSERT INTO countersign.actions (tenant, run, id, version, place, kind, body)
            SELECT {who}, 'a1', {versions}, 1, 'ask', '{{}}' FROM {numbers} WHERE n % {DUE} = 0;"
        ))
        .await?;
    // A version at a time, as runs are written: those of one run do not lie side by side.
    for version in 1..=versions {
        client
            .batch_execute(&format!(
                "INSERT INTO countersign.log (tenant, run, version, first, last, time, hash, body)
                SELECT {who}, {version}, {version}, {version}, 1700000000000 + n,
                    md5(n::text) || md5({version}::text), repeat(md5((n + {version})::text), 10)
                FROM {numbers}"
            ))
            .await?;
    }
    for table in tables {
        let closed = format!("ALTER TABLE countersign.{table} FORCE ROW LEVEL SECURITY");
        client.batch_execute(&closed).await?;
    }
    client.batch_execute("ANALYZE").await
}
