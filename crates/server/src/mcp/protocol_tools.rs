//! MCP tools for protocols and contracts: list, show, check, and validate a text.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::tool::{McpTool, McpToolEffect, McpToolSpec};
use crate::access::Caller;
use crate::http::extract::{ApiJson, ApiPath, ApiQuery};
use crate::http::protocols::ProtocolAgentQuery;
use crate::http::validation::{
    self, AdmitRequest, CheckProtocolRequest, FinishParam, IntakeParam, RepairsParam,
};
use crate::http::{ApiError, HttpState, protocols};
use countersign_view::wire::{AdmissionView, AgentView, CheckReport, ProtocolRow, ProtocolView};

/// This tool has no parameters.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ListProtocolsParams {}

/// Selects a protocol.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShowProtocolParams {
    /// The name of the protocol, as `list_protocols` returns it.
    name: String,
}

/// Selects an agent of a protocol.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShowAgentParams {
    /// The name of the protocol, as `list_protocols` returns it.
    protocol: String,
    /// The id of the agent, as `show_protocol` lists it in `agents`.
    agent: String,
    /// The skill of the agent whose whole text is returned. Default: none, only descriptions.
    skill: Option<String>,
}

/// The protocol to check: existing, or given as files.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CheckProtocolParams {
    /// The name of an existing protocol. If neither `name` nor `files` is set, the protocol of the
    /// workspace is checked.
    name: Option<String>,
    /// The text of each file by its path in the protocol folder: `index.yaml`,
    /// `workflows/main.yaml`, `agents/writer.yaml`, …. Include all files of the protocol: a file
    /// that is not listed counts as missing.
    files: Option<BTreeMap<String, String>>,
}

/// A text and the contract to check it against.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AdmitTextParams {
    /// The contract: an id, or `id@version`.
    contract: String,
    /// The complete text, including everything around the JSON object.
    text: String,
    /// The intake mode, instead of the contract's.
    intake: Option<IntakeParam>,
    /// The repair level, instead of the contract's.
    repairs: Option<RepairsParam>,
    /// Why the author stopped. A text that was cut off (`length`) is never repaired.
    finish: Option<FinishParam>,
    /// The value of `state` in the contract's rules.
    state: Option<Value>,
    /// The value of `run` in the contract's rules.
    run: Option<Value>,
    /// Whether to return the text that would ask a model to retry. Default: false.
    #[serde(default)]
    reask: bool,
}

/// The list of protocols.
#[derive(Debug, Serialize, ToSchema)]
struct ListProtocolsResult {
    /// The protocol of the workspace first, then the shipped ones.
    items: Vec<ProtocolRow>,
}

/// Builds the tools of this file.
pub(super) fn build_tools() -> Vec<McpTool> {
    vec![
        McpTool::new(
            McpToolSpec {
                name: "list_protocols",
                title: "List protocols",
                route: ("GET", "/v1/protocols"),
                effect: McpToolEffect::ReadOnly,
                description: "Lists the protocols that runs can be started from: the protocol of the workspace (origin `folder`) and the shipped protocols (origin `shipped`). Use it first if you do not know which protocols exist. Next: show_protocol for the input and the phases of a workflow, or start_run.",
            },
            list_protocols,
        ),
        McpTool::new(
            McpToolSpec {
                name: "show_protocol",
                title: "Show a protocol",
                route: ("GET", "/v1/protocols/{name}"),
                effect: McpToolEffect::ReadOnly,
                description: "Shows one protocol: its workflows with their phases, transitions and gates, the `input` of each workflow with its JSON Schema, and every error in its files. Use it before start_run if a workflow takes an input.",
            },
            show_protocol,
        ),
        McpTool::new(
            McpToolSpec {
                name: "show_agent",
                title: "Show an agent",
                route: ("GET", "/v1/protocols/{name}/agents/{agent}"),
                effect: McpToolEffect::ReadOnly,
                description: "Shows one agent of a protocol as it is resolved: its prompt merged with its base, its model, tools (`foreign_tools` are tools that you may have yourself), rules with their texts, and skills with their descriptions. Use it to do the work of an agent that no phase uses. Read the whole text of a skill, by `skill`, before you do what it is for.",
            },
            show_agent,
        ),
        McpTool::new(
            McpToolSpec {
                name: "check_protocol",
                title: "Check a protocol",
                route: ("POST", "/v1/protocols/check"),
                effect: McpToolEffect::ReadOnly,
                description: "Checks a protocol for errors without running or storing anything: an existing protocol by `name`, or a protocol that you are writing with all its `files`. Returns every finding with code, file, line, column, message and hint. If `errors` is 0, the protocol can run. Use it after every edit of a protocol.",
            },
            check_protocol,
        ),
        McpTool::new(
            McpToolSpec {
                name: "admit_text",
                title: "Check a text against a contract",
                route: ("POST", "/v1/contracts/{id}/admit"),
                effect: McpToolEffect::ReadOnly,
                description: "Checks a text against a contract and returns `accepted` with the value, or `refused` with every violation (pointer, code, expected, found, hint). It stores nothing and changes no run: use it to try a reply before submit_reply, or to check a text that no run asks for. If you pass no `state`, `unchecked` lists the rules that need one.",
            },
            admit_text,
        ),
    ]
}

async fn list_protocols(
    app: HttpState,
    _: Caller,
    _: ListProtocolsParams,
) -> Result<ListProtocolsResult, ApiError> {
    Ok(ListProtocolsResult { items: protocols::list_protocols(State(app)).await?.0 })
}

async fn show_protocol(
    app: HttpState,
    _: Caller,
    ShowProtocolParams { name }: ShowProtocolParams,
) -> Result<ProtocolView, ApiError> {
    Ok(protocols::get_protocol(State(app), ApiPath(name)).await?.0)
}

async fn show_agent(
    app: HttpState,
    _: Caller,
    ShowAgentParams { protocol, agent, skill }: ShowAgentParams,
) -> Result<AgentView, ApiError> {
    let query = ApiQuery(ProtocolAgentQuery { skill });
    Ok(protocols::get_protocol_agent(State(app), ApiPath((protocol, agent)), query).await?.0)
}

async fn check_protocol(
    app: HttpState,
    _: Caller,
    params: CheckProtocolParams,
) -> Result<CheckReport, ApiError> {
    match params {
        CheckProtocolParams { name: Some(_), files: Some(_) } => {
            Err(ApiError::unprocessable("bad_arguments", "set either `name` or `files`"))
        }
        CheckProtocolParams { name: None, files: Some(files) } => Ok(
            validation::check_protocol_files(State(app), ApiJson(CheckProtocolRequest { files }))
                .await?
                .0,
        ),
        CheckProtocolParams { name, files: None } => {
            protocols::with_catalog(&app, move |catalog| {
                Ok(catalog.check_protocol(name.as_deref())?)
            })
            .await
        }
    }
}

async fn admit_text(
    app: HttpState,
    _: Caller,
    params: AdmitTextParams,
) -> Result<AdmissionView, ApiError> {
    let AdmitTextParams { contract, text, intake, repairs, finish, state, run, reask } = params;
    let replied = AdmitRequest { text, intake, repairs, finish, state, run, reask };
    Ok(validation::admit_reply(State(app), ApiPath(contract), ApiJson(replied)).await?.0)
}
