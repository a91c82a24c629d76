//! The trial itself: fills, asks, reads the counters, tells.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use countersign_postgres::{Given, Server};
use countersign_store::{PostgresSettings, PostgresStore};

use super::generate::{Size, fill};
use super::hot::{self, Timed};
use super::scans::{Scans, scans};

/// Of the tables that every operation meets, these are asked row by row.
const TABLES: [&str; 5] = ["runs", "log", "snapshots", "waits", "actions"];

#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// An empty database on a server, whose owner you are.
    #[arg(long)]
    store: String,
    /// How many runs there are to be.
    #[arg(long, default_value_t = 1_000_000)]
    runs: i64,
    /// How many versions each has; every one is an event.
    #[arg(long, default_value_t = 10)]
    versions: i64,
    /// How many tenants share them.
    #[arg(long, default_value_t = 100)]
    tenants: i64,
    /// How often each operation is done.
    #[arg(long, default_value_t = 1_000)]
    calls: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs it; `false` where a table was read whole.
pub(crate) fn run(settings: &Settings, out: &mut impl Write) -> Result<bool, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measured(settings, out))
}

async fn measured(settings: &Settings, out: &mut impl Write) -> Result<bool, Box<dyn Error>> {
    let Settings { runs, versions, tenants, calls, seed, .. } = *settings;
    let size = Size { runs, versions, tenants };
    let server = Server::parse(&settings.store, &Given::default())?;
    let store = PostgresStore::open(server.clone(), PostgresSettings::default()).await?;
    let client = server.connect().await?;
    let known: i64 = client.query_one("SELECT count(*) FROM countersign.runs", &[]).await?.get(0);
    let begun = Instant::now();
    if known == 0 {
        fill(&client, size).await?;
        writeln!(
            out,
            "made {runs} runs and {} versions in {:.0?}",
            runs * versions,
            begun.elapsed()
        )?;
    } else {
        writeln!(out, "there are {known} runs already; nothing was made")?;
    }
    let bytes = "SELECT pg_database_size(current_database())";
    let bytes: i64 = client.query_one(bytes, &[]).await?.get(0);
    writeln!(out, "the database has {} MiB\n", bytes / (1024 * 1024))?;
    // Once for warmth: the first calls of a connection prepare its statements.
    hot::all(&store, size, 20, seed ^ 1).await?;
    drop(store);
    told(&client).await?;
    let before = scans(&client).await?;
    let store = PostgresStore::open(server.clone(), PostgresSettings::default()).await?;
    let timed = hot::all(&store, size, calls, seed).await?;
    drop(store);
    told(&client).await?;
    let after = scans(&client).await?;
    writeln!(out, "{:<26}{:>8}{:>10}{:>10}{:>10}", "", "calls", "p50 ms", "p95 ms", "p99 ms")?;
    for Timed { what, mut times } in timed {
        times.sort();
        let at = |share: f64| -> f64 {
            let place = ((times.len() as f64) * share) as usize;
            times.get(place.min(times.len().saturating_sub(1))).map_or(0.0, ms)
        };
        let (p50, p95, p99) = (at(0.50), at(0.95), at(0.99));
        writeln!(out, "{what:<26}{:>8}{p50:>10.2}{p95:>10.2}{p99:>10.2}", times.len())?;
    }
    writeln!(out, "\n{:<26}{:>12}{:>12}{:>16}", "", "whole", "by index", "rows by index")?;
    let mut good = true;
    for table in TABLES {
        let of = |all: &std::collections::BTreeMap<String, Scans>| {
            all.get(table).copied().unwrap_or_default()
        };
        let Scans { whole, by_index, rows_by_index } = of(&after).since(of(&before));
        writeln!(out, "{table:<26}{whole:>12}{by_index:>12}{rows_by_index:>16}")?;
        good &= whole == 0;
    }
    if !good {
        writeln!(out, "\na table was read whole")?;
    }
    Ok(good)
}

/// Waits until the store's connections are gone: a connection tells its counters when it ends.
async fn told(client: &tokio_postgres::Client) -> Result<(), Box<dyn Error>> {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    for _ in 0..200 {
        if client.query_one(others, &[]).await?.get::<_, i64>(0) == 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("the store's connections did not end within ten seconds".into())
}

fn ms(time: &Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
