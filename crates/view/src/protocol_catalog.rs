//! The protocols of a server: the one in its protocol folder, and those that ship with the program.
//!
//! The catalog reads the files on every use, so that edits take effect at once, and caches the
//! loaded protocol by the digest of its files. Runs keep the protocol that they started with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_contract::contract::ContractRegistry;
use countersign_contract::find_similar_name;
use countersign_contract::source::Diagnostic;
use countersign_protocol::{Protocol, ProtocolBundle, check_protocol};
use countersign_runtime::driver::data_folder_name;
use countersign_runtime::folder::{self, EngineHome, FolderError, load_protocol};
use countersign_runtime::lru_cache::LruCache;
use countersign_runtime::trust::ProtocolPermissions;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_protocols::{SHIPPED_PROTOCOLS, ShippedProtocol, find_shipped_protocol};
use thiserror::Error;

use crate::wire::{AgentView, CheckReport, ProtocolRow, ProtocolView, WorkflowView};

/// Subfolder of the engine's folder that holds the data of shipped protocols that run without a
/// copy.
pub const SHIPPED_DATA: &str = "shipped";

/// Prefix that selects a shipped protocol when the folder's protocol has the same name:
/// `shipped:ralph`.
pub const SHIPPED_PREFIX: &str = "shipped:";

/// Finds a shipped protocol by its name, with or without [`SHIPPED_PREFIX`].
#[must_use]
pub fn find_shipped(name: &str) -> Option<&'static ShippedProtocol> {
    find_shipped_protocol(name.strip_prefix(SHIPPED_PREFIX).unwrap_or(name))
}

/// Returns the permissions of the shipped protocols with this name, both as a copy in a folder and
/// without a copy. They are part of the program and therefore trusted as the program is.
#[must_use]
pub fn load_shipped_permissions(name: &str) -> Vec<ProtocolPermissions> {
    static KNOWN: Mutex<BTreeMap<&str, Vec<ProtocolPermissions>>> = Mutex::new(BTreeMap::new());
    let Some(shipped) = find_shipped_protocol(name) else { return Vec::new() };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let load = || {
        let (bundles, contracts) =
            ([shipped.to_bundle(), shipped.to_bundle_without_copy()], load_shipped_contracts());
        let loaded = bundles.into_iter().filter_map(|one| load_protocol(one, &contracts).ok());
        loaded.map(|(protocol, _)| ProtocolPermissions::from_protocol(&protocol)).collect()
    };
    known.entry(shipped.name).or_insert_with(load).clone()
}

/// Why a protocol or workflow cannot be provided.
#[derive(Debug, Error)]
pub enum CatalogError {
    /// No protocol has this name.
    #[error("no protocol `{name}`{}; available: {known}", near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?")))]
    UnknownProtocol {
        /// The requested name.
        name: String,
        /// The most similar known name; `None` if none is similar.
        near: Option<String>,
        /// The known names, separated by commas.
        known: String,
    },
    /// The request names no protocol, and there is no protocol folder.
    #[error("no protocol is named, and the workspace contains none")]
    NoProtocolFolder,
    /// The protocol does not have the requested workflow.
    #[error("{0}")]
    NoWorkflow(String),
    /// The protocol does not have the requested agent.
    #[error("{0}")]
    UnknownAgent(String),
    /// The agent does not have the requested skill.
    #[error("{0}")]
    UnknownSkill(String),
    /// The files of the protocol have errors.
    #[error("the protocol files contain {}", if .0.len() == 1 { "1 error".to_owned() } else { format!("{} errors", .0.len()) })]
    InvalidFiles(Vec<Diagnostic>),
    /// The protocol folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The protocol uses a script of replies that only a copy has, and the request names no model.
    #[error("`{name}` calls a model, but none is named")]
    NoModel {
        /// The name of the protocol.
        name: String,
        /// Whether the default workflow takes an input.
        takes_input: bool,
    },
    /// The data files of a shipped protocol cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    WriteData {
        /// The path that cannot be written.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Number of loaded bundles in the cache: the shipped ones, and a few recent states of the folder.
const MAX_CACHED_BUNDLES: usize = 16;

/// The result of loading files: a protocol with its warnings, or every error.
type ProtocolLoadResult = Result<(Arc<Protocol>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// The protocols that runs can be started from.
#[derive(Debug, Clone)]
pub struct ProtocolCatalog {
    folder: Option<PathBuf>,
    home: EngineHome,
    contracts: Arc<ContractRegistry>,
    /// Load results by the digest of the files.
    load_cache: Arc<Mutex<LruCache<String, ProtocolLoadResult>>>,
}

impl ProtocolCatalog {
    /// Creates the catalog for an engine's home, with the protocol folder if there is one.
    #[must_use]
    pub fn new(
        folder: Option<PathBuf>,
        home: EngineHome,
        contracts: Arc<ContractRegistry>,
    ) -> Self {
        let load_cache = Arc::new(Mutex::new(LruCache::new(MAX_CACHED_BUNDLES)));
        Self { folder, home, contracts, load_cache }
    }

    /// The contracts that ship with the program.
    #[must_use]
    pub fn contracts(&self) -> &Arc<ContractRegistry> {
        &self.contracts
    }

    /// Returns the shipped contracts, and those of the folder's protocol if it loads.
    #[must_use]
    pub fn load_registry(&self) -> Arc<ContractRegistry> {
        match self.load_folder_protocol() {
            Some(Ok(protocol)) => Arc::new(protocol.contracts.clone()),
            Some(Err(_)) | None => Arc::clone(&self.contracts),
        }
    }

    /// Loads the folder's protocol; `None` if there is no protocol folder.
    fn load_folder_protocol(&self) -> Option<Result<Arc<Protocol>, CatalogError>> {
        let folder = self.folder.as_ref()?;
        Some(self.load_bundle(|| Ok(folder::read_protocol_folder(folder)?)))
    }

    fn load_bundle(
        &self,
        bundle: impl FnOnce() -> Result<ProtocolBundle, CatalogError>,
    ) -> Result<Arc<Protocol>, CatalogError> {
        Ok(self.load_cached(bundle()?).1.map_err(CatalogError::InvalidFiles)?.0)
    }

    /// Returns the digest of the files and their load result, from the cache if possible.
    fn load_cached(&self, bundle: ProtocolBundle) -> (String, ProtocolLoadResult) {
        let digest = bundle.compute_digest();
        let known = || self.load_cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loading) = known().get(&digest) {
            return (digest, loading.clone());
        }
        let loading = load_protocol(bundle, &self.contracts);
        known().insert(digest.clone(), loading.clone());
        (digest, loading)
    }

    /// Returns the digest of the folder's files, unless they load as a protocol with another name.
    #[must_use]
    pub fn load_folder_digest(&self, name: &str) -> Option<String> {
        let bundle = folder::read_protocol_folder(self.folder.as_ref()?).ok()?;
        let (digest, loading) = self.load_cached(bundle);
        let other = loading.is_ok_and(|(found, _)| found.name != name);
        (!other).then_some(digest)
    }

    /// Resolves what a run starts from: a protocol by name or the folder's, and a workflow by id or
    /// the protocol's default. `model` tells whether the caller names a model.
    pub fn resolve_workflow(
        &self,
        protocol: Option<&str>,
        workflow: Option<&str>,
        model: bool,
    ) -> Result<(Arc<Protocol>, String), CatalogError> {
        let own = self.load_folder_protocol();
        let found = match (protocol, own) {
            (Some(name), _) if name.starts_with(SHIPPED_PREFIX) => match find_shipped(name) {
                Some(shipped) => self.load_shipped(shipped, model)?,
                None => return Err(self.unknown_protocol_error(name)),
            },
            (None, None) => return Err(CatalogError::NoProtocolFolder),
            (None, Some(own)) => own?,
            (Some(name), Some(Ok(own))) if own.name == name => own,
            // The folder's protocol does not load, so its name is unknown. A name that is not a
            // shipped one can only mean the folder, so the caller gets its errors.
            (Some(name), Some(Err(error))) if find_shipped_protocol(name).is_none() => {
                return Err(error);
            }
            (Some(name), _) => match find_shipped_protocol(name) {
                Some(shipped) => self.load_shipped(shipped, model)?,
                None => return Err(self.unknown_protocol_error(name)),
            },
        };
        let workflow = workflow.unwrap_or(&found.default_workflow).to_owned();
        found.find_workflow(&workflow).map_err(CatalogError::NoWorkflow)?;
        Ok((found, workflow))
    }

    /// Loads a shipped protocol so that it can run without a copy. Writes the data of its sources
    /// into the engine's folder once.
    pub fn load_shipped(
        &self,
        shipped: &ShippedProtocol,
        model: bool,
    ) -> Result<Arc<Protocol>, CatalogError> {
        let protocol = self.load_bundle(|| Ok(shipped.to_bundle_without_copy()))?;
        let script = protocol.resolve_default_model();
        let script = script.and_then(|model| model.strip_prefix("script:"));
        // A script of replies exists only next to a copy. Without this check the run would fail
        // later, when it needs a reply.
        if let Some(script) = script.filter(|_| !model)
            && !self.home.workspace().join(script).is_file()
        {
            let workflow = protocol.workflows.get(&protocol.default_workflow);
            let takes_input = workflow.is_some_and(|one| one.input.is_some());
            return Err(CatalogError::NoModel { name: shipped.name.to_owned(), takes_input });
        }
        if !protocol.policy.sources.is_empty() {
            let data = self.home.folder().join(SHIPPED_DATA).join(data_folder_name(&protocol));
            write_shipped_data(shipped, &data)?;
        }
        Ok(protocol)
    }

    fn unknown_protocol_error(&self, name: &str) -> CatalogError {
        let own =
            self.load_folder_protocol().and_then(Result::ok).map(|protocol| protocol.name.clone());
        let known: Vec<&str> = own
            .as_deref()
            .into_iter()
            .chain(SHIPPED_PROTOCOLS.iter().map(|one| one.name))
            .collect();
        let near = find_similar_name(name, known.iter().copied()).map(str::to_owned);
        CatalogError::UnknownProtocol { name: name.to_owned(), near, known: known.join(", ") }
    }

    /// Lists every protocol, the folder's first.
    pub fn list_protocols(&self) -> Result<Vec<ProtocolRow>, CatalogError> {
        let mut rows = Vec::new();
        if let Some(folder) = &self.folder {
            rows.push(self.build_row(
                folder::read_protocol_folder(folder)?,
                "folder",
                folder_name(folder),
                "",
            ));
        }
        for one in SHIPPED_PROTOCOLS {
            rows.push(self.build_row(
                one.to_bundle_without_copy(),
                "shipped",
                one.name,
                one.description,
            ));
        }
        Ok(rows)
    }

    fn build_row(
        &self,
        bundle: ProtocolBundle,
        origin: &str,
        name: &str,
        description: &str,
    ) -> ProtocolRow {
        let (digest, loading) = self.load_cached(bundle);
        let row = ProtocolRow {
            name: name.to_owned(),
            version: None,
            description: description.to_owned(),
            origin: origin.to_owned(),
            digest,
            default_workflow: None,
            workflows: Vec::new(),
            default_model: None,
            script: None,
            errors: 0,
        };
        match loading {
            Ok((protocol, _)) => ProtocolRow {
                name: if origin == "folder" { protocol.name.clone() } else { row.name },
                version: Some(protocol.version.clone()),
                description: if row.description.is_empty() {
                    protocol.description.clone()
                } else {
                    row.description
                },
                default_workflow: Some(protocol.default_workflow.clone()),
                workflows: protocol.workflows.keys().cloned().collect(),
                default_model: protocol.resolve_default_model().map(str::to_owned),
                ..row
            },
            Err(faults) => ProtocolRow { errors: faults.len(), ..row },
        }
    }

    /// Returns a whole protocol. The folder's protocol has precedence over a shipped one of the
    /// same name.
    pub fn view_protocol(&self, name: &str) -> Result<ProtocolView, CatalogError> {
        let (bundle, row) = self.find_bundle(name)?;
        Ok(self.build_view(bundle, row))
    }

    /// Returns an agent of a protocol as it is resolved, with the text of one of its skills if that
    /// is requested.
    pub fn view_agent(
        &self,
        protocol: &str,
        agent: &str,
        skill: Option<&str>,
    ) -> Result<AgentView, CatalogError> {
        let protocol = self.load_bundle(|| Ok(self.find_bundle(protocol)?.0))?;
        let found = protocol.agents.get(agent).ok_or_else(|| {
            let known = protocol.agents.keys().map(String::as_str);
            CatalogError::UnknownAgent(describe_unknown_name("agent", agent, known))
        })?;
        if let Some(skill) = skill.filter(|skill| found.find_skill(skill).is_none()) {
            let known = found.list_readable_skills();
            return Err(CatalogError::UnknownSkill(describe_unknown_name("skill", skill, known)));
        }
        Ok(AgentView::from_agent(&protocol, found, skill))
    }

    /// Finds the files of a protocol and its row in the list. The folder's protocol has precedence.
    fn find_bundle(&self, name: &str) -> Result<(ProtocolBundle, ProtocolRow), CatalogError> {
        if let Some(folder) = self.folder.as_ref().filter(|_| !name.starts_with(SHIPPED_PREFIX)) {
            let bundle = folder::read_protocol_folder(folder)?;
            let row = self.build_row(bundle.clone(), "folder", folder_name(folder), "");
            if row.name == name {
                return Ok((bundle, row));
            }
        }
        let shipped = find_shipped(name).ok_or_else(|| self.unknown_protocol_error(name))?;
        let bundle = shipped.to_bundle_without_copy();
        let row = self.build_row(bundle.clone(), "shipped", shipped.name, shipped.description);
        Ok((bundle, row))
    }

    /// Returns all findings of `check` for a protocol by name, or for the folder's.
    pub fn check_protocol(&self, name: Option<&str>) -> Result<CheckReport, CatalogError> {
        let bundle = match (name, &self.folder) {
            (None, None) => return Err(CatalogError::NoProtocolFolder),
            (None, Some(folder)) => folder::read_protocol_folder(folder)?,
            (Some(name), _) => self.find_bundle(name)?.0,
        };
        let (named, files) = (name.unwrap_or_default().to_owned(), bundle.files.len());
        Ok(CheckReport::from_diagnostics(named, files, self.check_bundle(bundle).1))
    }

    fn build_view(&self, bundle: ProtocolBundle, row: ProtocolRow) -> ProtocolView {
        let files = bundle.files.keys().cloned().collect();
        let ProtocolRow { name, version, description, origin, digest, default_workflow, .. } = row;
        let (loaded, findings) = self.check_bundle(bundle);
        let findings = CheckReport::from_diagnostics(String::new(), 0, findings).diagnostics;
        let workflows = loaded.iter().flat_map(|protocol| {
            protocol
                .workflows
                .values()
                .map(|workflow| WorkflowView::from_workflow(protocol, workflow))
        });
        ProtocolView {
            name,
            version,
            description,
            origin,
            digest,
            default_workflow,
            default_model: loaded
                .as_ref()
                .and_then(|protocol| protocol.resolve_default_model().map(str::to_owned)),
            // The catalog connects no models.
            script: None,
            workflows: workflows.collect(),
            agents: loaded.iter().flat_map(|protocol| protocol.agents.keys().cloned()).collect(),
            diagnostics: findings,
            files,
        }
    }

    /// Loads and checks files. Returns the protocol if it loads, and all findings.
    #[must_use]
    pub fn check_bundle(&self, bundle: ProtocolBundle) -> (Option<Arc<Protocol>>, Vec<Diagnostic>) {
        match load_protocol(bundle, &self.contracts) {
            Ok((protocol, mut findings)) => {
                findings.extend(check_protocol(&protocol));
                (Some(protocol), findings)
            }
            Err(faults) => (None, faults),
        }
    }
}

/// Describes a name that refers to nothing, with the most similar known name.
pub fn describe_unknown_name<'n>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> String {
    match find_similar_name(name, known) {
        Some(near) => format!("no {kind} `{name}`; did you mean `{near}`?"),
        None => format!("no {kind} `{name}`"),
    }
}

/// The display name of a protocol folder whose index cannot be read.
fn folder_name(folder: &Path) -> &str {
    folder.file_name().and_then(|name| name.to_str()).unwrap_or("folder")
}

/// Writes the data files of a shipped protocol into a folder of their own, atomically and only
/// once.
fn write_shipped_data(shipped: &ShippedProtocol, folder: &Path) -> Result<(), CatalogError> {
    if folder.is_dir() {
        return Ok(());
    }
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        |source| CatalogError::WriteData { path, source }
    };
    let part = folder.with_extension(format!("part-{}", std::process::id()));
    for (path, bytes) in shipped.workspace_files {
        let path = part.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(unwritable(&path))?;
        }
        fs::write(&path, bytes).map_err(unwritable(&path))?;
    }
    match fs::rename(&part, folder) {
        // Another process was faster; its files are the same.
        Err(_) if folder.is_dir() => drop(fs::remove_dir_all(&part)),
        other => other.map_err(unwritable(folder))?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKFLOW: &str = "id: own
phases: [{ id: ask, ask: { question: QUESTION, apply: { set: /a } } }, { id: done, terminal: true }]
transitions: [{ from: ask, to: done }]
";

    #[test]
    fn files_that_stay_the_same_are_parsed_once_and_edits_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path_to = |name: &str| folder.path().join(name);
        fs::create_dir(path_to("workflows")).unwrap();
        fs::write(path_to("index.yaml"), "name: own\nversion: 1.0.0\ndefault_workflow: own\n")
            .unwrap();
        let write = |question: &str| {
            fs::write(path_to("workflows/own.yaml"), WORKFLOW.replace("QUESTION", question))
                .unwrap();
        };
        let home = EngineHome::create(folder.path()).unwrap();
        let catalog = ProtocolCatalog::new(Some(folder.path().to_owned()), home, Arc::default());
        let meant = || catalog.resolve_workflow(None, None, false).unwrap().0;
        write("Which?");
        let first = meant();
        assert!(Arc::ptr_eq(&first, &meant()));
        write("Why?");
        let second = meant();
        assert_ne!(second.digest, first.digest);
        write("Which?");
        assert!(Arc::ptr_eq(&first, &meant()));
        write("[");
        assert!(matches!(
            catalog.resolve_workflow(None, None, false),
            Err(CatalogError::InvalidFiles(_))
        ));
        for number in 0..2 * MAX_CACHED_BUNDLES {
            write(&format!("Number {number}?"));
            assert!(Arc::ptr_eq(&meant(), &meant()), "the one in use is known");
        }
        write("Which?");
        assert!(!Arc::ptr_eq(&first, &meant()), "not all that ever were are kept");
    }
}
