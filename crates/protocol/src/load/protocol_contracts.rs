//! The contracts of a folder together with the shipped ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::contract::{self, Contract, ContractRegistry, check_schema};
use countersign_contract::source::{Diagnostic, ParsedSourceFile, SourceFile};

use super::confined_path;
use super::contract_records::{check_contract_record, load_contract_records};
use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::symbol_table::report_unknown_name;
use crate::ProtocolBundle;

/// Every contract that a protocol may name. A plain id refers to the folder's own contract before a
/// shipped one.
#[derive(Debug)]
pub(super) struct ProtocolContracts {
    pub(super) all: ContractRegistry,
    /// Id and version of each contract in the folder.
    own: BTreeSet<(String, String)>,
    /// The latest version of each of the folder's own contracts, by id.
    own_by_id: BTreeMap<String, Arc<Contract>>,
    /// Ids of the folder's contracts that have errors.
    broken: BTreeSet<String>,
}

impl ProtocolContracts {
    /// Loads the contracts in `contracts/*.yaml`.
    pub(super) fn load(
        bundle: &ProtocolBundle,
        shipped: &ContractRegistry,
        faults: &LoadDiagnostics,
    ) -> Self {
        let (own, broken) = (BTreeSet::new(), BTreeSet::new());
        let own_by_id = BTreeMap::new();
        let mut contracts = Self { all: shipped.clone(), own, own_by_id, broken };
        let mut sound = Vec::new();
        for (path, text) in bundle.files_in_folder("contracts") {
            if has_extension(path, &["yaml", "yml"]) {
                sound.extend(contracts.add((bundle, shipped), path, text, faults));
            }
        }
        let records = load_contract_records(bundle, shipped, faults);
        let found: Vec<(Arc<Contract>, _)> = sound
            .into_iter()
            .filter_map(|(name, tree)| Some((Arc::clone(contracts.all.find(&name).ok()?), tree)))
            .collect();
        let own: Vec<&Contract> = found.iter().map(|(contract, _)| &**contract).collect();
        for (contract, tree) in &found {
            faults.extend(check_contract_record(&records, contract, tree, &own));
        }
        for contract in contracts.all.iter() {
            if contracts.own.contains(&(contract.id.clone(), contract.version.clone())) {
                contracts.own_by_id.insert(contract.id.clone(), Arc::clone(contract));
            }
        }
        contracts
    }

    /// Adds the contract of a file. Gives its full name and its file, unless it has faults.
    fn add(
        &mut self,
        (bundle, shipped): (&ProtocolBundle, &ContractRegistry),
        path: &str,
        text: &str,
        faults: &LoadDiagnostics,
    ) -> Option<(String, Arc<ParsedSourceFile>)> {
        let tree = ParsedSourceFile::parse(SourceFile::new(path, text)).ok().map(Arc::new);
        let read = |relative: &str| read_referenced_file(bundle, relative);
        let contract =
            match contract::load_contract_with_base(SourceFile::new(path, text), &read, shipped) {
                Ok(contract) => contract,
                Err(found) => {
                    faults.extend(found.into_iter().map(|fault| rebase_diagnostic(fault, path)));
                    let id = tree.as_ref().and_then(|tree| tree.value["id"].as_str());
                    self.broken.insert(id.unwrap_or(file_stem(path)).to_owned());
                    return None;
                }
            };
        let tree = tree?;
        let full_name = format!("{}@{}", contract.id, contract.version);
        let root = FileNode::root(&tree);
        match root.get("schema").filter(|schema| schema.value.is_object()) {
            Some(schema) => {
                faults.extend(check_schema(&tree, &schema.pointer, &contract.schema));
            }
            None => check_schema_file((bundle, root.text_at("schema")), &contract, faults),
        }
        let name = (contract.id.clone(), contract.version.clone());
        if !self.own.insert(name) {
            let message = format!(
                "contract `{}` {} already exists in the folder",
                contract.id, contract.version
            );
            let id = root.get("id").unwrap_or(root);
            faults.push(id.diagnose("duplicate_id", message));
            return None;
        }
        if let Err(error) = self.all.add(contract) {
            let hint = "give it another id, or raise its version".to_owned();
            let id = root.get("id").unwrap_or(root);
            faults.push(id.diagnose("duplicate_id", error.to_string()).with_hint(Some(hint)));
            return None;
        }
        Some((full_name, tree))
    }

    /// Resolves a contract name, and reports it if no contract matches.
    pub(super) fn resolve_name(
        &self,
        name: &FileNode<'_>,
        faults: &LoadDiagnostics,
    ) -> Option<Arc<Contract>> {
        let text = name.text()?;
        let found = self.get(text);
        if found.is_none() && !self.broken.contains(text) {
            let ids = self.all.iter().map(|contract| contract.id.as_str());
            let ids = ids.chain(self.broken.iter().map(String::as_str));
            report_unknown_name("contract", name, text, ids, faults);
        }
        found
    }

    /// Finds a contract by name.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Contract>> {
        let own = self.own_by_id.get(name);
        own.or_else(|| self.all.find(name).ok()).map(Arc::clone)
    }
}

fn check_schema_file(
    (bundle, path): (&ProtocolBundle, Option<&str>),
    contract: &Contract,
    faults: &LoadDiagnostics,
) {
    let Some(path) = path.and_then(|path| confined_path::confine_path("contracts", path).ok())
    else {
        return;
    };
    let Some(text) = bundle.files.get(&path) else { return };
    if let Ok(tree) = ParsedSourceFile::parse(SourceFile::new(path, text)) {
        faults.extend(check_schema(&tree, "", &contract.schema));
    }
}

fn read_referenced_file(bundle: &ProtocolBundle, relative: &str) -> Result<String, String> {
    let path = confined_path::confine_path("contracts", relative)
        .map_err(|reason| format!("`{relative}` {reason} of the protocol"))?;
    let text = bundle.files.get(&path);
    text.cloned().ok_or_else(|| format!("there is no file `{path}` in the protocol"))
}

/// Makes a diagnostic in a schema file show the file's path in the folder, not the path as the
/// contract spells it.
fn rebase_diagnostic(mut fault: Diagnostic, contract: &str) -> Diagnostic {
    if fault.source.name != contract
        && let Ok(path) = confined_path::confine_path("contracts", &fault.source.name)
    {
        fault.source = Arc::new(SourceFile::new(path, fault.source.text.clone()));
    }
    fault
}

/// The file name without folder and extension.
pub(super) fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// Whether the file has one of these extensions.
pub(super) fn has_extension(path: &str, extensions: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}
