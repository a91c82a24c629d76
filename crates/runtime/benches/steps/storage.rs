//! One long run on a large document: what it takes on the disk, and how long it takes to load.

use std::sync::Arc;
use std::time::Instant;

use countersign_runtime::driver::build_manual_reply;
use countersign_store::SqliteStore;
use rusqlite::Connection;

use crate::runs::{action, engine, patch, protocol, start};

/// So many steps on a hundred kilobytes, each an edit of so many bytes.
pub(crate) async fn show(steps: usize, edit: usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.db");
    let protocol = protocol();
    let store = Arc::new(SqliteStore::open(&file).unwrap());
    let engine = engine(store);
    let cells = 100_000 / edit;
    let begun = Instant::now();
    let first = engine
        .start_named_run("long", &protocol, start(&protocol, cells, edit), None)
        .await
        .unwrap();
    let (mut order, mut patches) = (action(&first.state), 0);
    for step in 0..steps {
        let patch = patch(step, cells, edit);
        patches += patch.len();
        let reply = build_manual_reply(&order, &format!(r#"{{"patch":{patch}}}"#), "bench");
        order = action(&engine.submit_input("long", reply, None).await.unwrap().state);
    }
    let stepped = begun.elapsed();
    let mut loads: Vec<f64> = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        engine.load_version("long", None).await.unwrap();
        loads.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    loads.sort_by(f64::total_cmp);
    let db = Connection::open(&file).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let sum = |sql: &str| -> f64 { db.query_row(sql, [], |row| row.get(0)).unwrap() };
    let snapshots = sum("SELECT total(length(body)) FROM snapshots");
    let bodies = sum("SELECT total(length(body)) FROM log");
    let size = std::fs::metadata(&file).unwrap().len() as f64;
    let mib = |bytes: f64| bytes / (1024.0 * 1024.0);
    println!("\n{steps} steps on 100 KB, {edit} bytes an edit, in {:.1} s", stepped.as_secs_f64());
    let rows = [
        ("patches", patches as f64),
        ("events, with replies", bodies),
        ("snapshots", snapshots),
        ("file", size),
    ];
    for (name, bytes) in rows {
        println!("{name:<34}{:>9.2} MiB", mib(bytes));
    }
    let ratio = size / (patches as f64 + snapshots);
    println!("{:<34}{ratio:>9.2}", "file by patches and snapshots");
    println!("{:<34}{:>9.2}", "file by events and snapshots", size / (bodies + snapshots));
    println!("{:<34}{:>9.2} ms, at most {:.2}", "load", loads[10], loads[19]);
}
