//! Migrates the schema of the file in numbered steps. There are no downgrades: a file of a newer
//! program is refused and left unchanged.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::StoreError;
use crate::checksum::sql_checksum;

/// A kind of file and its migrations.
#[derive(Debug, Clone, Copy)]
pub struct SqliteSchema {
    /// Value of `PRAGMA application_id`, which the first migration sets.
    pub application_id: i32,
    /// All migrations, in order.
    pub migrations: &'static [SqliteMigration],
}

/// One migration. Its SQL never changes once it has been released.
#[derive(Debug, Clone, Copy)]
pub struct SqliteMigration {
    /// Number of the migration, from 1 without a gap.
    pub number: u32,
    /// Short name of what it adds.
    pub name: &'static str,
    /// The SQL statements of the migration.
    pub sql: &'static str,
}

/// The schema of files that hold runs.
pub(super) const RUNS_SCHEMA: SqliteSchema = SqliteSchema {
    application_id: 0x434E_5453,
    migrations: &[
        SqliteMigration { number: 1, name: "runs", sql: include_str!("migrations/0001_runs.sql") },
        SqliteMigration {
            number: 2,
            name: "workers",
            sql: include_str!("migrations/0002_workers.sql"),
        },
        SqliteMigration {
            number: 3,
            name: "pruning",
            sql: include_str!("migrations/0003_pruning.sql"),
        },
    ],
};

const APPLIED_TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT";

/// Migrates the file to the newest schema. Two processes may do so at once.
pub(super) fn migrate(db: &mut Connection, schema: SqliteSchema) -> Result<(), StoreError> {
    loop {
        // One transaction for the check, so that another process cannot finish its first migration
        // in the middle of it.
        if next_migration(&*db.transaction()?, schema)?.is_none() {
            return Ok(());
        }
        let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read again under the lock: another process may have migrated in the meantime.
        let Some(migration) = next_migration(&step, schema)? else { return Ok(()) };
        step.execute_batch(APPLIED_TABLE)?;
        step.execute_batch(migration.sql)?;
        step.execute(
            "INSERT INTO migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
            (migration.number, migration.name, sql_checksum(migration.sql)),
        )?;
        step.commit()?;
    }
}

/// Returns the first migration that was not applied, and checks those that were.
fn next_migration(
    db: &Connection,
    schema: SqliteSchema,
) -> Result<Option<&'static SqliteMigration>, StoreError> {
    let SqliteSchema { application_id, migrations } = schema;
    let applied = load_applied_migrations(db, application_id)?;
    let known = migrations.last().map_or(0, |last| last.number);
    if let Some((found, _)) = applied.last()
        && *found > known
    {
        return Err(StoreError::SchemaTooNew { found: *found, known });
    }
    for (migration, (number, found)) in migrations.iter().zip(&applied) {
        if migration.number != *number || sql_checksum(migration.sql) != *found {
            return Err(StoreError::Corrupt {
                reason: format!(
                    "schema migration {number} differs from migration `{}` of this program",
                    migration.name
                ),
            });
        }
    }
    Ok(migrations.get(applied.len()))
}

/// The applied migrations: number and checksum.
pub(super) fn load_applied_migrations(
    db: &Connection,
    application_id: i32,
) -> Result<Vec<(u32, String)>, StoreError> {
    let id: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != application_id {
        let first = "SELECT name FROM sqlite_schema LIMIT 1";
        let table: Option<String> = db.query_row(first, [], |row| row.get(0)).optional()?;
        return if id == 0 && table.is_none() {
            Ok(Vec::new())
        } else {
            Err(StoreError::ForeignDatabase)
        };
    }
    let mut query = db.prepare("SELECT number, checksum FROM migrations ORDER BY number")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const SECOND: SqliteMigration = SqliteMigration {
        number: 2,
        name: "colour",
        sql: "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'none';",
    };
    const ALTERED: SqliteMigration = SqliteMigration { number: 1, name: "runs", sql: "SELECT 1;" };
    const BROKEN: SqliteMigration = SqliteMigration {
        number: 2,
        name: "broken",
        sql: "CREATE TABLE half (x INTEGER); INSERT INTO nowhere VALUES (1);",
    };

    const FIRST: SqliteMigration = RUNS_SCHEMA.migrations[0];

    fn of(migrations: &'static [SqliteMigration]) -> SqliteSchema {
        SqliteSchema { migrations, ..RUNS_SCHEMA }
    }

    #[test]
    fn every_file_of_the_folder_is_a_step() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sqlite/migrations");
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
        assert!(
            RUNS_SCHEMA
                .migrations
                .iter()
                .map(|step| step.number)
                .eq(1..=RUNS_SCHEMA.migrations.len() as u32)
        );
    }

    #[test]
    fn released_steps_do_not_change() {
        let sums: Vec<String> =
            RUNS_SCHEMA.migrations.iter().map(|step| sql_checksum(step.sql)).collect();
        assert_eq!(
            sums,
            [
                "814b9114a857d26f6ea37f4c15c8a623e0ffa21682849de8ec71e9dbf48e4588",
                "ebbb7268871d0e9bce96f97cd58ea72bc007ac6af27183de5c9ccd11791a27a2",
                "d01143efb68b1a8b5a0f127060f1099aeb67750b55484afb43ea9a18ac255e76",
            ]
        );
    }

    #[test]
    fn a_file_of_schema_1_is_brought_forward_with_its_rows() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, of(&[FIRST])).unwrap();
        db.execute(
            "INSERT INTO runs VALUES (1, 't', 'r', 'p', 'w', 1, 1, 0, '', 0, 's', 'f', 1, '', '', NULL, NULL, '', '', NULL, 0, 0, 0, NULL, 0, 0, NULL, 0, '')",
            [],
        )
        .unwrap();
        migrate(&mut db, of(&[FIRST, SECOND])).unwrap();
        migrate(&mut db, of(&[FIRST, SECOND])).unwrap();
        let colour: String =
            db.query_row("SELECT colour FROM runs WHERE id = 'r'", [], |row| row.get(0)).unwrap();
        assert_eq!(colour, "none");
    }

    #[test]
    fn a_newer_file_is_refused() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, of(&[FIRST, SECOND])).unwrap();
        let error = migrate(&mut db, of(&[FIRST])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database has schema 2; this program supports schemas up to 1"
        );
    }

    #[test]
    fn a_step_that_fails_leaves_nothing() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, of(&[FIRST])).unwrap();
        migrate(&mut db, of(&[FIRST, BROKEN])).unwrap_err();
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
        assert_eq!(db.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
        migrate(&mut db, of(&[FIRST, SECOND])).unwrap();
    }

    #[test]
    fn an_altered_step_is_told() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, of(&[FIRST])).unwrap();
        let error = migrate(&mut db, of(&[ALTERED])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database is damaged: schema migration 1 differs from migration `runs` of this program"
        );
    }

    #[test]
    fn a_file_of_another_program_is_left_alone() {
        let mut db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE theirs (x INTEGER)").unwrap();
        assert!(matches!(migrate(&mut db, RUNS_SCHEMA), Err(StoreError::ForeignDatabase)));
        db.execute_batch("SELECT x FROM theirs").unwrap();
    }
}
