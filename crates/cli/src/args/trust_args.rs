//! Trusting protocols, and what workers and servers allow, as clap sees it.

use std::path::PathBuf;

use clap::{Args, Parser};

use super::StoreArgs;

/// Shows what a protocol may use beyond files, and asks whether to trust it.
#[derive(Debug, Parser)]
#[command(
    after_help = "Programs, hosts and sources of a protocol are used only after you trust the list, once for each
workspace folder; you are asked again when the list changes. Trust is stored in
$XDG_CONFIG_HOME/countersign/trust.json, which only you can write.

Examples:
  countersign trust
  countersign trust --run 01J9 --yes
  countersign trust --list
  countersign trust --revoke"
)]
pub(crate) struct TrustArgs {
    /// Workspace folder; the current folder if omitted
    pub(crate) folder: Option<PathBuf>,
    /// Run whose protocol to trust, instead of the folder's: for a run that was imported
    #[arg(long, value_name = "RUN", conflicts_with = "folder")]
    pub(crate) run: Option<String>,
    /// Trust the list without asking for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// List everything that you trust
    #[arg(long, conflicts_with_all = ["folder", "run", "yes", "revoke"])]
    pub(crate) list: bool,
    /// Revoke trust: a digest as `--list` shows it, or a folder; the current folder if no value is given
    #[arg(long, value_name = "DIGEST|DIR", num_args = 0..=1, default_missing_value = ".",
        conflicts_with_all = ["folder", "run", "yes"])]
    pub(crate) revoke: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Programs, hosts and sources that any run may use here, whatever its protocol.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the names are those of the flags")]
pub(crate) struct AllowArgs {
    /// Allow any run to start programs whose command begins with these words; can be repeated
    #[arg(long, value_name = "COMMAND")]
    pub(crate) allow_program: Vec<String>,
    /// Allow any run to call this host; can be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Allow any run to open sources of this kind, or only the one at the location; can be repeated
    #[arg(long, value_name = "KIND[:LOCATION]")]
    pub(crate) allow_source: Vec<String>,
}
