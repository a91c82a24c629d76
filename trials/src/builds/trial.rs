//! The trial itself: lives, builds, restarts, compares, and says how many were equal.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use clap::Args;
use countersign_contracts::memory::MemoryPacket;
use countersign_core::json::sha256;
use countersign_memory::ScopeError;
use countersign_memory::compose::{ComposeError, compose};
use countersign_memory::policy::Policy;
use countersign_memory::render::{RenderError, render};
use countersign_memory::store::{
    Build, Limits, Memory as _, MemoryError, RebuildError, SqliteMemory,
};
use countersign_memory::tokens::TiktokenCounter;
use rusqlite::Connection;
use thiserror::Error;

use super::life::Life;

/// Between two builds so many things happen.
const HAPPENS: usize = 2;

/// What the command line says.
#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// How many builds.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// What chance begins with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Why the trial could not be held.
#[derive(Debug, Error)]
pub(crate) enum TrialError {
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A packet could not be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A packet could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A build could not be composed again.
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
    /// A scope is none.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A packet could not be written.
    #[error("a packet could not be written: {0}")]
    Json(#[from] serde_json::Error),
    /// `SQLite` failed.
    #[error("the file could not be written anew: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file or the report could not be written.
    #[error("the trial could not be written: {0}")]
    Io(#[from] io::Error),
}

/// Holds the trial; whether every build was composed again to the same bytes.
pub(crate) fn run(settings: &Settings, out: &mut dyn Write) -> Result<bool, TrialError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    runtime.block_on(held(settings, &path, out))
}

async fn held(settings: &Settings, path: &Path, out: &mut dyn Write) -> Result<bool, TrialError> {
    let begun = Instant::now();
    let built = live(settings, path).await?;
    let took = begun.elapsed().as_secs_f64();
    let size = path.metadata()?.len() >> 20;
    writeln!(out, "{} builds while the memory lived on: {took:.0} s, {size} MB", built.len())?;
    let mut good = true;
    for when in ["a restart", "VACUUM"] {
        if when == "VACUUM" {
            Connection::open(path)?.execute_batch("VACUUM")?;
        }
        let begun = Instant::now();
        let equal = equal(path, &built).await?;
        let each = begun.elapsed().as_secs_f64() * 1_000.0 / built.len().max(1) as f64;
        writeln!(out, "after {when}: {equal} of {} equal, {each:.2} ms each", built.len())?;
        good &= equal == built.len();
    }
    Ok(good)
}

/// What came of a build, to the byte.
struct Built {
    build: String,
    subject: countersign_memory::Subject,
    bytes: String,
}

async fn live(settings: &Settings, path: &Path) -> Result<Vec<Built>, TrialError> {
    let memory = SqliteMemory::open(path)?;
    let policies = ["default", "recall"].map(|name| Policy::shipped(name).expect("it ships"));
    let counter = TiktokenCounter::o200k();
    let mut life = Life::new(settings.seed);
    let mut all = Vec::with_capacity(settings.count);
    for number in 0..settings.count {
        for _ in 0..HAPPENS {
            life.happen(&memory).await?;
        }
        let request = life.ask()?;
        let policy = &policies[usize::from(number % 4 == 0)];
        let found = memory.found(&request, Limits::of(policy)).await?;
        let packet = compose(&request, policy, &found, &counter)?;
        let id = format!("b{number}");
        let build = Build::of(&id, &request, policy, &found, &packet, "o200k_base");
        let (subject, bytes) = (request.scope.subject(), bytes(&packet)?);
        memory.keep_build(build).await?;
        all.push(Built { build: id, subject, bytes });
    }
    Ok(all)
}

/// How many are composed again to the same bytes.
async fn equal(path: &Path, built: &[Built]) -> Result<usize, TrialError> {
    let memory = SqliteMemory::open(path)?;
    let mut equal = 0;
    for Built { build, subject, bytes: then } in built {
        let Some((kept, found)) = memory.build(subject, build).await? else { continue };
        equal += usize::from(bytes(&kept.again(&found)?)? == *then);
    }
    Ok(equal)
}

/// A hash of the packet as it is written and of its text.
fn bytes(packet: &MemoryPacket) -> Result<String, TrialError> {
    let written = serde_json::to_vec(packet)?;
    let text = render(packet, packet.meta.purpose)?;
    Ok(sha256(&[&written, text.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_hundred_builds_come_back_to_the_byte() {
        let mut out = Vec::new();
        let settings = Settings { count: 300, seed: 7 };
        let good = run(&settings, &mut out).expect("the trial is held");
        let told = String::from_utf8(out).expect("it is text");
        assert!(good, "{told}");
        assert_eq!(told.matches("300 of 300 equal").count(), 2, "{told}");
    }
}
