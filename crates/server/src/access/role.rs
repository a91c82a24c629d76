//! The roles of callers, in ascending order: each role includes the permissions of the roles before
//! it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

/// What a caller may do. Each role includes the roles before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessRole {
    /// Reads runs, protocols, contracts, the inbox and memory packets.
    Reader,
    /// Starts runs, answers waits, submits replies and documents, halts and resumes runs, adds
    /// memory and composes packets.
    Operator,
    /// Checks uploaded protocols and compares uploaded contracts.
    Author,
    /// Erases memory and acts as other users.
    Admin,
}

/// The text does not name a role.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown role `{0}`; expected reader, operator, author or admin")]
pub struct UnknownRole(String);

impl AccessRole {
    /// Every role, in ascending order.
    pub const ALL: [Self; 4] = [Self::Reader, Self::Operator, Self::Author, Self::Admin];

    /// The names of this role and of the roles that it includes.
    #[must_use]
    pub fn included_names(self) -> Vec<String> {
        let included = Self::ALL.into_iter().filter(|role| *role <= self);
        included.map(|role| role.as_str().to_owned()).collect()
    }

    /// The name of the role, as the key file and the API have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Operator => "operator",
            Self::Author => "author",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for AccessRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AccessRole {
    type Err = UnknownRole;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == word);
        found.ok_or_else(|| UnknownRole(word.to_owned()))
    }
}
