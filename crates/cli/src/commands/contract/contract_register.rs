//! `countersign contract register FILE…`: records versions of contracts, which then never change.

use std::path::{Path, PathBuf};

use countersign_contract::contract::Contract;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_schema_tools::{CompatClaimError, ContractRecordError, ContractRecords};
use serde_json::{Value, json};

use crate::exit::{CliError, CliExit};
use crate::render::{BAD, GOOD};
use crate::{contract_records, files, output};

pub(super) fn run(paths: &[PathBuf], dry_run: bool, json: bool) -> Result<CliExit, CliError> {
    let mut outcomes = Vec::new();
    for path in paths {
        let contract = files::load_contract_at(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = contract_records::record_folder(folder);
        let records = contract_records::load_records(&folder)?;
        outcomes.push(register(&contract, &records, &folder, dry_run)?);
    }
    if json {
        output::print_json(&json!(outcomes.iter().map(Registration::to_json).collect::<Vec<_>>()));
    } else {
        for outcome in &outcomes {
            output::print_message(&outcome.render(dry_run));
        }
    }
    let refused = outcomes.iter().any(|one| matches!(one.result, RegistrationResult::Refused(_)));
    Ok(if refused { CliExit::Refused } else { CliExit::Success })
}

/// What happened to one contract.
struct Registration {
    id: String,
    version: String,
    file: PathBuf,
    result: RegistrationResult,
}

enum RegistrationResult {
    Registered { record: Value, follows: Option<String> },
    AlreadyRegistered,
    Refused(ContractRecordError),
}

fn register(
    contract: &Contract,
    records: &ContractRecords,
    folder: &Path,
    dry_run: bool,
) -> Result<Registration, CliError> {
    let file = folder.join(format!("{}@{}.json", contract.id, contract.version));
    let now = SystemClock.now().to_string();
    let result = match records.build_record(contract, &now) {
        Err(error) => RegistrationResult::Refused(error),
        Ok(None) => RegistrationResult::AlreadyRegistered,
        Ok(Some((record, before))) => {
            if !dry_run {
                contract_records::write_record(&file, &record)?;
            }
            let follows = before.map(|before| before.version.clone());
            RegistrationResult::Registered { record, follows }
        }
    };
    let (id, version) = (contract.id.clone(), contract.version.clone());
    Ok(Registration { id, version, file, result })
}

impl Registration {
    fn to_json(&self) -> Value {
        let mut shown = json!({
            "contract": self.id,
            "version": self.version,
            "file": self.file.display().to_string(),
        });
        match &self.result {
            RegistrationResult::Registered { record, .. } => {
                shown["outcome"] = json!("registered");
                shown["record"] = record.clone();
            }
            RegistrationResult::AlreadyRegistered => shown["outcome"] = json!("unchanged"),
            RegistrationResult::Refused(error) => {
                shown["outcome"] = json!("refused");
                shown["reason"] = json!(error.to_string());
            }
        }
        shown
    }

    fn render(&self, dry_run: bool) -> String {
        let Self { id, version, file, result } = self;
        let file = file.display();
        match result {
            RegistrationResult::Registered { record, follows } => {
                let claim = record["compatibility"].as_str().unwrap_or_default();
                let follows = follows
                    .as_ref()
                    .map(|before| format!(", follows {before}"))
                    .unwrap_or_default();
                let (done, where_to) = if dry_run {
                    ("can be registered", "it would be written to")
                } else {
                    ("registered", "written to")
                };
                format!(
                    "{GOOD}{done}{GOOD:#}: {id} {version} ({claim}{follows}); {where_to} {file}"
                )
            }
            RegistrationResult::AlreadyRegistered => {
                format!("{id} {version} is already registered, with the same schema, in {file}")
            }
            RegistrationResult::Refused(error) => {
                format!("{BAD}refused{BAD:#}: {error}\n  {}", advise(error))
            }
        }
    }
}

/// Says what to do about a refusal.
fn advise(error: &ContractRecordError) -> &'static str {
    match error {
        ContractRecordError::Changed { .. } => {
            "a registered version never changes; raise the version"
        }
        ContractRecordError::Edited { .. } => "restore the record from version control",
        ContractRecordError::NoVersionBefore { .. } => {
            "register the version before it first, or declare `compatibility: initial`"
        }
        ContractRecordError::Claim(CompatClaimError::MissingNotes { .. }) => {
            "say in `migration_notes` what users of the version before must do"
        }
        ContractRecordError::Claim(CompatClaimError::NotInitial { .. }) => {
            "declare in `compatibility` how it relates to the version before"
        }
        ContractRecordError::Claim(CompatClaimError::Refuted { .. }) => {
            "declare `compatibility: breaking` with `migration_notes`, or change the schema"
        }
        ContractRecordError::Invalid { .. } => "correct the schema",
    }
}
