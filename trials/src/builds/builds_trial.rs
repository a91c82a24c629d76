//! Runs the trial: simulates a memory, composes builds, reopens the file, compares, and reports how
//! many builds are equal.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use clap::Args;
use countersign_contract::json::sha256_hex;
use countersign_memory::MemoryScopeError;
use countersign_memory::compose::{ComposeError, compose_packet};
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::render::{RenderError, render_packet};
use countersign_memory::store::{
    MemoryError, MemoryReader as _, PacketBuild, PacketBuildStore as _, PacketRebuildError,
    RetrievalLimits, SqliteMemory,
};
use countersign_memory::tokens::TiktokenCounter;
use countersign_shipped_contracts::memory::MemoryPacket;
use rusqlite::Connection;
use thiserror::Error;

use super::memory_simulation::MemorySimulation;

/// The number of memory changes between two builds.
const CHANGES_PER_BUILD: usize = 2;

/// The command-line arguments of the trial.
#[derive(Debug, Clone, Args)]
pub(crate) struct BuildsTrialArgs {
    /// The number of builds.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// The seed of the random number generator.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Why the trial could not run.
#[derive(Debug, Error)]
pub(crate) enum BuildsTrialError {
    /// A memory operation failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A packet could not be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A packet could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A build could not be rebuilt.
    #[error(transparent)]
    Rebuild(#[from] PacketRebuildError),
    /// A scope name is invalid.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// A packet could not be serialized.
    #[error("a packet could not be written: {0}")]
    Json(#[from] serde_json::Error),
    /// `SQLite` could not vacuum the file.
    #[error("the file could not be vacuumed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file or the report could not be written.
    #[error("the file or the report could not be written: {0}")]
    Io(#[from] io::Error),
}

/// Runs the trial; returns whether every build was rebuilt to the same bytes.
pub(crate) fn run(
    settings: &BuildsTrialArgs,
    out: &mut dyn Write,
) -> Result<bool, BuildsTrialError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    runtime.block_on(run_trial(settings, &path, out))
}

async fn run_trial(
    settings: &BuildsTrialArgs,
    path: &Path,
    out: &mut dyn Write,
) -> Result<bool, BuildsTrialError> {
    let begun = Instant::now();
    let built = compose_builds(settings, path).await?;
    let took = begun.elapsed().as_secs_f64();
    let size = path.metadata()?.len() >> 20;
    writeln!(out, "{} builds while the memory changed: {took:.0} s, {size} MB", built.len())?;
    let mut good = true;
    for when in ["a restart", "VACUUM"] {
        if when == "VACUUM" {
            Connection::open(path)?.execute_batch("VACUUM")?;
        }
        let begun = Instant::now();
        let equal = count_equal(path, &built).await?;
        let each = begun.elapsed().as_secs_f64() * 1_000.0 / built.len().max(1) as f64;
        writeln!(out, "after {when}: {equal} of {} equal, {each:.2} ms each", built.len())?;
        good &= equal == built.len();
    }
    Ok(good)
}

/// A build and the hash of its packet.
struct ComposedBuild {
    build: String,
    subject: countersign_memory::MemorySubject,
    packet_hash: String,
}

async fn compose_builds(
    settings: &BuildsTrialArgs,
    path: &Path,
) -> Result<Vec<ComposedBuild>, BuildsTrialError> {
    let memory = SqliteMemory::open(path)?;
    let policies = ["default", "recall"]
        .map(|name| MemoryPolicy::load_shipped(name).expect("the policy is shipped"));
    let counter = TiktokenCounter::o200k();
    let mut life = MemorySimulation::new(settings.seed);
    let mut all = Vec::with_capacity(settings.count);
    for number in 0..settings.count {
        for _ in 0..CHANGES_PER_BUILD {
            life.apply_random_change(&memory).await?;
        }
        let request = life.random_request()?;
        let policy = &policies[usize::from(number % 4 == 0)];
        let found =
            memory.retrieve_candidates(&request, RetrievalLimits::from_policy(policy)).await?;
        let packet = compose_packet(&request, policy, &found, &counter)?;
        let id = format!("b{number}");
        let build = PacketBuild::from_packet(&id, &request, policy, &found, &packet, "o200k_base");
        let (subject, bytes) = (request.scope.subject(), hash_packet(&packet)?);
        memory.store_build(build).await?;
        all.push(ComposedBuild { build: id, subject, packet_hash: bytes });
    }
    Ok(all)
}

/// Counts the builds that are rebuilt to the same bytes.
async fn count_equal(path: &Path, built: &[ComposedBuild]) -> Result<usize, BuildsTrialError> {
    let memory = SqliteMemory::open(path)?;
    let mut equal = 0;
    for ComposedBuild { build, subject, packet_hash: then } in built {
        let Some((kept, found)) = memory.load_build(subject, build).await? else { continue };
        equal += usize::from(hash_packet(&kept.recompose(&found)?)? == *then);
    }
    Ok(equal)
}

/// Returns a hash of the packet's JSON and of its rendered text.
fn hash_packet(packet: &MemoryPacket) -> Result<String, BuildsTrialError> {
    let written = serde_json::to_vec(packet)?;
    let text = render_packet(packet, packet.meta.purpose)?;
    Ok(sha256_hex(&[&written, text.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_hundred_builds_come_back_to_the_byte() {
        let mut out = Vec::new();
        let settings = BuildsTrialArgs { count: 300, seed: 7 };
        let good = run(&settings, &mut out).expect("the trial runs");
        let report = String::from_utf8(out).expect("it is text");
        assert!(good, "{report}");
        assert_eq!(report.matches("300 of 300 equal").count(), 2, "{report}");
    }
}
