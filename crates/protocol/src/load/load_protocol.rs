//! Entry point of loading: takes a whole folder and returns a protocol or all diagnostics.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::contract::{Contract, ContractRegistry};
use countersign_contract::find_similar_name;
use countersign_contract::json::TextSpan;
use countersign_contract::limits::{MAX_PROTOCOL_BYTES, MAX_PROTOCOL_FILES};
use countersign_contract::source::{Diagnostic, SourceFile};
use serde_json::{Value, json};

use super::file_node::FileNode;
use super::include_merger::{IncludeMerger, RawWorkflow};
use super::load_diagnostics::LoadDiagnostics;
use super::name_scope::{NameScope, ProtocolSymbols};
use super::protocol_contracts::{ProtocolContracts, has_extension};
use super::protocol_file::{ProtocolFile, ProtocolFileKind};
use super::read_agents::AgentTexts;
use super::read_budget::read_budget;
use super::symbol_table::SymbolTable;
use super::{
    compile_workflow, read_agents, read_call_approvals, read_channels, read_document, read_hooks,
    read_index, read_mcp_servers, read_memory_config, read_policy, read_rules, read_skills,
    workflow_settings,
};
use crate::{
    EngineField, PhaseWork, Protocol, ProtocolBundle, ProtocolPolicy, SkillDefinition,
    WorkflowDefinition,
};

/// A usable protocol with the warnings found in it.
#[derive(Debug)]
pub struct LoadedProtocol {
    /// The loaded protocol.
    pub protocol: Protocol,
    /// Diagnostics that do not prevent the protocol from being used.
    pub warnings: Vec<Diagnostic>,
}

/// Loads a folder. `shipped` contains the contracts that it may name beside its own.
///
/// ```
/// use countersign_contract::contract::ContractRegistry;
/// use countersign_protocol::{ProtocolBundle, load_protocol};
///
/// let mut bundle = ProtocolBundle::default();
/// let index = "name: t\nversion: 1.0.0\ndefault_workflow: main\n";
/// bundle.files.insert("index.yaml".into(), index.into());
/// let workflow = "id: main\nphases: [{ id: a }, { id: b }]\ntransitions: [{ from: a, to: c }]\n";
/// bundle.files.insert("workflows/main.yaml".into(), workflow.into());
///
/// let faults = load_protocol(bundle, &ContractRegistry::default()).unwrap_err();
/// assert_eq!(faults[0].to_string(), "workflows/main.yaml:3:30: no phase `c` [unknown_phase]");
/// ```
///
/// # Errors
/// Returns the diagnostics of every file, sorted by file and position, including warnings. At least
/// one of them is an error.
pub fn load_protocol(
    bundle: ProtocolBundle,
    shipped: &ContractRegistry,
) -> Result<LoadedProtocol, Vec<Diagnostic>> {
    if let Some(fault) = check_bundle_size(&bundle) {
        return Err(vec![fault]);
    }
    let faults = LoadDiagnostics::default();
    check_folder_names(&bundle, &faults);
    let index = read_index::parse_index(&bundle, &faults);
    let persons = parse_folder(&bundle, "agents", ProtocolFileKind::Agent, &faults);
    let flows = parse_folder(&bundle, "workflows", ProtocolFileKind::Workflow, &faults);
    let index = index.as_ref();

    let contracts = ProtocolContracts::load(&bundle, shipped, &faults);
    let rules = read_rules::read_rules(&bundle, &faults);
    let skills = read_skills::read_skills(&bundle, &faults);
    let mcp = read_mcp_servers::read_mcp_servers(index, &faults);
    let texts = AgentTexts { rules: &rules, skills: &skills };
    let mut agents = read_agents::read_agents(&persons.files, texts, &mcp, &faults);
    agents.broken.extend(persons.unread);
    let programs = read_policy::read_programs(index, &faults);
    let section = index.and_then(|index| index.valid_member("document"));
    let (contract, engine) =
        read_document::read_contract_and_engine(section.clone(), &contracts, &faults);
    let hooks = read_hooks::read_hooks(index, &programs, &faults);
    let mut workflows = SymbolTable::new("workflow");
    workflows.broken.extend(flows.unread);
    let raws = compile_workflow::collect_workflows(&flows.files, index, &mut workflows, &faults);
    workflow_settings::check_workflow_names(index, &workflows, &faults);
    let own = read_workflow_documents(&raws, &contracts, &faults);
    let hosts = read_policy::read_hosts(index, &faults);
    let mut names = ProtocolSymbols {
        contracts,
        agents,
        hooks,
        programs,
        sources: read_policy::read_sources(index, &faults),
        host_set: hosts.iter().flatten().cloned().collect(),
        hosts,
        workflows,
        spent_budgets: compile_workflow::collect_spent_budgets(&raws).collect(),
        engine,
        workflow_documents: own,
    };
    let (mut compiled, phases) = compile_workflows(&raws, &names, &faults);

    check_foreign_names(&compiled, &names, &skills, &faults);
    read_hooks::check_hook_pointers(&names, &compiled, &faults);
    let described = std::mem::take(&mut names.workflow_documents);
    set_workflow_documents(&mut compiled, described, &raws, &bundle, &faults);

    let card = index.map(|index| read_index::read_metadata(index, &faults)).unwrap_or_default();
    let budget = find_run_limits(index)
        .map(|limits| read_budget(&limits, &NameScope::for_protocol(&names, &phases, &faults)));
    let run = initial_run_value(compiled.get(&card.default_workflow));
    let whole = names.is_complete() && mcp.is_complete();
    let described = (contract, names.engine);
    let document = read_document::read_document(section, &bundle, described, &run, &faults);

    for file in index.into_iter().chain(&persons.files).chain(&flows.files) {
        file.check_specification_schema(shipped, &faults);
    }
    let language = read_index::read_language(index, &faults);
    let memory = read_memory_config::read_memory_config(index, &bundle, &faults);
    let shown = read_policy::read_file_policy(index, &faults);
    let approvals = read_call_approvals::read_call_approvals(index, &faults);
    let channels = read_channels::read_channels(index, &faults);
    let (found, usable) = faults.finish();
    if !usable {
        return Err(found);
    }
    debug_assert!(whole, "a part that was left out has a diagnostic");
    let protocol = Protocol {
        name: card.name,
        version: card.version,
        description: card.description,
        default_workflow: card.default_workflow,
        state_format: read_index::read_state_layout(index),
        document,
        workflows: compiled,
        agents: names.agents.entries,
        rules,
        skills: skills.entries,
        contracts: names.contracts.all,
        hooks: names.hooks.entries,
        policy: ProtocolPolicy {
            programs: names.programs.entries,
            hosts: names.hosts.unwrap_or_default(),
            sources: names.sources.entries,
            mcp: mcp.entries,
            files: shown,
            approvals,
            prices: read_policy::read_prices(index),
            budget: budget.unwrap_or_default(),
        },
        default_model: card.default_model,
        model_aliases: card.model_aliases,
        language,
        memory,
        channels,
        digest: bundle.compute_digest(),
        bundle,
    };
    Ok(LoadedProtocol { protocol, warnings: found })
}

/// Reports tools and skills that only a coding agent can have, as errors of the agents that do the
/// work of some phase.
fn check_foreign_names(
    workflows: &BTreeMap<String, WorkflowDefinition>,
    names: &ProtocolSymbols,
    skills: &SymbolTable<Arc<SkillDefinition>>,
    faults: &LoadDiagnostics,
) {
    let phases = workflows.values().flat_map(|workflow| &workflow.phases);
    let used = phases.filter_map(|phase| match &phase.work {
        PhaseWork::Agent(work) => Some(work.agent.id.as_str()),
        _ => None,
    });
    read_agents::report_foreign_names(&names.agents, skills, &used.collect(), faults);
}

/// Finds the budget limits of a whole run, if they are valid.
fn find_run_limits(index: Option<&ProtocolFile>) -> Option<FileNode<'_>> {
    let limits = index?.root().get("policy")?.get("budget")?;
    index?.is_valid(&limits).then_some(limits)
}

/// Compiles every workflow, and collects the phases of all of them.
fn compile_workflows(
    raws: &BTreeMap<&str, RawWorkflow<'_>>,
    names: &ProtocolSymbols,
    faults: &LoadDiagnostics,
) -> (BTreeMap<String, WorkflowDefinition>, SymbolTable<()>) {
    let mut compiled = BTreeMap::new();
    let mut phases = SymbolTable::new("phase");
    let mut merging = IncludeMerger::new(raws, faults);
    for raw in raws.values() {
        let merged = merging.merge(raw, &names.workflows);
        let (workflow, known) = compile_workflow::compile_workflow(raw, merged, names, faults);
        phases.unread |= known.unread;
        phases.entries.extend(known.entries);
        compiled.insert(workflow.id.clone(), workflow);
    }
    (compiled, phases)
}

/// Contract and engine-owned fields of documents, by workflow.
type WorkflowDocuments = BTreeMap<String, (Option<Arc<Contract>>, Vec<EngineField>)>;

/// Reads the initial values of the workflows that have their own document, and gives each workflow
/// its document.
fn set_workflow_documents(
    compiled: &mut BTreeMap<String, WorkflowDefinition>,
    documents: WorkflowDocuments,
    raws: &BTreeMap<&str, RawWorkflow<'_>>,
    bundle: &ProtocolBundle,
    faults: &LoadDiagnostics,
) {
    for (id, described) in documents {
        let (Some(raw), Some(workflow)) = (raws.get(id.as_str()), compiled.get_mut(&id)) else {
            continue;
        };
        let section = raw.settings.valid_member("document");
        let run = initial_run_value(Some(workflow));
        let document = read_document::read_document(section, bundle, described, &run, faults);
        workflow.document = Some(document);
    }
}

/// Reads contract and engine-owned fields of the workflows that have their own document.
fn read_workflow_documents(
    raws: &BTreeMap<&str, RawWorkflow<'_>>,
    contracts: &ProtocolContracts,
    faults: &LoadDiagnostics,
) -> WorkflowDocuments {
    let read = |raw: &RawWorkflow<'_>| {
        let section = raw.settings.valid_member("document")?;
        let described = read_document::read_contract_and_engine(Some(section), contracts, faults);
        Some((raw.id.to_owned(), described))
    };
    raws.values().filter_map(read).collect()
}

fn check_bundle_size(bundle: &ProtocolBundle) -> Option<Diagnostic> {
    let (files, bytes) =
        (bundle.files.len(), bundle.files.values().map(String::len).sum::<usize>());
    let message = if files > MAX_PROTOCOL_FILES {
        format!(
            "a protocol may have at most {MAX_PROTOCOL_FILES} files, and this folder has {files}"
        )
    } else if bytes > MAX_PROTOCOL_BYTES {
        format!(
            "the files of a protocol may have at most {MAX_PROTOCOL_BYTES} bytes in total, and these have {bytes}"
        )
    } else {
        return None;
    };
    let hint = "move files that are not part of the protocol elsewhere".to_owned();
    Some(read_index::folder_diagnostic("too_large", message).with_hint(Some(hint)))
}

/// Warns about a folder whose name is similar to a known one, because it would be ignored silently.
fn check_folder_names(bundle: &ProtocolBundle, faults: &LoadDiagnostics) {
    const FOLDERS: [&str; 6] = ["agents", "contracts", "memory", "rules", "skills", "workflows"];
    for (path, text) in &bundle.files {
        let Some((folder, _)) = path.split_once('/') else { continue };
        if let Some(near) = find_similar_name(folder, FOLDERS).filter(|near| *near != folder) {
            let message = format!("files in `{folder}/` are not read");
            let source = SourceFile::new(path.as_str(), text.as_str()).into();
            let fault = Diagnostic::new("unknown_folder", message, &source, TextSpan::default());
            faults.push(fault.into_warning().with_hint(Some(format!("did you mean `{near}/`?"))));
        }
    }
}

/// The parsed files of a folder, and the names of those that could not be parsed.
struct ParsedFolder {
    files: Vec<ProtocolFile>,
    unread: Vec<String>,
}

fn parse_folder(
    bundle: &ProtocolBundle,
    folder: &str,
    kind: ProtocolFileKind,
    faults: &LoadDiagnostics,
) -> ParsedFolder {
    let mut files = ParsedFolder { files: Vec::new(), unread: Vec::new() };
    for (path, text) in bundle.files_in_folder(folder) {
        if has_extension(path, &["yaml", "yml", "json"]) {
            match ProtocolFile::parse(kind, path, text, faults) {
                Some(file) => files.files.push(file),
                None => files.unread.push(super::protocol_contracts::file_stem(path).to_owned()),
            }
        }
    }
    files
}

/// The value of `run` at the very start, for checks on a document before any run exists.
fn initial_run_value(workflow: Option<&WorkflowDefinition>) -> Value {
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
