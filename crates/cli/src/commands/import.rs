//! `countersign import FILE`: verifies an exported run and adds it to the store.

use std::fs;
use std::io::Read as _;
use std::sync::Arc;

use countersign_runtime::run_observer::NoopRunObserver;
use countersign_runtime::transfer::{
    ImportHalt, ImportOutcome, VerifiedRunFile, import_run, import_run_halted,
};
use countersign_runtime::trust::{ProtocolPermissions, extract_model_server};
use countersign_view::protocol_catalog::load_shipped_permissions;
use serde_json::json;

use super::trust::{trust_model, trust_protocol};
use crate::args::ImportArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::GOOD;

pub(super) fn run(args: &ImportArgs, json: bool) -> Result<CliExit, CliError> {
    let shown = args.file.display().to_string();
    let unreadable = |source| CliError::Unreadable { what: shown.clone(), source };
    let text = if args.file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        text
    } else {
        fs::read_to_string(&args.file).map_err(unreadable)?
    };
    // Verify the file before creating a folder or a database for it.
    let packed = VerifiedRunFile::parse_and_verify(
        &text,
        &countersign_shipped_contracts::load_shipped_contracts(),
    )?;
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let permissions = ProtocolPermissions::from_protocol(&packed.protocol);
        let listed = !permissions.is_empty()
            && !load_shipped_permissions(&packed.protocol.name).contains(&permissions);
        if listed && args.trust {
            trust_protocol(&context, &packed.protocol)?;
        }
        let mut wants = if listed { permissions.describe() } else { Vec::new() };
        // The user who started the run chose its model; the user who imports it did not.
        let server = packed.verification.state.model.as_deref().and_then(extract_model_server);
        wants.extend(
            server.map(|server| format!("model server {server}, named when the run was started")),
        );
        if let (true, Some(model)) = (args.trust, &packed.verification.state.model) {
            trust_model(&context, model)?;
        }
        let halted = !wants.is_empty() && !args.trust;
        let imported = if halted {
            let run = &packed.run;
            let reason = format!(
                "it was imported and needs access to more than files; \
                 review it with `countersign trust --run {run}`, then resume the run with `countersign resume {run}`"
            );
            let halt = ImportHalt { by: context.settings.user(), reason };
            import_run_halted(&context.engine, &packed, &halt).await?
        } else {
            import_run(&context.engine, &packed).await?
        };
        let (run, versions) = (&packed.run, packed.verification.versions);
        let (word, detail) = match &imported {
            ImportOutcome::Created => {
                ("created", format!("imported run {run} with {versions} versions"))
            }
            ImportOutcome::Extended { previous_version: from } => {
                ("extended", format!("updated run {run} from version {from} to {versions}"))
            }
            ImportOutcome::Unchanged => {
                ("unchanged", format!("run {run} already exists with the same history"))
            }
            ImportOutcome::StoreAhead { store_version: here } => (
                "store_ahead",
                format!("run {run} already exists and has continued to version {here}"),
            ),
        };
        if json {
            output::print_json(&json!({
                "run": run,
                "outcome": word,
                "versions": versions,
                "events": packed.verification.events,
                "hash": packed.verification.hash,
                "permissions": wants,
                "halted": context.engine.get_run(run).await?.state.halted.is_some(),
            }));
        } else {
            output::print_message(&format!(
                "{GOOD}proved{GOOD:#}: {} events, last hash {}",
                packed.verification.events, packed.verification.hash
            ));
            output::print_message(&detail);
            if !wants.is_empty() {
                output::print_message("It needs access to more than files:");
                for line in &wants {
                    output::print_message(&format!("  {line}"));
                }
            }
            if halted && context.engine.get_run(run).await?.state.halted.is_some() {
                output::print_message(&format!(
                    "It is halted. Trust the list with `countersign trust --run {run}`, then resume it with `countersign resume {run}`."
                ));
            }
        }
        Ok(CliExit::Success)
    })
}
