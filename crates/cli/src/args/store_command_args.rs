//! The command line of `countersign store`, as clap sees it.

use clap::{Parser, Subcommand};

use super::StoreArgs;

/// Looks after the database itself.
#[derive(Debug, Parser)]
pub(crate) struct StoreCommandArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy every run of one database into another, proved; asked again, it goes on where it stopped
    #[command(
        after_help = "What came to a run after it was copied is copied when you ask again. Let only one of the two work on open runs.\n\nExamples:\n  countersign store copy .countersign/countersign.db postgres://cs@db.example/runs\n  countersign store copy postgres://cs@db.example/runs backup.db --tenant local"
    )]
    Copy(StoreCopyArgs),
    /// Follow the chain of every run, tenant by tenant
    #[command(
        after_help = "Ends with 1 where a chain does not hold. `--decide` also decides every input again, as `replay --verify` does for one run.\n\nExample:\n  countersign store verify --store postgres://cs@db.example/runs"
    )]
    Verify(StoreVerifyArgs),
    /// Take the words out of runs that ended long ago; their hashes stay
    #[command(
        after_help = "Says what goes and asks. What stays of a run: where it stood, every version with its hash, and the states that other runs began from. `store verify` still proves that; `show`, `history`, `replay` and `export` say that it was pruned.\n\nExamples:\n  countersign store prune --before 90d --dry-run\n  countersign store prune --before 2026-01-21 --keep 100 --yes"
    )]
    Prune(StorePruneArgs),
}

#[derive(Debug, Parser)]
pub(crate) struct StoreCopyArgs {
    /// The database that is read: a file, or `postgres://user@host/name`
    #[arg(value_name = "FROM")]
    pub(crate) source: String,
    /// The database that is written
    #[arg(value_name = "TO")]
    pub(crate) target: String,
    /// Only the runs of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct StoreVerifyArgs {
    /// Only the runs of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Decide every input again, and hold everything beside the log against it
    #[arg(long)]
    pub(crate) decide: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct StorePruneArgs {
    /// Runs that ended before this: a length of time ago such as `90d`, or a moment such as `2026-01-21`
    #[arg(long, value_name = "WHEN")]
    pub(crate) before: Option<String>,
    /// Leave so many of the runs that have ended, those begun last, of each tenant
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Only the runs of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}
