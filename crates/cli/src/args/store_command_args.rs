//! The command line of `countersign store`, as clap sees it.

use clap::{Parser, Subcommand};

use super::StoreArgs;

/// Copies, verifies and prunes the database.
#[derive(Debug, Parser)]
pub(crate) struct StoreCommandArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy every run of one database into another and prove each; run it again to continue where it stopped
    #[command(
        after_help = "Run it again to copy what was added to a run after it was copied. Work on open runs in only one of the two databases.\n\nExamples:\n  countersign store copy .countersign/countersign.db postgres://cs@db.example/runs\n  countersign store copy postgres://cs@db.example/runs backup.db --tenant default"
    )]
    Copy(StoreCopyArgs),
    /// Verify the hash chain of every run, tenant by tenant
    #[command(
        after_help = "Exits with 1 if a chain is broken. `--decide` also decides every input again, as `replay --verify` does for one run.\n\nExample:\n  countersign store verify --store postgres://cs@db.example/runs"
    )]
    Verify(StoreVerifyArgs),
    /// Remove the content of runs that ended long ago; their hashes stay
    #[command(
        after_help = "Shows what will be removed and asks for confirmation. These remain of a run: its final status, every version with its hash, and the states that other runs started from. `store verify` still proves them; `show`, `history`, `replay` and `export` report that the run was pruned.\n\nExamples:\n  countersign store prune --before 90d --dry-run\n  countersign store prune --before 2026-01-21 --keep 100 --yes"
    )]
    Prune(StorePruneArgs),
}

#[derive(Debug, Parser)]
pub(crate) struct StoreCopyArgs {
    /// Database to read: a file, or `postgres://user@host/name`
    #[arg(value_name = "FROM")]
    pub(crate) source: String,
    /// Database to write: a file, or `postgres://user@host/name`
    #[arg(value_name = "TO")]
    pub(crate) target: String,
    /// Copy only the runs of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct StoreVerifyArgs {
    /// Verify only the runs of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Decide every input again, and compare everything stored beside the log with the result
    #[arg(long)]
    pub(crate) decide: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct StorePruneArgs {
    /// Prune runs that ended before this time: an age such as `90d`, or a timestamp such as `2026-01-21`
    #[arg(long, value_name = "WHEN")]
    pub(crate) before: Option<String>,
    /// Number of ended runs to keep for each tenant, those started last
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Prune only the runs of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Show what would be removed, without removing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}
