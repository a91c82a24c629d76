//! Commands about the server, as clap sees them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::{AllowArgs, StoreArgs};

/// Serves HTTP and works on runs.
#[derive(Debug, Parser)]
#[command(
    after_help = "Stop it with Ctrl-C: requests in progress are answered, and every run can continue later.

Examples:
  countersign serve
  countersign serve --try intake --open
  countersign serve --listen 127.0.0.1:8080 --model openai:gpt-5-mini
  countersign key create --tenant acme --role operator; countersign serve --listen 0.0.0.0:7070"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ServeArgs {
    /// Address to listen on; can be repeated. Addresses that other machines can reach require keys
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub(crate) listen: Vec<SocketAddr>,
    /// Model to use; overrides the models that protocols name
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Do not read or write memory
    #[arg(long)]
    pub(crate) no_memory: bool,
    /// Require a key for every request, also from this machine; use it behind a proxy, where all requests look local
    #[arg(long)]
    pub(crate) keys: bool,
    /// Let every user of this machine in without the token in `.countersign/token`
    #[arg(long, conflicts_with = "keys")]
    pub(crate) no_token: bool,
    /// Requests per second that each key may send; short bursts of twice as many are allowed
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: u32,
    /// Try a shipped protocol, without an API key and without a network: copy it into `countersign-NAME` with a
    /// script of replies, unless it is already there, and serve it from there
    #[arg(long = "try", value_name = "NAME", num_args = 0..=1, default_missing_value = "intake")]
    pub(crate) trial: Option<String>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) allow: AllowArgs,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Speaks MCP with the coding agent that starts it.
///
/// Standard input and output are reserved for the agent; everything else goes to standard error.
#[derive(Debug, Parser)]
#[command(
    after_help = "The agent starts this command itself: docs/agents.md has the configuration for OpenCode, Claude Code and Cursor.
`countersign serve` offers the same over HTTP at /mcp.

Example:
  claude mcp add countersign -- countersign mcp --no-decisions"
)]
pub(crate) struct McpArgs {
    /// Workspace folder, instead of the one that the agent starts this command in
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Model of runs that are started with `auto`; overrides the models that protocols name
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Do not read or write memory
    #[arg(long)]
    pub(crate) no_memory: bool,
    /// Leave decisions to the person: the agent has no `approve` and no `deny` tool
    #[arg(long)]
    pub(crate) no_decisions: bool,
    #[command(flatten)]
    pub(crate) allow: AllowArgs,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Creates, lists and revokes keys for the server.
#[derive(Debug, Parser)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key, which is shown only once
    #[command(after_help = "The key goes to standard output, everything else to standard error.

Roles, each with the rights of those before it: reader views runs · operator starts, answers and controls runs · author checks protocol files · admin erases data

Example:
  countersign key create --tenant acme --role operator --user ann --expires 90d")]
    Create {
        /// Tenant whose runs and memory the key gives access to; `default` is this folder's own
        #[arg(long, value_name = "NAME")]
        tenant: String,
        /// Role of the key holder: reader, operator, author, admin
        #[arg(long, value_name = "ROLE")]
        role: String,
        /// Name of the key holder, for the record
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Group of the key holder, for waits that are assigned to `group:NAME`; may be repeated
        #[arg(long = "group", value_name = "NAME")]
        groups: Vec<String>,
        /// Time until the key expires, such as `90d` or `12h`; it never expires if omitted
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List keys without their secret values
    List,
    /// Revoke a key with immediate effect
    Revoke {
        /// Key id, as `key list` shows it
        id: String,
    },
}
