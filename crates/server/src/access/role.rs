//! Roles, the smaller first: each may do what those before it may.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

/// What the holder of a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessRole {
    /// Looks.
    Reader,
    /// Starts runs, answers, hands in, steers; remembers and composes.
    Operator,
    /// Has files of its own looked over: protocols and contracts.
    Author,
    /// Erases.
    Admin,
}

/// No such role.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no role `{0}`; there are reader, operator, author, admin")]
pub struct UnknownRole(String);

impl AccessRole {
    /// Every role, the smallest first.
    pub const ALL: [Self; 4] = [Self::Reader, Self::Operator, Self::Author, Self::Admin];

    /// The word for it.
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
