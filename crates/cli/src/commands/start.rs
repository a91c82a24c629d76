//! Starts the run of `countersign run`: selects the protocol, reads the input, and adopts existing
//! state files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::json::{RepairLevel, parse_json};
use countersign_protocol::{DocumentDefinition, Protocol, WorkflowDefinition};
use countersign_run::RunStart;
use countersign_runtime::projection::{keep_state_files, read_state_files, state_folder};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_protocols::ShippedProtocol;
use countersign_view::protocol_catalog::{
    CatalogError, ProtocolCatalog, SHIPPED_PREFIX, find_shipped,
};
use serde_json::Value;

use super::run::create_run;
use crate::args::RunArgs;
use crate::context::{CliContext, load_protocol_folder};
use crate::exit::CliError;
use crate::{files, output, terminal};

/// The selected protocol and its folder.
struct SelectedProtocol {
    protocol: Arc<Protocol>,
    workflow: String,
    /// The protocol folder; `None` for a shipped protocol, which has no folder here.
    folder: Option<PathBuf>,
}

/// Starts a run. Adopts existing state files that do not belong to a run yet.
pub(super) async fn start_run(
    context: &CliContext,
    args: &RunArgs,
    talks: bool,
) -> Result<String, CliError> {
    let document = args.document.as_deref().map(files::read_json).transpose()?;
    let SelectedProtocol { protocol, workflow, folder } = select_protocol(context, args)?;
    let mut start = RunStart {
        protocol: protocol.digest.clone(),
        workflow,
        document,
        model: context.settings.model.value.clone(),
        by: Some(context.settings.user()),
        sender: Some(context.settings.sender()),
        ..RunStart::default()
    };
    let described = protocol.find_workflow(&start.workflow).map_err(CliError::Usage)?;
    start.input = args.input.as_deref().map(|text| read_input(text, described)).transpose()?;
    if let Some(folder) = &folder
        && let Some(StateToAdopt { phase, document, halted }) =
            find_adoptable_state(context, folder, &protocol, &start).await?
    {
        let manner = if halted { ", halted" } else { "" };
        output::print_message(&format!(
            "continuing from the state files beside the protocol, in phase {phase}{manner}"
        ));
        start.phase = Some(phase);
        start.document = Some(document);
        start.halted = halted.then(|| "it was halted in the state files".to_owned());
        return create_run(context, &protocol, start, args.idempotency_key.clone()).await;
    }
    let question = described.input.as_ref().and_then(|input| input.question.as_ref());
    let first = &protocol.document_for(described).initial;
    let language = protocol.resolve_language(first, &Value::Null);
    let question = question.map(|question| question.version_for(language.as_deref()));
    let Some(question) = question.filter(|_| start.input.is_none()) else {
        return create_run(context, &protocol, start, args.idempotency_key.clone()).await;
    };
    if !talks {
        return match create_run(context, &protocol, start, args.idempotency_key.clone()).await {
            Err(CliError::Rejected(rejection)) => {
                Err(CliError::MissingInput { rejection, question: question.clone() })
            }
            other => other,
        };
    }
    loop {
        let line =
            terminal::prompt_line(&format!("? {question}")).await.filter(|line| !line.is_empty());
        start.input = line.as_deref().map(|line| parse_input(line, described));
        match create_run(context, &protocol, start.clone(), args.idempotency_key.clone()).await {
            // A user who was asked may correct the answer; otherwise the rejection is returned.
            Err(CliError::Rejected(rejection)) if line.is_some() => {
                output::print_message(&format!("  not accepted: {rejection}"));
            }
            other => return other,
        }
    }
}

/// Selects the folder's protocol; if it has no such workflow, the shipped protocol of that name.
fn select_protocol(context: &CliContext, args: &RunArgs) -> Result<SelectedProtocol, CliError> {
    let named = args.workflow.as_deref();
    let shipped = named.and_then(find_shipped).filter(|_| args.store_args.protocol.is_none());
    if let Some(shipped) =
        shipped.filter(|_| named.is_some_and(|it| it.starts_with(SHIPPED_PREFIX)))
    {
        return select_shipped(context, shipped);
    }
    let folder = match (context.find_protocol_folder(), shipped) {
        (Ok(folder), _) => folder,
        (Err(_), Some(shipped)) => return select_shipped(context, shipped),
        (Err(error), None) => return Err(error),
    };
    let (protocol, _) = load_protocol_folder(&folder)?;
    match (named, shipped) {
        (Some(name), Some(shipped)) if !protocol.workflows.contains_key(name) => {
            select_shipped(context, shipped)
        }
        (name, shipped) => {
            if let (Some(name), Some(_)) = (name, shipped) {
                output::print_message(&format!(
                    "`{name}` is a workflow of the protocol in {}; the shipped one is `{SHIPPED_PREFIX}{name}`",
                    folder.display()
                ));
            }
            let workflow = named.unwrap_or(&protocol.default_workflow).to_owned();
            Ok(SelectedProtocol { protocol, workflow, folder: Some(folder) })
        }
    }
}

fn select_shipped(
    context: &CliContext,
    shipped: &ShippedProtocol,
) -> Result<SelectedProtocol, CliError> {
    let catalog =
        ProtocolCatalog::new(None, context.home.clone(), Arc::new(load_shipped_contracts()));
    let found = catalog.load_shipped(shipped, context.settings.model.value.is_some());
    let protocol = found.map_err(|error| match error {
        CatalogError::NoModel { name, takes_input } => {
            CliError::Usage(describe_missing_model(&name, takes_input))
        }
        CatalogError::InvalidFiles(faults) => CliError::InvalidFiles(faults),
        CatalogError::WriteData { path, source } => {
            CliError::Unwritable { what: path.display().to_string(), source }
        }
        CatalogError::Folder(error) => error.into(),
        other => CliError::Usage(other.to_string()),
    })?;
    let workflow = protocol.default_workflow.clone();
    Ok(SelectedProtocol { protocol, workflow, folder: None })
}

/// Describes the options of a user who runs a shipped protocol without naming a model.
fn describe_missing_model(name: &str, takes_input: bool) -> String {
    let input = if takes_input { " --input TEXT" } else { "" };
    format!(
        "`{name}` needs a model, but none is configured
  a model:  `countersign run {name}{input} --model openai:NAME`; also anthropic:NAME, gemini:NAME, ollama:NAME
            its key is read from OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY
            a server of your own: --model openai:NAME@http://127.0.0.1:8080/v1
            to set it once, use COUNTERSIGN_MODEL, or `model` in countersign.toml
  yourself: `countersign run {name}{input} --model human`
  offline:  `countersign init {name}`, then `countersign run{input}`: a local copy, with a script of replies instead of a model"
    )
}

/// Reads the value of `--input`: text, JSON, or `@FILE` with either.
fn read_input(text: &str, workflow: &WorkflowDefinition) -> Result<Value, CliError> {
    match text.strip_prefix('@') {
        Some(file) => Ok(parse_input(&files::read_text(Path::new(file))?, workflow)),
        None => Ok(parse_input(text, workflow)),
    }
}

/// Parses an input text: as JSON if the workflow accepts more than a string.
fn parse_input(text: &str, workflow: &WorkflowDefinition) -> Value {
    let plain = || Value::String(text.to_owned());
    if workflow.input.as_ref().is_some_and(|input| input.answer.schema.source()["type"] == "string")
    {
        return plain();
    }
    parse_json(text, RepairLevel::None).map_or_else(|_| plain(), |reading| reading.value)
}

/// The state in files that no run has adopted yet.
struct StateToAdopt {
    phase: String,
    document: Value,
    halted: bool,
}

/// Finds the state that a new run continues. State files that it does not continue would be
/// replaced by those of the new run, so they are kept beside them.
async fn find_adoptable_state(
    context: &CliContext,
    folder: &Path,
    protocol: &Protocol,
    start: &RunStart,
) -> Result<Option<StateToAdopt>, CliError> {
    let newest = countersign_store::RunFilter::newest(context.engine.tenant().clone(), 1);
    let ours = folder.ends_with(".opencode/protocol");
    if !ours || !context.engine.store().list_runs(&newest).await?.is_empty() {
        return Ok(None);
    }
    let files = state_folder(folder);
    let keep = |why: String| -> Result<Option<StateToAdopt>, CliError> {
        let kept = keep_state_files(&files, protocol.state_format)?;
        if !kept.is_empty() {
            let kept: Vec<String> =
                kept.iter().map(|name| files.join(name).display().to_string()).collect();
            output::print_message(&format!(
                "a new run replaces the state files, because {why}; they are kept as {}",
                kept.join(", ")
            ));
        }
        Ok(None)
    };
    if start.document.is_some() || start.input.is_some() {
        return keep("it starts with a document or an input of its own".to_owned());
    }
    let Some(document) = read_state_files(&files, protocol.state_format)? else {
        return Ok(None);
    };
    let Some(workflow) = protocol.workflows.get(&start.workflow) else { return Ok(None) };
    let spec = protocol.document_for(workflow);
    check_state(spec, &document, &files)?;
    let field = |name: &str| read_engine_field(spec, &document, name);
    if let Some(other) = field("workflow").filter(|other| *other != start.workflow) {
        return keep(format!("they are of the workflow `{other}`, not `{}`", start.workflow));
    }
    let status = field("status").unwrap_or_default();
    // A process that has ended is not started again in its last phase.
    if matches!(status.as_str(), "completed" | "failed") {
        return keep(format!("their run is {status}"));
    }
    let halted = status == "halted";
    match field("phase") {
        Some(phase) => Ok(Some(StateToAdopt { phase, document, halted })),
        None => keep("they name no phase".to_owned()),
    }
}

/// Checks that the state in the files satisfies the schema of the document's contract.
fn check_state(spec: &DocumentDefinition, document: &Value, files: &Path) -> Result<(), CliError> {
    const SHOWN: usize = 5;
    let Some(contract) = &spec.contract else { return Ok(()) };
    let violations = contract.schema.list_violations(document);
    if violations.is_empty() {
        return Ok(());
    }
    let mut text = format!(
        "the state files in {} do not satisfy the contract `{}`, so no run can continue them",
        files.display(),
        contract.id
    );
    for violation in violations.iter().take(SHOWN) {
        let message = violation.message.replacen("the reply: ", "the state: ", 1);
        text.push_str(&format!("\n  {message}"));
    }
    if violations.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", violations.len() - SHOWN));
    }
    text.push_str("\nCorrect them, or move them away to start a new run.");
    Err(CliError::Usage(text))
}

/// Reads an engine-owned field of a document by its name.
fn read_engine_field(spec: &DocumentDefinition, document: &Value, name: &str) -> Option<String> {
    let field = spec.engine.iter().find(|field| field.name == name)?;
    document.pointer(&field.pointer)?.as_str().map(str::to_owned)
}
