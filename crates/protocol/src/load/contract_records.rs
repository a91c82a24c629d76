//! The registered versions of contracts in a protocol folder: `contracts/registry/ID@VERSION.json`.

use countersign_contract::contract::{Contract, ContractRegistry};
use countersign_contract::reply::RuleContext;
use countersign_contract::source::{Diagnostic, ParsedSourceFile, SourceFile};
use countersign_schema_tools::{ContractRecord, ContractRecords};

use super::load_diagnostics::LoadDiagnostics;
use crate::ProtocolBundle;

/// The folder of the records, inside `contracts`.
pub const CONTRACT_RECORD_FOLDER: &str = "contracts/registry";

/// Reads and checks the records of a folder.
pub(super) fn load_contract_records(
    bundle: &ProtocolBundle,
    shipped: &ContractRegistry,
    faults: &LoadDiagnostics,
) -> ContractRecords {
    let mut records = ContractRecords::default();
    for (path, text) in bundle.files_in_folder(CONTRACT_RECORD_FOLDER) {
        let read = ParsedSourceFile::parse(SourceFile::new(path, text))
            .map_err(|fault| vec![fault])
            .and_then(|file| read_contract_record(&file, shipped));
        match read {
            Ok(record) => records.add(record),
            Err(found) => faults.extend(found),
        }
    }
    records
}

/// Reads the record in a file.
///
/// # Errors
///
/// The file is no valid `schema_registry_record`, or its schema is not the one that was registered.
pub fn read_contract_record(
    file: &ParsedSourceFile,
    shipped: &ContractRegistry,
) -> Result<ContractRecord, Vec<Diagnostic>> {
    let fault = |pointer: &str, message: String| file.diagnose("contract_record", pointer, message);
    if let Some(contract) = shipped.get("schema_registry_record") {
        let verdict = contract.admit_value(&file.value, &RuleContext::default());
        let violations = verdict.violations().iter();
        let found: Vec<_> =
            violations.map(|one| fault(&one.pointer, format!("{}: {one}", one.pointer))).collect();
        if !found.is_empty() {
            return Err(found);
        }
    }
    let not_a_record = || vec![fault("", "not a record of a contract".to_owned())];
    ContractRecord::from_value(&file.value)
        .ok_or_else(not_a_record)?
        .map_err(|error| vec![fault("/digest", error.to_string())])
}

/// Finds what the contract in `file` says that the records or the other contracts of its folder
/// contradict.
#[must_use]
pub fn check_contract_record(
    records: &ContractRecords,
    contract: &Contract,
    file: &ParsedSourceFile,
    others: &[&Contract],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Err(error) = records.check_unchanged(contract) {
        let hint = "a registered version never changes; raise the version".to_owned();
        let fault = file.diagnose("contract_record", "/version", error.to_string());
        found.push(fault.with_hint(Some(hint)));
    }
    if file.value.get("compatibility").is_some()
        && let Err(error) = records.check_claim(contract, others)
    {
        let hint = "`countersign contract diff` shows all that changed".to_owned();
        let fault = file.diagnose("contract_claim", "/compatibility", error.to_string());
        found.push(fault.with_hint(Some(hint)));
    }
    found
}
