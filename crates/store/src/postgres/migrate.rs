//! Migrates the schema of a database in numbered steps, each in one transaction under a lock that
//! all programs take. There are no downgrades.
//!
//! A migration says which older programs may keep running beside it, so that workers can be
//! replaced one by one.

use countersign_postgres::{PgError, PgServer};
use tokio_postgres::Client;

use crate::StoreError;
use crate::checksum::sql_checksum;

/// A database schema and its migrations.
#[derive(Debug, Clone, Copy)]
pub struct PostgresSchema {
    /// Name of the SQL schema that contains everything.
    pub name: &'static str,
    /// Table in that schema that records the migrations. Its name ends in `migrations`; two sets of
    /// tables that share a schema recognize each other by that.
    pub migrations_table: &'static str,
    /// All migrations, in order.
    pub migrations: &'static [PostgresMigration],
}

/// One migration. Its SQL never changes once it has been released.
#[derive(Debug, Clone, Copy)]
pub struct PostgresMigration {
    /// Number of the migration, from 1 without a gap.
    pub number: u32,
    /// Short name of what it adds.
    pub name: &'static str,
    /// The oldest program that may keep running beside it, given as the newest migration that this
    /// program knows.
    pub compatible_from: u32,
    /// The SQL statements of the migration.
    pub sql: &'static str,
}

/// The schema of databases that hold runs.
pub(super) const RUNS_SCHEMA: PostgresSchema = PostgresSchema {
    name: "countersign",
    migrations_table: "migrations",
    migrations: &[
        PostgresMigration {
            number: 1,
            name: "runs",
            compatible_from: 1,
            sql: include_str!("migrations/0001_runs.sql"),
        },
        PostgresMigration {
            number: 2,
            name: "pruning",
            compatible_from: 1,
            sql: include_str!("migrations/0002_pruning.sql"),
        },
    ],
};

/// Key of the advisory lock that all programs take while they migrate: the bytes "CNTS".
const MIGRATION_LOCK_KEY: i64 = 0x434E_5453;

/// A migration that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AppliedMigration {
    number: u32,
    compatible_from: u32,
    checksum: String,
}

/// Migrates a database to the newest schema and returns the version it has then. Several programs
/// may do so at once.
pub(super) async fn migrate(server: &PgServer, schema: PostgresSchema) -> Result<u32, StoreError> {
    // Not a pooled connection: a call that is dropped midway must not leave it to others.
    let client = server.connect().await?;
    loop {
        let found = load_applied_migrations(&client, schema).await?;
        let Some(_) = next_migration(&found, schema)? else { return Ok(newest_number(&found)) };
        client.batch_execute("BEGIN").await.map_err(to_store_error)?;
        apply_next_migration(&client, schema).await?;
        client.batch_execute("COMMIT").await.map_err(to_store_error)?;
    }
}

/// Returns the schema version of a database; 0 if it has none yet.
pub(super) async fn read_schema_version(
    client: &Client,
    schema: PostgresSchema,
) -> Result<u32, StoreError> {
    Ok(newest_number(&load_applied_migrations(client, schema).await?))
}

async fn apply_next_migration(client: &Client, schema: PostgresSchema) -> Result<(), StoreError> {
    let lock = format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK_KEY})");
    client.batch_execute(&lock).await.map_err(to_store_error)?;
    // Read again under the lock: another program may have migrated in the meantime.
    let found = load_applied_migrations(client, schema).await?;
    let Some(step) = next_migration(&found, schema)? else { return Ok(()) };
    let PostgresMigration { number, name, compatible_from, sql } = step;
    let PostgresSchema { name: space, migrations_table: ledger, .. } = schema;
    let prepared = format!(
        "DO $$ BEGIN
            IF to_regnamespace('{space}') IS NULL THEN CREATE SCHEMA {space}; END IF;
        END $$;
        CREATE TABLE IF NOT EXISTS {space}.{ledger} (number integer PRIMARY KEY, name text NOT NULL,
            compatible_from integer NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL);
        {sql}
        INSERT INTO {space}.{ledger} VALUES ({number}, '{name}', {compatible_from}, '{}', now());",
        sql_checksum(sql)
    );
    client.batch_execute(&prepared).await.map_err(to_store_error)
}

fn newest_number(found: &[AppliedMigration]) -> u32 {
    found.last().map_or(0, |step| step.number)
}

/// Returns the first migration that was not applied, and checks those that were.
fn next_migration(
    found: &[AppliedMigration],
    schema: PostgresSchema,
) -> Result<Option<&'static PostgresMigration>, StoreError> {
    let known = schema.migrations.last().map_or(0, |last| last.number);
    let compatible_from = found.iter().map(|step| step.compatible_from).max().unwrap_or_default();
    if newest_number(found) > known && compatible_from > known {
        return Err(StoreError::SchemaTooNew { found: newest_number(found), known });
    }
    for (step, found) in schema.migrations.iter().zip(found) {
        if step.number != found.number || sql_checksum(step.sql) != found.checksum {
            let what = format!(
                "schema migration {} differs from migration `{}` of this program",
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
    // Unnamed, like all our statements: a pooler may change the session between two of them.
    let row = client.query_typed_one(&look, &[]).await.map_err(to_store_error)?;
    match (row.get(0), row.get(1)) {
        (true, _) => {}
        (false, true) => return Err(StoreError::ForeignDatabase),
        (false, false) => return Ok(Vec::new()),
    }
    let look =
        format!("SELECT number, compatible_from, checksum FROM {space}.{ledger} ORDER BY number");
    let rows = client.query_typed(&look, &[]).await.map_err(to_store_error)?;
    let read = |row: &tokio_postgres::Row| AppliedMigration {
        number: row.get::<_, i32>(0) as u32,
        compatible_from: row.get::<_, i32>(1) as u32,
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
                "351efb9ac068f582271751911b830adafb24255317d9c2f15d3cd288e2524c20",
                "d3fd72c62079db3f4938446c54e6434bde7a0d806366d9d009f494c3bf3833d5",
            ]
        );
    }
}
