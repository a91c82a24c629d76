//! MCP resources: protocols, contracts and runs as JSON, with `countersign://` URIs.

use axum::extract::State;
use countersign_contract::text::escape_json_for_display;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::json;

use crate::access::Caller;
use crate::http::extract::{ApiPath, ApiQuery};
use crate::http::{ApiError, HttpState, contracts, protocols, runs};

/// Prefix of every resource URI.
const URI_PREFIX: &str = "countersign://";

/// The media type of every resource.
const JSON_MEDIA_TYPE: &str = "application/json";

/// The resource templates: path template after the prefix, name and description.
pub(super) const RESOURCE_TEMPLATES: [(&str, &str, &str); 4] = [
    (
        "protocols/{name}",
        "protocol",
        "One protocol: workflows, phases, transitions, gates and inputs, and every error in its files.",
    ),
    (
        "contracts/{id}",
        "contract",
        "One contract, by id or `id@version`: its JSON Schema and its rules.",
    ),
    (
        "runs/{run}",
        "run",
        "The status of one run and its reasons: phase, waits, closed gates, budgets, output.",
    ),
    ("runs/{run}/document", "document", "The document of one run."),
];

/// Returns the templates for the client.
pub(super) fn list_templates() -> Vec<ResourceTemplate> {
    let made = RESOURCE_TEMPLATES.iter().map(|(path, name, says)| {
        ResourceTemplate::new(format!("{URI_PREFIX}{path}"), *name)
            .with_description(*says)
            .with_mime_type(JSON_MEDIA_TYPE)
    });
    made.collect()
}

/// Lists the resources: the collections, all protocols and contracts, and one page of runs. Later
/// pages contain only runs.
pub(super) async fn list_resources(
    app: &HttpState,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<(Vec<Resource>, Option<String>), ApiError> {
    let mut all = Vec::new();
    if cursor.is_none() {
        for (path, says) in [
            ("protocols", "All protocols that runs can be started from."),
            ("contracts", "All contracts that replies can be checked against."),
            ("runs", "The newest runs, with status, phase and reason."),
        ] {
            all.push(new_resource(path, path, says));
        }
        for one in protocols::list_protocols(State(app.clone())).await?.0 {
            let path = format!("protocols/{}", percent_encode(&one.name));
            all.push(new_resource(&path, &format!("protocol {}", one.name), &one.description));
        }
        for one in contracts::list_contracts(State(app.clone())).await?.0 {
            let path =
                format!("contracts/{}", percent_encode(&format!("{}@{}", one.id, one.version)));
            all.push(new_resource(&path, &format!("contract {}", one.id), &one.title));
        }
    }
    let page = runs::list_runs(caller.clone(), ApiQuery(list_runs_query(cursor))).await?.0;
    for one in page.items {
        let says = format!("{}, {}: {}", one.workflow, one.status, one.summary);
        all.push(new_resource(
            &format!("runs/{}", percent_encode(&one.run)),
            &format!("run {}", one.run),
            &says,
        ));
    }
    Ok((all, page.next_cursor))
}

/// Reads the resource at a URI.
pub(super) async fn read_resource(
    app: &HttpState,
    caller: &Caller,
    address: &str,
) -> Result<ResourceContents, ApiError> {
    let missing = || {
        let detail = format!("no resource `{address}`; resource URIs start with `{URI_PREFIX}`");
        ApiError::not_found("unknown_resource", detail)
    };
    let path = address.strip_prefix(URI_PREFIX).ok_or_else(missing)?;
    let parts =
        path.split('/').map(percent_decode).collect::<Option<Vec<String>>>().ok_or_else(missing)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let state = State(app.clone());
    match parts[..] {
        ["protocols"] => json_contents(address, &protocols::list_protocols(state).await?.0),
        ["protocols", name] => json_contents(
            address,
            &protocols::get_protocol(state, ApiPath(name.to_owned())).await?.0,
        ),
        ["contracts"] => json_contents(address, &contracts::list_contracts(state).await?.0),
        ["contracts", id] => {
            json_contents(address, &contracts::get_contract(state, ApiPath(id.to_owned())).await?.0)
        }
        ["runs"] => json_contents(
            address,
            &runs::list_runs(caller.clone(), ApiQuery(list_runs_query(None))).await?.0,
        ),
        ["runs", run] => json_contents(
            address,
            &runs::load_run_status(app, &caller.runtime.engine, run, None).await?,
        ),
        ["runs", run, "document"] => {
            let state = runs::load_run_at(&caller.runtime.engine, run, None).await?.state;
            json_contents(address, &state.document)
        }
        _ => Err(missing()),
    }
}

fn json_contents<T: Serialize>(address: &str, what: &T) -> Result<ResourceContents, ApiError> {
    let text = serde_json::to_string_pretty(&json!(what))
        .map_err(|error| ApiError::internal("internal_error", error.to_string()))?;
    Ok(ResourceContents::text(escape_json_for_display(&text), address)
        .with_mime_type(JSON_MEDIA_TYPE))
}

fn new_resource(path: &str, name: &str, says: &str) -> Resource {
    Resource::new(format!("{URI_PREFIX}{path}"), name)
        .with_description(says)
        .with_mime_type(JSON_MEDIA_TYPE)
}

fn list_runs_query(cursor: Option<String>) -> runs::ListRunsQuery {
    runs::ListRunsQuery { cursor, ..runs::ListRunsQuery::default() }
}

/// Encodes a name as a segment of a URI.
fn percent_encode(name: &str) -> String {
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

/// Decodes a segment of a URI; `None` if it is malformed.
fn percent_decode(part: &str) -> Option<String> {
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
            assert_eq!(percent_decode(&percent_encode(name)).as_deref(), Some(name));
            assert!(!percent_encode(name).contains('/'));
        }
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(percent_decode(broken), None, "{broken}");
        }
    }
}
