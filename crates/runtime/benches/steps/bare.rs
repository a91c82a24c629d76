//! The yardstick: a transaction that does next to nothing, as durable as ours.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::total::Total;

pub(crate) struct Bare {
    db: Connection,
    steps: i64,
}

impl Bare {
    pub(crate) fn open(path: &Path) -> Self {
        let db = Connection::open(path).unwrap();
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000;
            CREATE TABLE run (id INTEGER PRIMARY KEY, version INTEGER NOT NULL);
            CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
            INSERT INTO run VALUES (1, 0);",
        )
        .unwrap();
        Self { db, steps: 0 }
    }

    pub(crate) fn spin(&mut self, slice: Duration, total: &mut Total) {
        let body = "x".repeat(300);
        let start = Instant::now();
        while start.elapsed() < slice {
            let begun = Instant::now();
            self.steps += 1;
            let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
                self.db.prepare_cached(sql).unwrap().execute(values).unwrap();
            };
            run("BEGIN IMMEDIATE", &[]);
            run("INSERT INTO events VALUES (?1, ?2)", &[&self.steps, &body]);
            run("UPDATE run SET version = ?1 WHERE id = 1", &[&self.steps]);
            run("COMMIT", &[]);
            total.waits.push(begun.elapsed());
            total.steps += 1;
        }
        total.time += start.elapsed();
    }
}
