//! Commands about the server, as clap sees them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::{AllowArgs, StoreArgs};

/// Serves HTTP, and keeps runs going.
#[derive(Debug, Parser)]
#[command(
    after_help = "Ends with Ctrl-C: whoever is being answered gets the answer, and every run can go on later.

Examples:
  countersign serve
  countersign serve --try intake --open
  countersign serve --listen 127.0.0.1:8080 --model openai:gpt-5-mini
  countersign key create --tenant acme --role operator; countersign serve --listen 0.0.0.0:7070"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ServeArgs {
    /// Where to listen; may be given several times. Addresses that others can reach need keys
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub(crate) listen: Vec<SocketAddr>,
    /// The model that is asked, whatever protocols say
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Neither remember nor remind
    #[arg(long)]
    pub(crate) no_memory: bool,
    /// Have every request show a key, also from this machine: behind a proxy, all the world seems to come from here
    #[arg(long)]
    pub(crate) keys: bool,
    /// Let every user of this machine in without the token of `.countersign/token`
    #[arg(long, conflicts_with = "keys")]
    pub(crate) no_token: bool,
    /// How often a key may ask in a second; for a while twice as often
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: u32,
    /// Try a protocol that ships, without a key and without a network: it is put into `countersign-NAME` with a
    /// script of replies, where it is not there yet, and served from there
    #[arg(long = "try", value_name = "NAME", num_args = 0..=1, default_missing_value = "intake")]
    pub(crate) trial: Option<String>,
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) allow: AllowArgs,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Speaks MCP with the coding agent that starts it.
///
/// Standard input and output are the agent's; everything else goes to standard error.
#[derive(Debug, Parser)]
#[command(
    after_help = "An agent starts it by itself: docs/agents.md has the lines for OpenCode, Claude Code and Cursor.
Over HTTP the same is at /mcp of `countersign serve`.

Example:
  claude mcp add countersign -- countersign mcp --no-decisions"
)]
pub(crate) struct McpArgs {
    /// The folder of work, instead of the one that the agent starts it in
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// The model of runs that are started with `auto`, whatever protocols say
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Neither remember nor remind
    #[arg(long)]
    pub(crate) no_memory: bool,
    /// Leave yes and no to the person: the agent has no `approve` and no `deny`
    #[arg(long)]
    pub(crate) no_decisions: bool,
    #[command(flatten)]
    pub(crate) allow: AllowArgs,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Makes keys for the server, lists them, takes them back.
#[derive(Debug, Parser)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key; it is shown once
    #[command(after_help = "The key goes to standard output, everything else to standard error.

Roles, each with what those before it may do: reader looks · operator starts, answers, steers · author has files looked over · admin erases

Example:
  countersign key create --tenant acme --role operator --user ann --expires 90d")]
    Create {
        /// Whose runs and memory it opens; `local` is this folder's own
        #[arg(long, value_name = "NAME")]
        tenant: String,
        /// What its holder may do: reader, operator, author, admin
        #[arg(long, value_name = "ROLE")]
        role: String,
        /// Who its holder is, for the record
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// After how long it is none any more, such as `90d` or `12h`; never where absent
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List keys, never the keys themselves
    List,
    /// Take a key back: it opens nothing any more, at once
    Revoke {
        /// Its id, as `key list` shows it
        id: String,
    },
}
