//! Trusting protocols, and what workers and servers allow, as clap sees it.

use std::path::PathBuf;

use clap::{Args, Parser};

use super::StoreArgs;

/// Shows what a protocol may use beyond files, and asks whether to trust it.
#[derive(Debug, Parser)]
#[command(
    after_help = "Programs, hosts and sources of a protocol are used only after you trust the list, once for each
folder of work; you are asked again when the list changes. Trust is kept in
$XDG_CONFIG_HOME/countersign/trust.json, which only you can write.

Examples:
  countersign trust
  countersign trust --run 01J9 --yes
  countersign trust --list
  countersign trust --revoke"
)]
pub(crate) struct TrustArgs {
    /// The folder of work, instead of this one
    pub(crate) folder: Option<PathBuf>,
    /// The protocol of a run, instead of the folder's: for a run that was imported
    #[arg(long, value_name = "RUN", conflicts_with = "folder")]
    pub(crate) run: Option<String>,
    /// Trust the list without being asked
    #[arg(long)]
    pub(crate) yes: bool,
    /// List everything that you trust
    #[arg(long, conflicts_with_all = ["folder", "run", "yes", "revoke"])]
    pub(crate) list: bool,
    /// Trust no more: a digest as `--list` shows it, or a folder; this folder where nothing is named
    #[arg(long, value_name = "DIGEST|DIR", num_args = 0..=1, default_missing_value = ".",
        conflicts_with_all = ["folder", "run", "yes"])]
    pub(crate) revoke: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// What any run may use here, whatever its protocol.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the names are those of the flags")]
pub(crate) struct AllowArgs {
    /// Let any run start programs whose command begins with these words; may be given several times
    #[arg(long, value_name = "COMMAND")]
    pub(crate) allow_program: Vec<String>,
    /// Let any run call this host; may be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Let any run open sources of this kind, or only the one there; may be given several times
    #[arg(long, value_name = "KIND[:LOCATION]")]
    pub(crate) allow_source: Vec<String>,
}
