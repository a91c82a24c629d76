//! The schema of a database, brought forward in numbered steps, each in one transaction under a lock
//! that all programs take. Never backward.
//!
//! A step says which older programs may go on beside it, so that workers can be replaced one by one.

use countersign_postgres::{PgError, PgServer};
use tokio_postgres::Client;

use crate::StoreError;
use crate::checksum::sql_checksum;

/// What a database is known by, and how it came to be what it is.
#[derive(Debug, Clone, Copy)]
pub struct PostgresSchema {
    /// The schema that holds everything, as SQL names it.
    pub name: &'static str,
    /// The table in it that counts the steps. Its name ends in `migrations`: two that share a schema know each
    /// other by that.
    pub migrations_table: &'static str,
    /// Every step, in order.
    pub migrations: &'static [PostgresMigration],
}

/// One step of a schema. Its text never changes once it has been released.
#[derive(Debug, Clone, Copy)]
pub struct PostgresMigration {
    /// From 1, without a gap.
    pub number: u32,
    /// What it brought.
    pub name: &'static str,
    /// The oldest program that may go on beside it, by the newest step that one knows.
    pub serves: u32,
    /// Its statements.
    pub sql: &'static str,
}

/// The databases that runs are kept in.
pub(super) const RUNS_SCHEMA: PostgresSchema = PostgresSchema {
    name: "countersign",
    migrations_table: "migrations",
    migrations: &[
        PostgresMigration {
            number: 1,
            name: "runs",
            serves: 1,
            sql: include_str!("migrations/0001_runs.sql"),
        },
        PostgresMigration {
            number: 2,
            name: "pruning",
            serves: 1,
            sql: include_str!("migrations/0002_pruning.sql"),
        },
    ],
};

/// What all programs lock while they bring a schema forward: the bytes "CNTS".
const MIGRATION_LOCK_KEY: i64 = 0x434E_5453;

/// A step that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AppliedMigration {
    number: u32,
    serves: u32,
    checksum: String,
}

/// Brings a database to the newest schema and gives the one it has then. Several may do so at once.
pub(super) async fn migrate(server: &PgServer, schema: PostgresSchema) -> Result<u32, StoreError> {
    // Not one of the pool's: what is dropped in the middle must not be used again.
    let client = server.connect().await?;
    loop {
        let found = load_applied_migrations(&client, schema).await?;
        let Some(_) = next_migration(&found, schema)? else { return Ok(newest_number(&found)) };
        client.batch_execute("BEGIN").await.map_err(to_store_error)?;
        apply_next_migration(&client, schema).await?;
        client.batch_execute("COMMIT").await.map_err(to_store_error)?;
    }
}

/// The schema a database has; 0 where it has none yet.
pub(super) async fn read_schema_version(
    client: &Client,
    schema: PostgresSchema,
) -> Result<u32, StoreError> {
    Ok(newest_number(&load_applied_migrations(client, schema).await?))
}

async fn apply_next_migration(client: &Client, schema: PostgresSchema) -> Result<(), StoreError> {
    let lock = format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK_KEY})");
    client.batch_execute(&lock).await.map_err(to_store_error)?;
    // Asked again under the lock: another program may have done it meanwhile.
    let found = load_applied_migrations(client, schema).await?;
    let Some(step) = next_migration(&found, schema)? else { return Ok(()) };
    let PostgresMigration { number, name, serves, sql } = step;
    let PostgresSchema { name: space, migrations_table: ledger, .. } = schema;
    let prepared = format!(
        "DO $$ BEGIN
            IF to_regnamespace('{space}') IS NULL THEN CREATE SCHEMA {space}; END IF;
        END $$;
        CREATE TABLE IF NOT EXISTS {space}.{ledger} (number integer PRIMARY KEY, name text NOT NULL,
            serves integer NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL);
        {sql}
        INSERT INTO {space}.{ledger} VALUES ({number}, '{name}', {serves}, '{}', now());",
        sql_checksum(sql)
    );
    client.batch_execute(&prepared).await.map_err(to_store_error)
}

fn newest_number(found: &[AppliedMigration]) -> u32 {
    found.last().map_or(0, |step| step.number)
}

/// The first step that was not applied; checks those that were.
fn next_migration(
    found: &[AppliedMigration],
    schema: PostgresSchema,
) -> Result<Option<&'static PostgresMigration>, StoreError> {
    let known = schema.migrations.last().map_or(0, |last| last.number);
    let serves = found.iter().map(|step| step.serves).max().unwrap_or_default();
    if newest_number(found) > known && serves > known {
        return Err(StoreError::SchemaTooNew { found: newest_number(found), known });
    }
    for (step, found) in schema.migrations.iter().zip(found) {
        if step.number != found.number || sql_checksum(step.sql) != found.checksum {
            let what = format!(
                "schema step {} is not the one this program knows as `{}`",
                found.number, step.name
            );
            return Err(StoreError::Corrupt { reason: what });
        }
    }
    Ok(schema.migrations.get(found.len()))
}

async fn load_applied_migrations(
    client: &Client,
    schema: PostgresSchema,
) -> Result<Vec<AppliedMigration>, StoreError> {
    let PostgresSchema { name: space, migrations_table: ledger, .. } = schema;
    let look = format!(
        "SELECT to_regclass('{space}.{ledger}') IS NOT NULL,
            EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('{space}'))
                AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('{space}')
                    AND relkind = 'r' AND relname LIKE '%migrations')"
    );
    // Unnamed, like every statement of ours: between two of them a pooler may change the session.
    let row = client.query_typed_one(&look, &[]).await.map_err(to_store_error)?;
    match (row.get(0), row.get(1)) {
        (true, _) => {}
        (false, true) => return Err(StoreError::ForeignDatabase),
        (false, false) => return Ok(Vec::new()),
    }
    let look = format!("SELECT number, serves, checksum FROM {space}.{ledger} ORDER BY number");
    let rows = client.query_typed(&look, &[]).await.map_err(to_store_error)?;
    let read = |row: &tokio_postgres::Row| AppliedMigration {
        number: row.get::<_, i32>(0) as u32,
        serves: row.get::<_, i32>(1) as u32,
        checksum: row.get(2),
    };
    Ok(rows.iter().map(read).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "it is the end of an error")]
fn to_store_error(error: tokio_postgres::Error) -> StoreError {
    PgError::from_client_error(&error).into()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_step() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/postgres/migrations");
        let mut files: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let steps = RUNS_SCHEMA
            .migrations
            .iter()
            .map(|step| format!("{:04}_{}.sql", step.number, step.name));
        assert_eq!(files, steps.collect::<Vec<_>>());
        let numbers = RUNS_SCHEMA.migrations.iter().map(|step| step.number);
        assert!(numbers.eq(1..=RUNS_SCHEMA.migrations.len() as u32));
    }

    #[test]
    fn released_steps_do_not_change() {
        let sums: Vec<String> =
            RUNS_SCHEMA.migrations.iter().map(|step| sql_checksum(step.sql)).collect();
        assert_eq!(
            sums,
            [
                "ae90c8a7207ca981389010ea88bc5b4fea93f434deaefbf2e1844b4ba36f9997",
                "d01f05e94724d3ae240af0b940146d71b740e27eed7ece2d224a0b54174f5361",
            ]
        );
    }
}
