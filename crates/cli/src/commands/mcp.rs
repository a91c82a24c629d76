//! `countersign mcp`: serves MCP over standard input and output and drives runs in the same
//! process.

use std::io::IsTerminal as _;
use std::sync::Arc;

use countersign_server::access::Keyring;
use countersign_server::app_state::AppState;
use countersign_server::mcp::{McpStdioSession, serve_stdio};

use super::serve::{WarningPrinter, build_server_deps};
use crate::args::McpArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::signals::TerminationSignals;
use crate::{output, render};

pub(super) fn run(args: &McpArgs) -> Result<CliExit, CliError> {
    if let Some(folder) = &args.folder {
        // Must happen before anything is opened and before other threads could observe the change.
        std::env::set_current_dir(folder).map_err(|source| CliError::Unreadable {
            what: format!("the workspace folder `{}`", folder.display()),
            source,
        })?;
    }
    block_on(async {
        let model = args.model.as_deref();
        let context = CliContext::open_with_memory(
            &args.store_args,
            model,
            Arc::new(WarningPrinter),
            !args.no_memory,
        )?
        .with_allow_list(&args.allow)?;
        let mut signals = TerminationSignals::listen();
        if std::io::stdin().is_terminal() {
            output::print_message(
                "Speaking MCP on standard input and output, for a coding agent that starts this command (docs/agents.md). Press Ctrl-C to stop.",
            );
        }
        let session = McpStdioSession {
            app_state: Arc::new(AppState::open(build_server_deps(&context)?)),
            keyring: Arc::new(Keyring::open(context.home.folder().join("keys.json"))),
            may_decide: !args.no_decisions,
        };
        let served = serve_stdio(session, signals.recv()).await;
        let exit = match served {
            Ok(()) => CliExit::Success,
            Err(error) => {
                let error = CliError::Usage(error.to_string());
                render::print_error(&error, false);
                error.exit_code()
            }
        };
        // Flush telemetry now, because an exit drops nothing.
        drop(context);
        // A thread may still be blocked on standard input, and it cannot be interrupted.
        std::process::exit(exit as i32)
    })
}
