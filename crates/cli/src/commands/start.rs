//! How `countersign run` begins: which protocol is meant, what the run is given, what is taken over.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contracts::registry;
use countersign_core::json::{RepairLevel, read};
use countersign_core::protocol::{Document, Protocol, Workflow};
use countersign_core::run::Start;
use countersign_protocols::Shipped;
use countersign_runtime::projection::{read_back, state_folder};
use countersign_server::catalog::{Catalog, CatalogError, SHIPPED_PREFIX, find_shipped};
use serde_json::Value;

use super::run::create;
use crate::args::Run;
use crate::exit::Error;
use crate::house::{House, protocol};
use crate::{files, output, terminal};

/// The protocol that is meant, and where it is.
struct Meant {
    protocol: Arc<Protocol>,
    workflow: String,
    /// `None` for one that ships: it has no folder here.
    folder: Option<PathBuf>,
}

/// Starts a run. State files of a process that has no run yet are taken over.
pub(super) async fn begin(house: &House, args: &Run, talks: bool) -> Result<String, Error> {
    let document = args.document.as_deref().map(files::value).transpose()?;
    let Meant { protocol, workflow, folder } = meant(house, args)?;
    let mut start = Start {
        protocol: protocol.digest.clone(),
        workflow,
        document,
        model: house.settings.model.value.clone(),
        by: Some(house.settings.user()),
        ..Start::default()
    };
    let described = protocol.workflow(&start.workflow).map_err(Error::Usage)?;
    start.input = args.input.as_deref().map(|text| given(text, described)).transpose()?;
    if let Some(folder) = &folder
        && let Some((phase, taken)) = taken_over(house, folder, &protocol, &start).await?
    {
        output::talk(&format!(
            "the state files beside the protocol are taken over, in phase {phase}"
        ));
        start.phase = Some(phase);
        start.document = Some(taken);
        return create(house, &protocol, start, args.key.clone()).await;
    }
    let question = described.input.as_ref().and_then(|input| input.question.as_ref());
    let first = &protocol.document_of(described).initial;
    let language = protocol.language(first, &Value::Null);
    let question = question.map(|question| question.in_language(language.as_deref()));
    let Some(question) = question.filter(|_| start.input.is_none()) else {
        return create(house, &protocol, start, args.key.clone()).await;
    };
    if !talks {
        return match create(house, &protocol, start, args.key.clone()).await {
            Err(Error::Rejected(rejection)) => {
                Err(Error::NotGiven { rejection, question: question.clone() })
            }
            other => other,
        };
    }
    loop {
        let line = terminal::ask(&format!("? {question}")).await.filter(|line| !line.is_empty());
        start.input = line.as_deref().map(|line| as_meant(line, described));
        match create(house, &protocol, start.clone(), args.key.clone()).await {
            // Whoever was asked may say it otherwise; whoever said nothing is told.
            Err(Error::Rejected(rejection)) if line.is_some() => {
                output::talk(&format!("  not taken: {rejection}"));
            }
            other => return other,
        }
    }
}

/// The protocol of the folder; where that has no such workflow, the shipped one of that name.
fn meant(house: &House, args: &Run) -> Result<Meant, Error> {
    let named = args.workflow.as_deref();
    let shipped = named.and_then(find_shipped).filter(|_| args.site.protocol.is_none());
    if let Some(shipped) =
        shipped.filter(|_| named.is_some_and(|it| it.starts_with(SHIPPED_PREFIX)))
    {
        return of_shipped(house, shipped);
    }
    let folder = match (house.protocol_folder(), shipped) {
        (Ok(folder), _) => folder,
        (Err(_), Some(shipped)) => return of_shipped(house, shipped),
        (Err(error), None) => return Err(error),
    };
    let (protocol, _) = protocol(&folder)?;
    match (named, shipped) {
        (Some(name), Some(shipped)) if !protocol.workflows.contains_key(name) => {
            of_shipped(house, shipped)
        }
        (name, shipped) => {
            if let (Some(name), Some(_)) = (name, shipped) {
                output::talk(&format!(
                    "`{name}` is a workflow of the protocol in {}; the one that ships is `{SHIPPED_PREFIX}{name}`",
                    folder.display()
                ));
            }
            let workflow = named.unwrap_or(&protocol.default_workflow).to_owned();
            Ok(Meant { protocol, workflow, folder: Some(folder) })
        }
    }
}

fn of_shipped(house: &House, shipped: &Shipped) -> Result<Meant, Error> {
    let catalog = Catalog::new(None, house.home.clone(), Arc::new(registry()));
    let found = catalog.shipped(shipped, house.settings.model.value.is_some());
    let protocol = found.map_err(|error| match error {
        CatalogError::NoModel { name, takes_input } => Error::Usage(no_model(&name, takes_input)),
        CatalogError::Faults(faults) => Error::Author(faults),
        CatalogError::Unwritable { path, source } => {
            Error::Unwritable { what: path.display().to_string(), source }
        }
        CatalogError::Folder(error) => error.into(),
        other => Error::Usage(other.to_string()),
    })?;
    let workflow = protocol.default_workflow.clone();
    Ok(Meant { protocol, workflow, folder: None })
}

/// What somebody can do who runs a protocol that ships, and has named no model.
fn no_model(name: &str, takes_input: bool) -> String {
    let input = if takes_input { " --input TEXT" } else { "" };
    format!(
        "`{name}` asks a model, and none is named
  a model:  `countersign run {name}{input} --model openai:NAME`; also anthropic:NAME, gemini:NAME, ollama:NAME
            its key is read from OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY
            a server of your own: --model openai:NAME@http://127.0.0.1:8080/v1
            COUNTERSIGN_MODEL, or `model` in countersign.toml, names it once for all
  yourself: `countersign run {name}{input} --model human`
  offline:  `countersign init {name}`, then `countersign run{input}`: a copy here, with a script of replies in the model's place"
    )
}

/// What `--input` says: a text, JSON, or `@FILE` that holds either.
fn given(text: &str, workflow: &Workflow) -> Result<Value, Error> {
    match text.strip_prefix('@') {
        Some(file) => Ok(as_meant(&files::text(Path::new(file))?, workflow)),
        None => Ok(as_meant(text, workflow)),
    }
}

/// A text as the input it is meant to be: JSON where the workflow takes more than a text.
fn as_meant(text: &str, workflow: &Workflow) -> Value {
    let plain = || Value::String(text.to_owned());
    if workflow.input.as_ref().is_some_and(|input| input.answer.schema.source()["type"] == "string")
    {
        return plain();
    }
    read(text, RepairLevel::None).map_or_else(|_| plain(), |reading| reading.value)
}

/// The phase and the document of state files that no run has taken up yet.
async fn taken_over(
    house: &House,
    folder: &Path,
    protocol: &Protocol,
    start: &Start,
) -> Result<Option<(String, Value)>, Error> {
    let newest = countersign_store::RunFilter::newest(house.engine.tenant().clone(), 1);
    let ours = folder.ends_with(".opencode/protocol");
    let given = start.document.is_some() || start.input.is_some();
    if !ours || given || !house.engine.store().runs(&newest).await?.is_empty() {
        return Ok(None);
    }
    let Some(document) = read_back(&state_folder(folder), protocol.state_format)? else {
        return Ok(None);
    };
    let Some(workflow) = protocol.workflows.get(&start.workflow) else { return Ok(None) };
    let spec = protocol.document_of(workflow);
    let said = |name: &str| kept(spec, &document, name);
    // A process that is over is not begun again in its last phase.
    let over = matches!(said("status").as_deref(), Some("completed" | "failed"));
    let fits = said("workflow").as_ref() == Some(&start.workflow) && !over;
    Ok(said("phase").filter(|_| fits).map(|phase| (phase, document)))
}

/// What the engine keeps in a document under one of its own names.
fn kept(spec: &Document, document: &Value, name: &str) -> Option<String> {
    let place = spec.engine.iter().find(|place| place.name == name)?;
    document.pointer(&place.at)?.as_str().map(str::to_owned)
}
