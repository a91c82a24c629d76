//! The registered versions of contracts. A registered version never changes, and a later one is
//! what it claims to be.

use std::collections::BTreeMap;

use countersign_contract::contract::{
    CompatibilityLevel, Contract, contract_version_key, load_contract_value,
};
use countersign_contract::json::digest_json;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::compat_claim::{CompatClaimError, check_compat_claim};

/// The registered versions of any number of contracts, by id.
#[derive(Debug, Clone, Default)]
pub struct ContractRecords {
    by_id: BTreeMap<String, Vec<ContractRecord>>,
}

/// One registered version of one contract: what later versions are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct ContractRecord {
    /// The id of the contract.
    pub id: String,
    /// The registered version.
    pub version: String,
    /// The digest of the schema.
    pub digest: String,
    /// The schema of this version.
    pub schema: Value,
}

/// Why a version of a contract disagrees with what is registered.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ContractRecordError {
    /// The version is registered with another schema.
    #[error("version {version} of `{id}` is registered with another schema")]
    Changed {
        /// The id of the contract.
        id: String,
        /// The version that was checked.
        version: String,
    },
    /// The schema of a record is not the one that its digest names.
    #[error("the schema of `{id}` {version} is not the one that was registered")]
    Edited {
        /// The id of the contract.
        id: String,
        /// The registered version.
        version: String,
    },
    /// The claim is about a version before, and none is registered.
    #[error("`{id}` {version} claims `{}`, but no version before it is registered", claim.as_str())]
    NoVersionBefore {
        /// The id of the contract.
        id: String,
        /// The version that was checked.
        version: String,
        /// The compatibility that it claims.
        claim: CompatibilityLevel,
    },
    /// The version is not what it claims to be.
    #[error(transparent)]
    Claim(#[from] CompatClaimError),
    /// A schema cannot be compared.
    #[error("`{id}` {version} cannot be compared: {reason}")]
    Invalid {
        /// The id of the contract.
        id: String,
        /// The version that was checked.
        version: String,
        /// Why its schema does not load.
        reason: String,
    },
}

impl ContractRecord {
    /// Reads a `schema_registry_record`; `None` if it is not one.
    ///
    /// # Errors
    ///
    /// The schema is not the one that was registered.
    #[must_use]
    pub fn from_value(record: &Value) -> Option<Result<Self, ContractRecordError>> {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let (id, version, digest) = (text("schema_id")?, text("schema_version")?, text("digest")?);
        let schema = record.get("schema")?.clone();
        Some(if digest == digest_json(&schema) {
            Ok(Self { id, version, digest, schema })
        } else {
            Err(ContractRecordError::Edited { id, version })
        })
    }
}

impl ContractRecords {
    /// Adds a record, in the order of the versions.
    pub fn add(&mut self, record: ContractRecord) {
        let versions = self.by_id.entry(record.id.clone()).or_default();
        let key = contract_version_key(&record.version);
        let at = versions.partition_point(|one| contract_version_key(&one.version) <= key);
        versions.insert(at, record);
    }

    /// Returns the record of exactly this version.
    #[must_use]
    pub fn find(&self, id: &str, version: &str) -> Option<&ContractRecord> {
        self.by_id.get(id)?.iter().find(|one| one.version == version)
    }

    /// Returns the newest registered version before this one.
    #[must_use]
    pub fn find_before(&self, id: &str, version: &str) -> Option<&ContractRecord> {
        let key = contract_version_key(version);
        self.by_id.get(id)?.iter().rfind(|one| contract_version_key(&one.version) < key)
    }

    /// Checks that a registered version is unchanged.
    ///
    /// # Errors
    ///
    /// The version is registered with another schema.
    pub fn check_unchanged(&self, contract: &Contract) -> Result<(), ContractRecordError> {
        let same = self.find(&contract.id, &contract.version);
        if same.is_some_and(|record| record.digest != digest_json(contract.schema.source())) {
            let (id, version) = (contract.id.clone(), contract.version.clone());
            return Err(ContractRecordError::Changed { id, version });
        }
        Ok(())
    }

    /// Checks what a version claims about the newest version before it, which is a registered one
    /// or one of `others`. Nothing is checked if there is none, or if the version itself is
    /// registered: it was checked then.
    ///
    /// # Errors
    ///
    /// The version is not what it claims to be.
    pub fn check_claim(
        &self,
        contract: &Contract,
        others: &[&Contract],
    ) -> Result<(), ContractRecordError> {
        if self.find(&contract.id, &contract.version).is_some() {
            return Ok(());
        }
        let key = contract_version_key(&contract.version);
        let written = others
            .iter()
            .filter(|one| one.id == contract.id && contract_version_key(&one.version) < key)
            .max_by_key(|one| contract_version_key(&one.version));
        let registered = self.find_before(&contract.id, &contract.version).filter(|record| {
            written.is_none_or(|written| {
                contract_version_key(&record.version) > contract_version_key(&written.version)
            })
        });
        match (registered, written) {
            (Some(record), _) => check_against_record(record, contract),
            (None, Some(written)) => Ok(check_compat_claim(written, contract)?),
            (None, None) => Ok(()),
        }
    }

    /// Builds the `schema_registry_record` of a version, as of the time `registered_at`; gives the
    /// version that it follows beside it. A version that is registered already has no new record.
    ///
    /// # Errors
    ///
    /// The version is registered with another schema, or it is not what it claims to be.
    pub fn build_record(
        &self,
        contract: &Contract,
        registered_at: &str,
    ) -> Result<Option<(Value, Option<&ContractRecord>)>, ContractRecordError> {
        self.check_unchanged(contract)?;
        let Contract { id, version, compatibility, migration_notes, .. } = contract;
        if self.find(id, version).is_some() {
            return Ok(None);
        }
        let before = self.find_before(id, version);
        match before {
            Some(record) => check_against_record(record, contract)?,
            None if *compatibility == CompatibilityLevel::Initial => {}
            None => {
                let (id, version, claim) = (id.clone(), version.clone(), *compatibility);
                return Err(ContractRecordError::NoVersionBefore { id, version, claim });
            }
        }
        let schema = contract.schema.source();
        let mut record = Map::new();
        let mut set = |name: &str, value: Value| drop(record.insert(name.to_owned(), value));
        set("schema_id", json!(id));
        set("schema_version", json!(version));
        set("digest", json!(digest_json(schema)));
        set("compatibility", json!(compatibility.as_str()));
        if let Some(before) = before {
            let follows = json!({ "schema_version": before.version, "digest": before.digest });
            set("supersedes", follows);
        }
        if !migration_notes.trim().is_empty() {
            set("migration_notes", json!(migration_notes));
        }
        set("registered_at", json!(registered_at));
        set("schema", schema.clone());
        Ok(Some((Value::Object(record), before)))
    }
}

/// Compares the schemas only: a record has no rules.
fn check_against_record(
    record: &ContractRecord,
    contract: &Contract,
) -> Result<(), ContractRecordError> {
    let load = |version: &str, schema: &Value, claim: Option<&Contract>| {
        let mut file = json!({ "id": contract.id, "version": version, "schema": schema });
        if let Some(claim) = claim {
            file["compatibility"] = json!(claim.compatibility.as_str());
            file["migration_notes"] = json!(claim.migration_notes);
        }
        load_contract_value(&file).map_err(|faults| ContractRecordError::Invalid {
            id: contract.id.clone(),
            version: version.to_owned(),
            reason: faults.first().map_or_else(String::new, |fault| fault.message.clone()),
        })
    };
    let old = load(&record.version, &record.schema, None)?;
    let new = load(&contract.version, contract.schema.source(), Some(contract))?;
    Ok(check_compat_claim(&old, &new)?)
}

#[cfg(test)]
mod tests {
    use countersign_contract::contract::load_inline_contract;

    use super::*;

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn note(version: &str, schema: &str, rest: &str) -> Contract {
        let text = format!("id: note\nversion: {version}\nschema: {schema}\n{rest}");
        load_inline_contract(&text).unwrap()
    }

    fn registered(contracts: &[&Contract]) -> ContractRecords {
        let mut records = ContractRecords::default();
        for contract in contracts {
            let (record, _) = records.build_record(contract, NOW).unwrap().unwrap();
            records.add(ContractRecord::from_value(&record).unwrap().unwrap());
        }
        records
    }

    #[test]
    fn a_record_names_what_it_follows_and_is_read_again() {
        let first = note("1.9.0", "{ type: string, maxLength: 2 }", "");
        let next = note("1.10.0", "{ type: string, maxLength: 9 }", "compatibility: backward");
        let records = registered(&[&first]);
        let (record, before) = records.build_record(&next, NOW).unwrap().unwrap();
        assert_eq!(before.unwrap().version, "1.9.0");
        assert_eq!(record["supersedes"]["digest"], digest_json(first.schema.source()));
        assert_eq!(record["registered_at"], NOW);
        let both = registered(&[&first, &next]);
        assert_eq!(both.find_before("note", "1.11.0").unwrap().version, "1.10.0");
        assert_eq!(both.build_record(&next, NOW), Ok(None), "registered once");
    }

    #[test]
    fn a_registered_version_never_changes() {
        let first = note("1.0.0", "{ type: string }", "");
        let records = registered(&[&first]);
        let changed = note("1.0.0", "{ type: number }", "");
        let refused = records.build_record(&changed, NOW).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "version 1.0.0 of `note` is registered with another schema"
        );
        assert_eq!(records.check_unchanged(&first), Ok(()));
        let (mut record, _) =
            ContractRecords::default().build_record(&first, NOW).unwrap().unwrap();
        record["schema"] = json!({ "type": "number" });
        let edited = ContractRecord::from_value(&record).unwrap().unwrap_err();
        assert!(matches!(edited, ContractRecordError::Edited { .. }), "{edited}");
    }

    #[test]
    fn a_false_claim_is_refused_with_its_proof() {
        let records = registered(&[&note("1.0.0", "{ type: string, maxLength: 9 }", "")]);
        let next = note("1.1.0", "{ type: string, maxLength: 2 }", "compatibility: backward");
        let refused = records.build_record(&next, NOW).unwrap_err().to_string();
        assert!(refused.contains("claims `backward`, but 1.1.0 refuses"), "{refused}");
        assert_eq!(records.check_claim(&next, &[]).unwrap_err().to_string(), refused);
        let early = note("0.1.0", "{ type: string }", "compatibility: full");
        let refused = records.build_record(&early, NOW).unwrap_err();
        assert!(matches!(refused, ContractRecordError::NoVersionBefore { .. }), "{refused}");
    }

    #[test]
    fn the_newest_version_before_is_registered_or_written() {
        let long = note("1.0.0", "{ type: string, maxLength: 9 }", "");
        let short = note("1.1.0", "{ type: string, maxLength: 2 }", "compatibility: forward");
        let next = note("1.2.0", "{ type: string, maxLength: 5 }", "compatibility: backward");
        let records = registered(&[&long]);
        assert!(records.check_claim(&next, &[]).is_err(), "compared with 1.0.0");
        assert_eq!(records.check_claim(&next, &[&short]), Ok(()), "compared with 1.1.0");
        let both = registered(&[&long, &short]);
        assert_eq!(both.check_claim(&next, &[&long]), Ok(()), "compared with 1.1.0");
    }
}
