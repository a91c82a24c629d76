//! Resources: protocols, contracts and runs, each as JSON under an address of ours.

use axum::extract::State;
use countersign_core::text::escape_json_for_display;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::json;

use crate::access::Caller;
use crate::http::extract::{Asked, At};
use crate::http::{ApiError, App, contracts, protocols, runs};

/// What every address of ours begins with.
const SCHEME: &str = "countersign://";

/// The media type of every one.
const JSON: &str = "application/json";

/// Which of many.
pub(super) const TEMPLATES: [(&str, &str, &str); 4] = [
    (
        "protocols/{name}",
        "protocol",
        "One protocol: workflows, phases, ways and gates, what each takes, every fault in its files.",
    ),
    (
        "contracts/{id}",
        "contract",
        "One contract, by id or `id@version`: its JSON Schema and its rules.",
    ),
    (
        "runs/{run}",
        "run",
        "Where one run stands and why: phase, waits, closed gates, budgets, output.",
    ),
    ("runs/{run}/document", "document", "The document that one run works on."),
];

/// The templates, as clients list them.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let made = TEMPLATES.iter().map(|(path, name, says)| {
        ResourceTemplate::new(format!("{SCHEME}{path}"), *name)
            .with_description(*says)
            .with_mime_type(JSON)
    });
    made.collect()
}

/// What there is: lists, protocols, contracts, and runs a page at a time. Later pages have runs alone.
pub(super) async fn list(
    app: &App,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<(Vec<Resource>, Option<String>), ApiError> {
    let mut all = Vec::new();
    if cursor.is_none() {
        for (path, says) in [
            ("protocols", "Every protocol that runs can be started of."),
            ("contracts", "Every contract that replies can be held against."),
            ("runs", "The newest runs, with status, phase and why."),
        ] {
            all.push(resource(path, path, says));
        }
        for one in protocols::list(State(app.clone())).await?.0 {
            let path = format!("protocols/{}", encoded(&one.name));
            all.push(resource(&path, &format!("protocol {}", one.name), &one.about));
        }
        for one in contracts::list(State(app.clone())).await?.0 {
            let path = format!("contracts/{}", encoded(&format!("{}@{}", one.id, one.version)));
            all.push(resource(&path, &format!("contract {}", one.id), &one.title));
        }
    }
    let page = runs::list(caller.clone(), Asked(which(cursor))).await?.0;
    for one in page.items {
        let says = format!("{}, {}: {}", one.workflow, one.status, one.summary);
        all.push(resource(
            &format!("runs/{}", encoded(&one.run)),
            &format!("run {}", one.run),
            &says,
        ));
    }
    Ok((all, page.next))
}

/// What stands at an address.
pub(super) async fn read(
    app: &App,
    caller: &Caller,
    address: &str,
) -> Result<ResourceContents, ApiError> {
    let missing = || {
        let detail = format!("no resource `{address}`; addresses begin with `{SCHEME}`");
        ApiError::missing("unknown_resource", detail)
    };
    let path = address.strip_prefix(SCHEME).ok_or_else(missing)?;
    let parts =
        path.split('/').map(decoded).collect::<Option<Vec<String>>>().ok_or_else(missing)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let state = State(app.clone());
    match parts[..] {
        ["protocols"] => shown(address, &protocols::list(state).await?.0),
        ["protocols", name] => {
            shown(address, &protocols::show(state, At(name.to_owned())).await?.0)
        }
        ["contracts"] => shown(address, &contracts::list(state).await?.0),
        ["contracts", id] => shown(address, &contracts::show(state, At(id.to_owned())).await?.0),
        ["runs"] => shown(address, &runs::list(caller.clone(), Asked(which(None))).await?.0),
        ["runs", run] => {
            shown(address, &runs::standing(app, &caller.desk.engine, run, None).await?)
        }
        ["runs", run, "document"] => {
            let state = runs::seen(&caller.desk.engine, run, None).await?.state;
            shown(address, &state.document)
        }
        _ => Err(missing()),
    }
}

fn shown<T: Serialize>(address: &str, what: &T) -> Result<ResourceContents, ApiError> {
    let text = serde_json::to_string_pretty(&json!(what))
        .map_err(|error| ApiError::ours("broke_down", error.to_string()))?;
    Ok(ResourceContents::text(escape_json_for_display(&text), address).with_mime_type(JSON))
}

fn resource(path: &str, name: &str, says: &str) -> Resource {
    Resource::new(format!("{SCHEME}{path}"), name).with_description(says).with_mime_type(JSON)
}

fn which(cursor: Option<String>) -> runs::Which {
    runs::Which { status: None, workflow: None, phase: None, protocol: None, cursor, limit: None }
}

/// A name as a part of an address.
fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'@' => {
                text.push(char::from(byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

/// A part of an address as the name it stands for; `None` where it is none.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_its_address() {
        for name in ["demo", "a b/c", "架构 100%", "x@1.0.0", ""] {
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
            assert!(!encoded(name).contains('/'));
        }
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
