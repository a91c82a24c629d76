//! Reads the policy of the index, and the prices of models.

use std::collections::BTreeMap;

use countersign_contract::limits::MAX_SHOWN_PATHS;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::read_duration::read_duration;
use super::symbol_table::SymbolTable;
use super::{confined_path, read_host};
use crate::budget_limits::to_millionths;
use crate::{DurationMillis, FilePolicy, PathPattern, ProgramDefinition, RetrievalSource};

/// Time limit of a program if the author sets none.
pub(super) const DEFAULT_TIMEOUT: DurationMillis = DurationMillis { millis: 60_000 };

/// Reads the programs that runs may start.
pub(super) fn read_programs(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> SymbolTable<ProgramDefinition> {
    read_policy_section("program", "programs", index, |member| {
        let timeout = match member.get("timeout") {
            Some(timeout) => read_duration(&timeout, faults)?,
            None => DEFAULT_TIMEOUT,
        };
        let command = member.get("command")?.texts();
        if command.first().is_some_and(|file| file.trim().is_empty()) {
            faults.push(member.diagnose("min_length", "the file of a `command` is blank"));
            return None;
        }
        let environment = member.get("environment").map(|it| it.texts()).unwrap_or_default();
        Some(ProgramDefinition { command, timeout, environment })
    })
}

/// Reads the sources that runs may query.
pub(super) fn read_sources(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> SymbolTable<RetrievalSource> {
    read_policy_section("source", "sources", index, |member| {
        let kind = member.string_at("kind")?;
        if kind == "files" {
            match member.get("path") {
                Some(path) if path.text().is_some() => {
                    confined_path::read_confined_path(&path, faults)?
                }
                _ => {
                    let message = "a source of kind `files` needs the `path` of its folder";
                    faults.push(member.diagnose("required", message));
                    return None;
                }
            };
        }
        Some(RetrievalSource { kind, settings: member.value.clone() })
    })
}

/// Reads the hosts that runs may call; `None` if the index could not be read.
pub(super) fn read_hosts(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> Option<Vec<String>> {
    let Some(hosts) = index?.root().get("policy").and_then(|policy| policy.get("hosts")) else {
        return Some(Vec::new());
    };
    Some(hosts.items().iter().filter_map(|item| read_host::read_host(item, faults)).collect())
}

/// Reads the hidden files that runs may reach.
pub(super) fn read_file_policy(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> FilePolicy {
    let files = index.and_then(|index| index.root().get("policy")?.get("files"));
    let shown = files.and_then(|files| files.get("show"));
    let mut show = Vec::new();
    for item in shown.iter().flat_map(FileNode::items) {
        let Some(text) = item.text() else { continue };
        match PathPattern::parse(text) {
            Ok(pattern) if pattern.is_reserved() => {
                let message = format!("`{text}` is reserved and cannot be shown to runs");
                let hint = "files of Countersign, git and protocols stay hidden".to_owned();
                faults.push(item.diagnose("hidden_path", message).with_hint(Some(hint)));
            }
            Ok(_) if show.len() >= MAX_SHOWN_PATHS => {
                let message = format!("`show` has more than {MAX_SHOWN_PATHS} paths");
                faults.push(item.diagnose("max_items", message));
                break;
            }
            Ok(pattern) => show.push(pattern),
            Err(reason) => confined_path::report_path_escape(&item, text, reason, faults),
        }
    }
    FilePolicy { show }
}

/// Reads the price of a million tokens by model, in millionths of the currency: input, output.
pub(super) fn read_prices(index: Option<&ProtocolFile>) -> BTreeMap<String, (u64, u64)> {
    let prices = index.and_then(|index| index.root().get("models")?.get("prices"));
    let price = |(model, member): (&str, FileNode<'_>)| {
        let of = |key: &str| member.value[key].as_f64().and_then(to_millionths);
        Some((model.to_owned(), (of("input")?, of("output")?)))
    };
    prices.iter().flat_map(FileNode::entries).filter_map(price).collect()
}

/// Reads a section of the policy whose members have names.
pub(super) fn read_policy_section<T>(
    kind: &'static str,
    key: &str,
    index: Option<&ProtocolFile>,
    read: impl Fn(&FileNode<'_>) -> Option<T>,
) -> SymbolTable<T> {
    let mut known = SymbolTable::new(kind);
    known.unread = index.is_none();
    let Some(index) = index else { return known };
    let section = index.root().get("policy").and_then(|policy| policy.get(key));
    for (name, member) in section.iter().flat_map(FileNode::entries) {
        let sound = Some(&member).filter(|member| index.is_valid(member));
        known.add(name, sound.and_then(&read));
    }
    known
}
