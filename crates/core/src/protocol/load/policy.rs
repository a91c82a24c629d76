//! The policy of the index, and its prices.

use std::collections::BTreeMap;

use super::duration::duration;
use super::faults::Faults;
use super::file::File;
use super::known::Known;
use super::member::Member;
use super::{host, path};
use crate::limits::MAX_SHOWN_PATHS;
use crate::protocol::budget::millionths;
use crate::protocol::{Duration, FilePolicy, PathPattern, Program, RetrievalSource};

/// How long a program may take whose author does not say.
const TIMEOUT: Duration = Duration { millis: 60_000 };

/// The programs that runs may start.
pub(super) fn programs(index: Option<&File>, faults: &Faults) -> Known<Program> {
    gather("program", "programs", index, |member| {
        let timeout = match member.get("timeout") {
            Some(timeout) => duration(&timeout, faults)?,
            None => TIMEOUT,
        };
        let command = member.get("command")?.texts();
        if command.first().is_some_and(|file| file.trim().is_empty()) {
            faults.push(member.fault("min_length", "the file of a `command` is blank"));
            return None;
        }
        let environment = member.get("environment").map(|it| it.texts()).unwrap_or_default();
        Some(Program { command, timeout, environment })
    })
}

/// The sources that things are looked up in.
pub(super) fn sources(index: Option<&File>, faults: &Faults) -> Known<RetrievalSource> {
    gather("source", "sources", index, |member| {
        let kind = member.owned("kind")?;
        if kind == "files" {
            match member.get("path") {
                Some(path) if path.text().is_some() => path::inside(&path, faults)?,
                _ => {
                    let message = "a source of kind `files` needs the `path` of its folder";
                    faults.push(member.fault("required", message));
                    return None;
                }
            };
        }
        Some(RetrievalSource { kind, settings: member.value.clone() })
    })
}

/// The hosts that may be called; `None` where the index could not be read.
pub(super) fn hosts(index: Option<&File>, faults: &Faults) -> Option<Vec<String>> {
    let Some(hosts) = index?.root().get("policy").and_then(|policy| policy.get("hosts")) else {
        return Some(Vec::new());
    };
    Some(hosts.items().iter().filter_map(|item| host::host(item, faults)).collect())
}

/// The hidden files that runs may reach.
pub(super) fn files(index: Option<&File>, faults: &Faults) -> FilePolicy {
    let files = index.and_then(|index| index.root().get("policy")?.get("files"));
    let shown = files.and_then(|files| files.get("show"));
    let mut show = Vec::new();
    for item in shown.iter().flat_map(Member::items) {
        let Some(text) = item.text() else { continue };
        match PathPattern::parse(text) {
            Ok(pattern) if pattern.is_reserved() => {
                let message = format!("`{text}` is reserved and cannot be shown to runs");
                let hint = "files of Countersign, of git and of protocols stay hidden".to_owned();
                faults.push(item.fault("hidden_path", message).hinting(Some(hint)));
            }
            Ok(_) if show.len() >= MAX_SHOWN_PATHS => {
                let message = format!("`show` has more than {MAX_SHOWN_PATHS} paths");
                faults.push(item.fault("max_items", message));
                break;
            }
            Ok(pattern) => show.push(pattern),
            Err(reason) => path::tell(&item, text, reason, faults),
        }
    }
    FilePolicy { show }
}

/// What a million tokens cost, by model: in, out.
pub(super) fn prices(index: Option<&File>) -> BTreeMap<String, (u64, u64)> {
    let prices = index.and_then(|index| index.root().get("models")?.get("prices"));
    let price = |(model, member): (&str, Member<'_>)| {
        let of = |key: &str| member.value[key].as_f64().and_then(millionths);
        Some((model.to_owned(), (of("input")?, of("output")?)))
    };
    prices.iter().flat_map(Member::entries).filter_map(price).collect()
}

fn gather<T>(
    kind: &'static str,
    key: &str,
    index: Option<&File>,
    read: impl Fn(&Member<'_>) -> Option<T>,
) -> Known<T> {
    let mut known = Known::new(kind);
    known.unread = index.is_none();
    let Some(index) = index else { return known };
    let section = index.root().get("policy").and_then(|policy| policy.get(key));
    for (name, member) in section.iter().flat_map(Member::entries) {
        let sound = Some(&member).filter(|member| index.is_sound(member));
        known.add(name, sound.and_then(&read));
    }
    known
}
