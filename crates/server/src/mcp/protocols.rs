//! Tools about protocols and contracts: what there is, whether it is sound, whether a text satisfies it.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::tool::{Effect, Told, Tool};
use crate::access::Caller;
use crate::http::admit::{self, Files, FinishWord, IntakeWord, RepairsWord, Replied};
use crate::http::extract::{At, Body};
use crate::http::{ApiError, App, protocols};
use crate::wire::{Admission, Findings, ProtocolRow, ProtocolView};

/// Nothing is asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Which protocol.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Its name, as `list_protocols` gives it.
    name: String,
}

/// What is checked: the files of a protocol, or one that there is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Checking {
    /// The name of a protocol that there is; where neither this nor `files` is given, the one of the folder of work.
    name: Option<String>,
    /// The text of each file by its path inside the protocol folder: `index.yaml`, `workflows/main.yaml`,
    /// `agents/writer.yaml`, …. Give all files of the protocol: what is absent counts as missing.
    files: Option<BTreeMap<String, String>>,
}

/// A text, and the contract it is held against.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Admitting {
    /// The contract: an id, or `id@version`.
    contract: String,
    /// The text as it is, with whatever stands around the object.
    text: String,
    /// What may stand around the object, instead of the contract's own word.
    intake: Option<IntakeWord>,
    /// Which repairs may be made, instead of the contract's own word.
    repairs: Option<RepairsWord>,
    /// Why the writer stopped; a text that was cut off (`length`) is never mended.
    finish: Option<FinishWord>,
    /// What the contract's rules see as `state`.
    state: Option<Value>,
    /// What the contract's rules see as `run`.
    run: Option<Value>,
    /// Whether the text is wanted that would ask a model again.
    #[serde(default)]
    reask: bool,
}

/// Every protocol.
#[derive(Debug, Serialize, ToSchema)]
struct Protocols {
    /// That of the folder of work first, then those that ship.
    items: Vec<ProtocolRow>,
}

/// The tools.
pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            Told {
                name: "list_protocols",
                title: "List protocols",
                route: ("GET", "/v1/protocols"),
                effect: Effect::Looks,
                says: "Lists the protocols that runs can be started of: the one of the folder of work (origin `folder`) and those that ship. Use it first, when you do not know yet what there is. Next: show_protocol for what a workflow takes and does, or start_run.",
            },
            list,
        ),
        Tool::new(
            Told {
                name: "show_protocol",
                title: "Show a protocol",
                route: ("GET", "/v1/protocols/{name}"),
                effect: Effect::Looks,
                says: "Shows one protocol: its workflows with their phases, ways and gates, what each workflow takes as `input` (a JSON Schema), and every fault in its files. Use it before start_run when a workflow takes an input.",
            },
            show,
        ),
        Tool::new(
            Told {
                name: "check_protocol",
                title: "Check a protocol",
                route: ("POST", "/v1/protocols/check"),
                effect: Effect::Looks,
                says: "Looks for faults in a protocol without running or keeping anything: one that there is by `name`, or all `files` of one that you are writing. Comes back with every finding: code, file, line, column, message and hint; `errors` is 0 where it can be run. Use it after every edit of a protocol.",
            },
            check,
        ),
        Tool::new(
            Told {
                name: "admit_text",
                title: "Hold a text against a contract",
                route: ("POST", "/v1/contracts/{id}/admit"),
                effect: Effect::Looks,
                says: "Holds a text against a contract and says `accepted` with the value, or `refused` with every violation (pointer, code, expected, found, hint). Nothing is kept, and no run moves: use it to try a reply before submit_reply, or to check a text that no run asks for. Rules that need a `state` are listed in `unchecked` where none is given.",
            },
            admit_text,
        ),
    ]
}

async fn list(app: App, _: Caller, _: Nothing) -> Result<Protocols, ApiError> {
    Ok(Protocols { items: protocols::list(State(app)).await?.0 })
}

async fn show(app: App, _: Caller, Which { name }: Which) -> Result<ProtocolView, ApiError> {
    Ok(protocols::show(State(app), At(name)).await?.0)
}

async fn check(app: App, _: Caller, asked: Checking) -> Result<Findings, ApiError> {
    match asked {
        Checking { name: Some(_), files: Some(_) } => {
            Err(ApiError::wrong("bad_arguments", "give either `name` or `files`"))
        }
        Checking { name: None, files: Some(files) } => {
            Ok(admit::check(State(app), Body(Files { files })).await?.0)
        }
        Checking { name, files: None } => {
            protocols::of_files(&app, move |catalog| Ok(catalog.findings(name.as_deref())?)).await
        }
    }
}

async fn admit_text(app: App, _: Caller, asked: Admitting) -> Result<Admission, ApiError> {
    let Admitting { contract, text, intake, repairs, finish, state, run, reask } = asked;
    let replied = Replied { text, intake, repairs, finish, state, run, reask };
    Ok(admit::admit(State(app), At(contract), Body(replied)).await?.0)
}
