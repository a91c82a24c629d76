//! The door: a whole folder in, a protocol or every fault out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::budget::budget;
use super::contracts::{Contracts, has_extension};
use super::faults::Faults;
use super::file::{File, Kind};
use super::include::{Merging, Raw};
use super::known::Known;
use super::member::Member;
use super::scope::{Names, Scope};
use super::{agent, document, hook, index, memory, policy, rules, workflow};
use crate::contract::{Contract, Registry};
use crate::json::Span;
use crate::limits::{MAX_PROTOCOL_BYTES, MAX_PROTOCOL_FILES};
use crate::nearest::nearest;
use crate::protocol::{Bundle, EnginePlace, Policy, Protocol, Workflow};
use crate::spec::{Diagnostic, Source};

/// A protocol that can be used, and what its author probably did not mean.
#[derive(Debug)]
pub struct Loaded {
    /// The protocol.
    pub protocol: Protocol,
    /// Faults that do not keep it from being used.
    pub warnings: Vec<Diagnostic>,
}

/// Loads a folder. `shipped` are the contracts it may name beside its own.
///
/// ```
/// use countersign_core::contract::Registry;
/// use countersign_core::protocol::{Bundle, load};
///
/// let mut bundle = Bundle::default();
/// let index = "name: t\nversion: 1.0.0\ndefault_workflow: main\n";
/// bundle.files.insert("index.yaml".into(), index.into());
/// let workflow = "id: main\nphases: [{ id: a }, { id: b }]\ntransitions: [{ from: a, to: c }]\n";
/// bundle.files.insert("workflows/main.yaml".into(), workflow.into());
///
/// let faults = load(bundle, &Registry::default()).unwrap_err();
/// assert_eq!(faults[0].to_string(), "workflows/main.yaml:3:30: no phase `c` [unknown_phase]");
/// ```
///
/// # Errors
/// Every fault of every file, by file and place, warnings among them; at least one is an error.
pub fn load(bundle: Bundle, shipped: &Registry) -> Result<Loaded, Vec<Diagnostic>> {
    if let Some(fault) = too_large(&bundle) {
        return Err(vec![fault]);
    }
    let faults = Faults::default();
    look_at_folders(&bundle, &faults);
    let index = index::find(&bundle, &faults);
    let persons = files(&bundle, "agents", Kind::Agent, &faults);
    let flows = files(&bundle, "workflows", Kind::Workflow, &faults);
    let index = index.as_ref();

    let contracts = Contracts::load(&bundle, shipped, &faults);
    let rules = rules::rules(&bundle, &faults);
    let mut agents = agent::agents(&persons.files, &rules, &faults);
    agents.broken.extend(persons.unread);
    let programs = policy::programs(index, &faults);
    let (contract, engine) = document::contract_and_engine(index, &contracts, &faults);
    let hooks = hook::hooks(index, &programs, &faults);
    let mut workflows = Known::new("workflow");
    workflows.broken.extend(flows.unread);
    let raws = workflow::gather(&flows.files, &mut workflows, &faults);
    let own = own_documents(&raws, &contracts, &faults);
    let hosts = policy::hosts(index, &faults);
    let mut names = Names {
        contracts,
        agents,
        hooks,
        programs,
        sources: policy::sources(index, &faults),
        host_set: hosts.iter().flatten().cloned().collect(),
        hosts,
        workflows,
        spent: workflow::spent(&raws).collect(),
        engine,
        own,
    };
    let mut compiled = BTreeMap::new();
    let mut phases = Known::new("phase");
    let mut merging = Merging::new(&raws, &faults);
    for raw in raws.values() {
        let merged = merging.merge(raw, &names.workflows);
        let (workflow, known) = workflow::workflow(raw, merged, &names, &faults);
        phases.unread |= known.unread;
        phases.things.extend(known.things);
        compiled.insert(workflow.id.clone(), workflow);
    }

    hook::look_at_places(&names, &compiled, &faults);
    for (id, described) in std::mem::take(&mut names.own) {
        let (Some(raw), Some(workflow)) = (raws.get(id.as_str()), compiled.get_mut(&id)) else {
            continue;
        };
        let run = first_moment(Some(workflow));
        let document = document::document(Some(raw.file), &bundle, described, &run, &faults);
        workflow.document = Some(document);
    }

    let card = index.map(|index| index::card(index, &faults)).unwrap_or_default();
    if let Some(default) = index.and_then(|index| index.sound("default_workflow")) {
        names.workflows.find(&default, &faults);
    }
    let budget =
        run_limits(index).map(|limits| budget(&limits, &Scope::whole(&names, &phases, &faults)));
    let run = first_moment(compiled.get(&card.default_workflow));
    let whole = names.is_whole();
    let document = document::document(index, &bundle, (contract, names.engine), &run, &faults);

    for file in index.into_iter().chain(&persons.files).chain(&flows.files) {
        file.hold_against_seed(shipped, &faults);
    }
    let language = index::language(index, &faults);
    let memory = memory::memory(index, &bundle, &faults);
    let shown = policy::files(index, &faults);
    let (found, usable) = faults.finish();
    if !usable {
        return Err(found);
    }
    debug_assert!(whole, "what is left out has a fault");
    let protocol = Protocol {
        name: card.name,
        version: card.version,
        description: card.description,
        default_workflow: card.default_workflow,
        state_format: index::state_format(index),
        document,
        workflows: compiled,
        agents: names.agents.things,
        rules,
        contracts: names.contracts.all,
        hooks: names.hooks.things,
        policy: Policy {
            programs: names.programs.things,
            hosts: names.hosts.unwrap_or_default(),
            sources: names.sources.things,
            files: shown,
            prices: policy::prices(index),
            budget: budget.unwrap_or_default(),
        },
        default_model: card.default_model,
        language,
        memory,
        digest: bundle.digest(),
        bundle,
    };
    Ok(Loaded { protocol, warnings: found })
}

/// The limits of a whole run, where they could be read.
fn run_limits(index: Option<&File>) -> Option<Member<'_>> {
    let limits = index?.root().get("policy")?.get("budget")?;
    index?.is_sound(&limits).then_some(limits)
}

/// Contract and engine's places of the documents that workflows have of their own.
fn own_documents(
    raws: &BTreeMap<&str, Raw<'_>>,
    contracts: &Contracts,
    faults: &Faults,
) -> BTreeMap<String, (Option<Arc<Contract>>, Vec<EnginePlace>)> {
    let own = raws.values().filter(|raw| raw.file.sound("document").is_some());
    own.map(|raw| {
        let described = document::contract_and_engine(Some(raw.file), contracts, faults);
        (raw.id.to_owned(), described)
    })
    .collect()
}

fn too_large(bundle: &Bundle) -> Option<Diagnostic> {
    let (files, bytes) =
        (bundle.files.len(), bundle.files.values().map(String::len).sum::<usize>());
    let message = if files > MAX_PROTOCOL_FILES {
        format!("a protocol has at most {MAX_PROTOCOL_FILES} files, and this folder has {files}")
    } else if bytes > MAX_PROTOCOL_BYTES {
        format!(
            "the files of a protocol have at most {MAX_PROTOCOL_BYTES} bytes in all, and these have {bytes}"
        )
    } else {
        return None;
    };
    let hint = "keep what is no part of the protocol elsewhere".to_owned();
    Some(index::of_folder("too_large", message).hinting(Some(hint)))
}

/// A folder whose name is nearly one of ours would be passed over without a word.
fn look_at_folders(bundle: &Bundle, faults: &Faults) {
    const FOLDERS: [&str; 5] = ["agents", "contracts", "memory", "rules", "workflows"];
    for (path, text) in &bundle.files {
        let Some((folder, _)) = path.split_once('/') else { continue };
        if let Some(near) = nearest(folder, FOLDERS).filter(|near| *near != folder) {
            let message = format!("files in `{folder}/` are not read");
            let source = Source::new(path.as_str(), text.as_str()).into();
            let fault = Diagnostic::new("unknown_folder", message, &source, Span::default());
            faults.push(fault.warning().hinting(Some(format!("did you mean `{near}/`?"))));
        }
    }
}

/// The files of a folder that could be parsed, and the names of those that could not.
struct Files {
    files: Vec<File>,
    unread: Vec<String>,
}

fn files(bundle: &Bundle, folder: &str, kind: Kind, faults: &Faults) -> Files {
    let mut files = Files { files: Vec::new(), unread: Vec::new() };
    for (path, text) in bundle.under(folder) {
        if has_extension(path, &["yaml", "yml", "json"]) {
            match File::parse(kind, path, text, faults) {
                Some(file) => files.files.push(file),
                None => files.unread.push(super::contracts::stem(path).to_owned()),
            }
        }
    }
    files
}

/// A run at its very beginning, for what can be told of a document before there is one.
fn first_moment(workflow: Option<&Workflow>) -> Value {
    const BEGINNING: &str = "1970-01-01T00:00:00Z";
    let phase = workflow.and_then(|workflow| workflow.phases.first());
    json!({
        "workflow": workflow.map_or("", |workflow| &workflow.id),
        "phase": phase.map_or("", |phase| &phase.id),
        "status": "running",
        "version": 1,
        "updated_at": BEGINNING,
        "created_at": BEGINNING,
        "id": "run",
    })
}
