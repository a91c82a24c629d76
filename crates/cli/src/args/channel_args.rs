//! Channels, as clap sees them.

use clap::{Args, Subcommand};

use super::StoreArgs;

/// Lists the channels that people are told through, and tries one.
#[derive(Debug, Args)]
pub(crate) struct ChannelArgs {
    #[command(subcommand)]
    pub(crate) command: ChannelCommand,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChannelCommand {
    /// List the channels that countersign.toml defines
    List,
    /// Deliver a test message to a channel and print what was answered
    Test {
        /// Name of the channel
        name: String,
    },
}
