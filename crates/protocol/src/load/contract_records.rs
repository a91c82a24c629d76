//! The registered versions of contracts: `contracts/registry/ID@VERSION.json`.
//!
//! A registered version never changes, and a later one is what it claims to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::contract::{
    Contract, ContractRegistry, contract_version_key, load_contract_value,
};
use countersign_contract::json::digest_json;
use countersign_contract::reply::RuleContext;
use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_schema_tools::check_compat_claim;
use serde_json::{Value, json};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use crate::ProtocolBundle;

/// The folder of the records, inside `contracts`.
pub const CONTRACT_RECORD_FOLDER: &str = "contracts/registry";

/// The registered versions, by id.
#[derive(Debug, Default)]
pub(super) struct ContractRecords {
    by_id: BTreeMap<String, Vec<RegisteredVersion>>,
}

#[derive(Debug)]
struct RegisteredVersion {
    version: String,
    digest: String,
    schema: Value,
}

impl ContractRecords {
    /// Reads and checks the records of a folder.
    pub(super) fn load(
        bundle: &ProtocolBundle,
        shipped: &ContractRegistry,
        faults: &LoadDiagnostics,
    ) -> Self {
        let mut records = Self::default();
        for (path, text) in bundle.files_in_folder(CONTRACT_RECORD_FOLDER) {
            let tree = match ParsedSourceFile::parse(SourceFile::new(path, text)) {
                Ok(tree) => Arc::new(tree),
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            if let Some((id, version)) = read_record(&FileNode::root(&tree), shipped, faults) {
                records.by_id.entry(id).or_default().push(version);
            }
        }
        for versions in records.by_id.values_mut() {
            versions.sort_by_key(|one| contract_version_key(&one.version));
        }
        records
    }

    /// Checks a contract of the folder: a registered version is unchanged, and another one is what
    /// it claims about the newest version before it, registered or in the folder.
    pub(super) fn check(
        &self,
        contract: &Contract,
        root: &FileNode<'_>,
        own: &[&Contract],
        faults: &LoadDiagnostics,
    ) {
        let versions = self.by_id.get(&contract.id).map(Vec::as_slice).unwrap_or_default();
        if let Some(same) = versions.iter().find(|one| one.version == contract.version) {
            if same.digest != digest_json(contract.schema.source()) {
                let message = format!(
                    "version {} of `{}` is registered with another schema",
                    contract.version, contract.id
                );
                let hint = "a registered version never changes; raise the version".to_owned();
                let at = root.get("version").unwrap_or_else(|| root.clone());
                faults.push(at.diagnose("contract_record", message).with_hint(Some(hint)));
            }
            return;
        }
        let Some(claim) = root.get("compatibility") else { return };
        let key = contract_version_key(&contract.version);
        let is_before = |version: &str| contract_version_key(version) < key;
        let registered = versions.iter().rfind(|one| is_before(&one.version));
        let written = own
            .iter()
            .filter(|one| one.id == contract.id && is_before(&one.version))
            .max_by_key(|one| contract_version_key(&one.version));
        let outcome = match (registered, written) {
            (Some(record), Some(written))
                if contract_version_key(&record.version)
                    > contract_version_key(&written.version) =>
            {
                check_against_record(record, contract)
            }
            (_, Some(written)) => check_compat_claim(written, contract).map_err(|e| e.to_string()),
            (Some(record), None) => check_against_record(record, contract),
            (None, None) => Ok(()),
        };
        if let Err(message) = outcome {
            let hint = "`countersign contract diff` shows all that changed".to_owned();
            faults.push(claim.diagnose("contract_claim", message).with_hint(Some(hint)));
        }
    }
}

/// Compares schemas only: a record has no rules.
fn check_against_record(record: &RegisteredVersion, contract: &Contract) -> Result<(), String> {
    let bare = |version: &str, schema: &Value, claims: bool| {
        let mut file = json!({ "id": contract.id, "version": version, "schema": schema });
        if claims {
            file["compatibility"] = json!(contract.compatibility.as_str());
            file["migration_notes"] = json!(contract.migration_notes);
        }
        load_contract_value(&file).map_err(|faults| {
            faults.first().map_or_else(String::new, |fault| fault.message.clone())
        })
    };
    let old = bare(&record.version, &record.schema, false)?;
    let new = bare(&contract.version, contract.schema.source(), true)?;
    check_compat_claim(&old, &new).map_err(|error| error.to_string())
}

/// Reads one record; `None` if it has faults, which are reported.
fn read_record(
    root: &FileNode<'_>,
    shipped: &ContractRegistry,
    faults: &LoadDiagnostics,
) -> Option<(String, RegisteredVersion)> {
    let mut is_sound = true;
    if let Some(contract) = shipped.get("schema_registry_record") {
        let verdict = contract.admit_value(root.value, &RuleContext::default());
        for violation in verdict.violations() {
            is_sound = false;
            faults.push(root.diagnose("contract_record", violation.to_string()));
        }
    }
    let record = root.value;
    let text = |name: &str| record[name].as_str().map(str::to_owned);
    let (id, version, digest) = (text("schema_id")?, text("schema_version")?, text("digest")?);
    let schema = record.get("schema")?.clone();
    if digest != digest_json(&schema) {
        is_sound = false;
        let at = root.get("digest").unwrap_or_else(|| root.clone());
        faults.push(at.diagnose(
            "contract_record",
            format!("the schema of `{id}` {version} is not the one that was registered"),
        ));
    }
    is_sound.then_some((id, RegisteredVersion { version, digest, schema }))
}
