//! `countersign check [DIR]`: reports every diagnostic of a protocol with its location.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use countersign_contract::source::{Diagnostic, DiagnosticSeverity};
use countersign_protocol::{Protocol, check_protocol};
use countersign_runtime::folder;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_view::wire::CheckReport;
use serde_json::json;

use crate::args::{CheckArgs, StoreArgs};
use crate::context::{find_nearest_protocol, load_bundle, resolve_protocol_folder};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{self, BAD, GOOD};
use crate::settings::CliSettings;

pub(super) fn run(args: &CheckArgs, json: bool) -> Result<CliExit, CliError> {
    let folder = match &args.folder {
        Some(folder) => resolve_protocol_folder(folder)?,
        None => find_protocol_folder()?,
    };
    let bundle = folder::read_protocol_folder(&folder)?;
    let files = bundle.files.len();
    let (loaded, mut findings) = match load_bundle(bundle) {
        Ok((protocol, mut warnings)) => {
            warnings.extend(check_protocol(&protocol));
            (Some(protocol), warnings)
        }
        Err(CliError::InvalidFiles(faults)) => (None, faults),
        Err(other) => return Err(other),
    };
    findings.sort_by_key(|one| (one.severity, one.source.name.clone(), one.span.start));
    let errors = findings.iter().filter(|one| one.severity == DiagnosticSeverity::Error).count();
    let warnings = findings.len() - errors;
    let named = |one: &Diagnostic| display_path(&folder.join(&one.source.name));
    if json {
        let mut found =
            CheckReport::from_diagnostics(display_path(&folder), files, findings.clone());
        for one in &mut found.diagnostics {
            one.file = display_path(&folder.join(&one.file));
        }
        output::print_json(&json!(found));
    } else {
        for one in &findings {
            output::print_message(&render::format_fault(one, &named(one)));
            output::print_message("");
        }
        output::print_message(&format_summary(&findings, errors, warnings, loaded.as_deref()));
    }
    let bad = errors > 0 || args.strict && warnings > 0;
    Ok(if bad { CliExit::Refused } else { CliExit::Success })
}

/// Finds the protocol folder that the settings name, or the nearest one.
fn find_protocol_folder() -> Result<PathBuf, CliError> {
    let here = Path::new(".");
    let whole = here
        .canonicalize()
        .map_err(|source| CliError::Unreadable { what: "this folder".to_owned(), source })?;
    let settings = CliSettings::load(&whole, &StoreArgs::default(), None)?;
    match settings.protocol.value.as_deref() {
        Some(named) => resolve_protocol_folder(Path::new(named)),
        None => find_nearest_protocol(here),
    }
}

fn format_summary(
    findings: &[Diagnostic],
    errors: usize,
    warnings: usize,
    protocol: Option<&Protocol>,
) -> String {
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(format!("{BAD}{}{BAD:#}", pluralize(errors, "error")));
    }
    if warnings > 0 {
        parts.push(pluralize(warnings, "warning"));
    }
    if !parts.is_empty() {
        let files: BTreeSet<&str> = findings.iter().map(|one| one.source.name.as_str()).collect();
        return format!("{} in {}", parts.join(", "), pluralize(files.len(), "file"));
    }
    let Some(protocol) = protocol else { return String::new() };
    let shipped = load_shipped_contracts();
    let own = protocol
        .contracts
        .iter()
        .filter(|contract| shipped.find(&format!("{}@{}", contract.id, contract.version)).is_err());
    format!(
        "{GOOD}no problems found{GOOD:#}: {}, {}, {}",
        pluralize(protocol.workflows.len(), "workflow"),
        pluralize(protocol.bundle.files_in_folder("agents").count(), "agent"),
        pluralize(own.count(), "contract"),
    )
}

fn pluralize(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns a path relative to the current folder, if it is inside.
fn display_path(path: &Path) -> String {
    let here = Path::new(".").canonicalize().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
