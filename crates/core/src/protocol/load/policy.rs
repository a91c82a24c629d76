//! The policy of the index, and its prices.

use std::collections::BTreeMap;

use super::duration::duration;
use super::faults::Faults;
use super::file::File;
use super::known::Known;
use super::member::Member;
use super::{host, path};
use crate::protocol::budget::millionths;
use crate::protocol::{Duration, Program, RetrievalSource};

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
