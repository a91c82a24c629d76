//! The schema of the file, brought forward in numbered steps. Never backward: a file of a newer
//! program is refused and left as it is.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::StoreError;

/// One step of the schema. Its text never changes once it has been released.
pub(super) struct Migration {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// Every step, in order.
pub(super) const MIGRATIONS: &[Migration] =
    &[Migration { number: 1, name: "runs", sql: include_str!("migrations/0001_runs.sql") }];

/// `PRAGMA application_id` of our files, set by the first step.
const OURS: i64 = 0x434E_5453;

const APPLIED_TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT";

/// Brings the file to the newest schema. Two processes may do so at once.
pub(super) fn migrate(db: &mut Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    loop {
        // One look, so that another process cannot finish its first step in the middle of it.
        if next(&*db.transaction()?, migrations)?.is_none() {
            return Ok(());
        }
        let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Asked again under the lock: another process may have done it meanwhile.
        let Some(migration) = next(&step, migrations)? else { return Ok(()) };
        step.execute_batch(APPLIED_TABLE)?;
        step.execute_batch(migration.sql)?;
        step.execute(
            "INSERT INTO migrations (number, name, checksum) VALUES (?1, ?2, ?3)",
            (migration.number, migration.name, checksum(migration.sql)),
        )?;
        step.commit()?;
    }
}

/// The first step the file has not seen; checks those it has.
fn next<'m>(
    db: &Connection,
    migrations: &'m [Migration],
) -> Result<Option<&'m Migration>, StoreError> {
    let applied = applied(db)?;
    let known = migrations.last().map_or(0, |last| last.number);
    if let Some((found, _)) = applied.last()
        && *found > known
    {
        return Err(StoreError::TooNew { found: *found, known });
    }
    for (migration, (number, found)) in migrations.iter().zip(&applied) {
        if migration.number != *number || checksum(migration.sql) != *found {
            return Err(StoreError::Corrupt {
                what: format!(
                    "schema step {number} is not the one this program knows as `{}`",
                    migration.name
                ),
            });
        }
    }
    Ok(migrations.get(applied.len()))
}

/// The steps the file has seen: number and checksum.
pub(super) fn applied(db: &Connection) -> Result<Vec<(u32, String)>, StoreError> {
    let id: i64 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != OURS {
        let first = "SELECT name FROM sqlite_schema LIMIT 1";
        let table: Option<String> = db.query_row(first, [], |row| row.get(0)).optional()?;
        return if id == 0 && table.is_none() { Ok(Vec::new()) } else { Err(StoreError::Foreign) };
    }
    let mut query = db.prepare("SELECT number, checksum FROM migrations ORDER BY number")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn checksum(sql: &str) -> String {
    // A checkout with other line ends is the same text.
    let digest = Sha256::digest(sql.replace("\r\n", "\n"));
    let mut text = String::new();
    digest.iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const SECOND: Migration = Migration {
        number: 2,
        name: "colour",
        sql: "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'none';",
    };
    const BROKEN: Migration = Migration {
        number: 2,
        name: "broken",
        sql: "CREATE TABLE half (x INTEGER); INSERT INTO nowhere VALUES (1);",
    };

    fn first() -> Migration {
        Migration { number: 1, name: "runs", sql: MIGRATIONS[0].sql }
    }

    #[test]
    fn every_file_of_the_folder_is_a_step() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sqlite/migrations");
        let mut files: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let steps = MIGRATIONS.iter().map(|step| format!("{:04}_{}.sql", step.number, step.name));
        assert_eq!(files, steps.collect::<Vec<_>>());
        assert!(MIGRATIONS.iter().map(|step| step.number).eq(1..=MIGRATIONS.len() as u32));
    }

    #[test]
    fn released_steps_do_not_change() {
        let sums: Vec<String> = MIGRATIONS.iter().map(|step| checksum(step.sql)).collect();
        assert_eq!(sums, ["cb3e710c2b3bbe903c9fda45fe46e74585dd588e6ca938f0aec83e63fd8eb5e4"]);
    }

    #[test]
    fn a_file_of_schema_1_is_brought_forward_with_its_rows() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[first()]).unwrap();
        db.execute(
            "INSERT INTO runs VALUES (1, 't', 'r', 'p', 'w', 1, 1, 0, '', 0, 's', 'f', 1, '', NULL, 0, 0, NULL, 0, '')",
            [],
        )
        .unwrap();
        migrate(&mut db, &[first(), SECOND]).unwrap();
        migrate(&mut db, &[first(), SECOND]).unwrap();
        let colour: String =
            db.query_row("SELECT colour FROM runs WHERE id = 'r'", [], |row| row.get(0)).unwrap();
        assert_eq!(colour, "none");
    }

    #[test]
    fn a_newer_file_is_refused() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[first(), SECOND]).unwrap();
        let error = migrate(&mut db, &[first()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database has schema 2, this program knows schemas up to 1"
        );
    }

    #[test]
    fn a_step_that_fails_leaves_nothing() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[first()]).unwrap();
        migrate(&mut db, &[first(), BROKEN]).unwrap_err();
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
        assert_eq!(db.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
        migrate(&mut db, &[first(), SECOND]).unwrap();
    }

    #[test]
    fn an_altered_step_is_told() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[first()]).unwrap();
        let altered = Migration { number: 1, name: "runs", sql: "SELECT 1;" };
        let error = migrate(&mut db, &[altered]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database is damaged: schema step 1 is not the one this program knows as `runs`"
        );
    }

    #[test]
    fn a_file_of_another_program_is_left_alone() {
        let mut db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE theirs (x INTEGER)").unwrap();
        assert!(matches!(migrate(&mut db, MIGRATIONS), Err(StoreError::Foreign)));
        db.execute_batch("SELECT x FROM theirs").unwrap();
    }
}
