//! The registry of known contracts, by id and version.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use super::Contract;
use crate::similar_name::find_similar_name;

/// Contracts by id, with every version of each id, newest last.
#[derive(Debug, Default, Clone)]
pub struct ContractRegistry {
    contracts: BTreeMap<String, Vec<Arc<Contract>>>,
}

/// The reason why a contract cannot be registered or found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ContractRegistryError {
    /// Two different contracts have the same id and version.
    #[error(
        "`{id}` version {version} is already registered with different content; raise the version"
    )]
    VersionConflict {
        /// The id that both contracts have.
        id: String,
        /// The version that both contracts have.
        version: String,
    },
    /// The registry has no contract with this name.
    #[error("no contract `{name}`{}", hint.as_ref().map_or_else(String::new, |known| format!("; did you mean `{known}`?")))]
    Unknown {
        /// The requested name: `id` or `id@version`.
        name: String,
        /// The most similar known name; absent if none is similar.
        hint: Option<String>,
    },
}

impl ContractRegistry {
    /// Adds a contract. Adding an identical contract again is allowed; another contract with the
    /// same id and version is an error.
    pub fn add(&mut self, contract: Contract) -> Result<(), ContractRegistryError> {
        let versions = self.contracts.entry(contract.id.clone()).or_default();
        match versions.iter().find(|other| other.version == contract.version) {
            Some(other) if other.digest == contract.digest => Ok(()),
            Some(_) => Err(ContractRegistryError::VersionConflict {
                id: contract.id,
                version: contract.version,
            }),
            None => {
                versions.push(Arc::new(contract));
                versions.sort_by_key(|contract| contract_version_key(&contract.version));
                Ok(())
            }
        }
    }

    /// Finds the newest version of `id`, or exactly `id@version`.
    pub fn find(&self, name: &str) -> Result<&Arc<Contract>, ContractRegistryError> {
        let (id, version) = match name.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (name, None),
        };
        let versions = self.contracts.get(id).map(Vec::as_slice).unwrap_or_default();
        let found = match version {
            Some(version) => versions.iter().find(|contract| contract.version == version),
            None => versions.last(),
        };
        found.ok_or_else(|| ContractRegistryError::Unknown {
            name: name.to_owned(),
            hint: self.suggest_name(id, version.is_some()),
        })
    }

    /// Returns the newest version of an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Contract> {
        self.find(id).ok().map(Arc::as_ref)
    }

    /// Returns every contract, sorted by id and then by version.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Contract>> {
        self.contracts.values().flatten()
    }

    fn suggest_name(&self, id: &str, with_version: bool) -> Option<String> {
        if with_version && let Some(versions) = self.contracts.get(id) {
            return versions.last().map(|newest| format!("{id}@{}", newest.version));
        }
        find_similar_name(id, self.contracts.keys().map(String::as_str)).map(str::to_owned)
    }
}

/// Parses a version into numbers, so that 1.10.0 sorts after 1.9.0.
#[must_use]
pub fn contract_version_key(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::load_inline_contract;

    fn contract(id: &str, version: &str, schema: &str) -> Contract {
        load_inline_contract(&format!("id: {id}\nversion: {version}\nschema: {schema}")).unwrap()
    }

    #[test]
    fn the_newest_version_is_meant_unless_one_is_named() {
        let mut registry = ContractRegistry::default();
        for version in ["1.10.0", "1.9.0", "1.2.3"] {
            registry.add(contract("note", version, "true")).unwrap();
        }
        assert_eq!(registry.find("note").unwrap().version, "1.10.0");
        assert_eq!(registry.find("note@1.2.3").unwrap().version, "1.2.3");
        let versions: Vec<&str> = registry.iter().map(|one| one.version.as_str()).collect();
        assert_eq!(versions, ["1.2.3", "1.9.0", "1.10.0"]);
    }

    #[test]
    fn a_name_means_one_thing() {
        let mut registry = ContractRegistry::default();
        registry.add(contract("note", "1.0.0", "{ type: object }")).unwrap();
        registry.add(contract("note", "1.0.0", "{ type: object }")).unwrap();
        assert_eq!(registry.iter().count(), 1);
        let refused = registry.add(contract("note", "1.0.0", "{ type: array }")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`note` version 1.0.0 is already registered with different content; raise the version"
        );
    }

    #[test]
    fn an_unknown_name_comes_with_the_nearest() {
        let mut registry = ContractRegistry::default();
        registry.add(contract("verdict", "1.0.0", "true")).unwrap();
        let message = |name: &str| registry.find(name).unwrap_err().to_string();
        assert_eq!(message("vedrict"), "no contract `vedrict`; did you mean `verdict`?");
        assert_eq!(
            message("verdict@2.0.0"),
            "no contract `verdict@2.0.0`; did you mean `verdict@1.0.0`?"
        );
        assert_eq!(message("banana"), "no contract `banana`");
    }
}
