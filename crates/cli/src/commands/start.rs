//! Starts the run of `countersign run`: selects the protocol, reads the input, and adopts existing
//! state files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::json::{RepairLevel, parse_json};
use countersign_protocol::{DocumentDefinition, Protocol, WorkflowDefinition};
use countersign_run::RunStart;
use countersign_runtime::projection::{read_state_files, state_folder};
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
    if let Some(named) = &args.continues {
        let earlier = context.resolve_run(Some(named)).await?;
        start.continues = Some(context.engine.find_continued_run(&earlier).await?);
    }
    let described = protocol.find_workflow(&start.workflow).map_err(CliError::Usage)?;
    start.input = args.input.as_deref().map(|text| read_input(text, described)).transpose()?;
    if let Some(folder) = &folder
        && let Some((phase, taken)) =
            find_adoptable_state(context, folder, &protocol, &start).await?
    {
        output::print_message(&format!(
            "continuing from the state files beside the protocol, in phase {phase}"
        ));
        start.phase = Some(phase);
        start.document = Some(taken);
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

/// Finds the phase and the document of state files that no run has adopted yet.
async fn find_adoptable_state(
    context: &CliContext,
    folder: &Path,
    protocol: &Protocol,
    start: &RunStart,
) -> Result<Option<(String, Value)>, CliError> {
    let newest = countersign_store::RunFilter::newest(context.engine.tenant().clone(), 1);
    let ours = folder.ends_with(".opencode/protocol");
    let has_input = start.document.is_some() || start.input.is_some() || start.continues.is_some();
    if !ours || has_input || !context.engine.store().list_runs(&newest).await?.is_empty() {
        return Ok(None);
    }
    let Some(document) = read_state_files(&state_folder(folder), protocol.state_format)? else {
        return Ok(None);
    };
    let Some(workflow) = protocol.workflows.get(&start.workflow) else { return Ok(None) };
    let spec = protocol.document_for(workflow);
    let said = |name: &str| read_engine_field(spec, &document, name);
    // A process that has ended is not started again in its last phase.
    let over = matches!(said("status").as_deref(), Some("completed" | "failed"));
    let fits = said("workflow").as_ref() == Some(&start.workflow) && !over;
    Ok(said("phase").filter(|_| fits).map(|phase| (phase, document)))
}

/// Reads an engine-owned field of a document by its name.
fn read_engine_field(spec: &DocumentDefinition, document: &Value, name: &str) -> Option<String> {
    let field = spec.engine.iter().find(|field| field.name == name)?;
    document.pointer(&field.pointer)?.as_str().map(str::to_owned)
}
