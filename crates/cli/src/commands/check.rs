//! `countersign check [DIR]`: every fault of a protocol, beside its place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use countersign_contracts::registry;
use countersign_core::protocol::{Protocol, check};
use countersign_core::spec::{Diagnostic, Severity};
use countersign_runtime::folder;
use countersign_server::wire::Findings;
use serde_json::json;

use crate::args::{Check, Site};
use crate::exit::{Error, Exit};
use crate::house::{load_bundle, protocol_at, protocol_near};
use crate::output;
use crate::settings::Settings;
use crate::show::{self, BAD, GOOD};

pub(super) fn run(args: &Check, json: bool) -> Result<Exit, Error> {
    let folder = match &args.folder {
        Some(folder) => protocol_at(folder)?,
        None => named()?,
    };
    let bundle = folder::read(&folder)?;
    let files = bundle.files.len();
    let (loaded, mut findings) = match load_bundle(bundle) {
        Ok((protocol, mut warnings)) => {
            warnings.extend(check(&protocol));
            (Some(protocol), warnings)
        }
        Err(Error::Author(faults)) => (None, faults),
        Err(other) => return Err(other),
    };
    findings.sort_by_key(|one| (one.severity, one.source.name.clone(), one.span.start));
    let errors = findings.iter().filter(|one| one.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    let named = |one: &Diagnostic| shown(&folder.join(&one.source.name));
    if json {
        let mut found = Findings::of(shown(&folder), files, findings.clone());
        for one in &mut found.findings {
            one.file = shown(&folder.join(&one.file));
        }
        output::json(&json!(found));
    } else {
        for one in &findings {
            output::talk(&show::fault(one, &named(one)));
            output::talk("");
        }
        output::talk(&summary(&findings, errors, warnings, loaded.as_deref()));
    }
    let bad = errors > 0 || args.strict && warnings > 0;
    Ok(if bad { Exit::Refused } else { Exit::Good })
}

/// The folder that the settings name, or the nearest one.
fn named() -> Result<PathBuf, Error> {
    let here = Path::new(".");
    let whole = here
        .canonicalize()
        .map_err(|source| Error::Unreadable { what: "this folder".to_owned(), source })?;
    let settings = Settings::read(&whole, &Site::default(), None)?;
    match settings.protocol.value.as_deref() {
        Some(named) => protocol_at(Path::new(named)),
        None => protocol_near(here),
    }
}

fn summary(
    findings: &[Diagnostic],
    errors: usize,
    warnings: usize,
    protocol: Option<&Protocol>,
) -> String {
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(format!("{BAD}{}{BAD:#}", count(errors, "error")));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    if !parts.is_empty() {
        let files: BTreeSet<&str> = findings.iter().map(|one| one.source.name.as_str()).collect();
        return format!("{} in {}", parts.join(", "), count(files.len(), "file"));
    }
    let Some(protocol) = protocol else { return String::new() };
    let shipped = registry();
    let own = protocol
        .contracts
        .iter()
        .filter(|contract| shipped.find(&format!("{}@{}", contract.id, contract.version)).is_err());
    format!(
        "{GOOD}no fault found{GOOD:#}: {}, {}, {}",
        count(protocol.workflows.len(), "workflow"),
        count(protocol.bundle.under("agents").count(), "agent"),
        count(own.count(), "contract"),
    )
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A path as somebody in this folder would type it.
fn shown(path: &Path) -> String {
    let here = Path::new(".").canonicalize().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
