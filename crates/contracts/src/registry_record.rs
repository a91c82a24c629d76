//! `schema_registry_record`: one version of one schema, as the registry keeps it.
//!
//! A record says what was claimed about a change; whether the claim is true is for the comparison
//! of schemas.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::JsonObject;

/// One version of one schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaRegistryRecord {
    /// All versions of the schema share it; not empty.
    pub schema_id: String,
    /// A semantic version.
    pub schema_version: String,
    /// `sha256:` and 64 hexadecimal digits, over the schema in canonical JSON.
    pub digest: String,
    /// How it gets on with the version before.
    pub compatibility: RegistryCompatibility,
    /// The version before; absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<SupersededVersion>,
    /// What the change asks of others; needed when breaking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration_notes: Option<String>,
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_at: Option<String>,
    /// The schema itself.
    pub schema: RegisteredSchema,
}

/// How a version gets on with the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegistryCompatibility {
    /// Old values fit the new schema.
    Backward,
    /// New values fit the old schema.
    Forward,
    /// Both.
    Full,
    /// Neither is promised.
    Breaking,
    /// There was none before.
    Initial,
}

/// The version a record follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupersededVersion {
    /// Its semantic version.
    pub schema_version: String,
    /// Its digest.
    pub digest: String,
}

/// A JSON Schema, which is an object, or `true` for anything and `false` for nothing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RegisteredSchema {
    Object(JsonObject),
    Bool(bool),
}

impl TryFrom<Value> for RegisteredSchema {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Object(object) => Ok(Self::Object(object)),
            Value::Bool(truth) => Ok(Self::Bool(truth)),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("expected an object, true or false")
            }
        }
    }
}

impl Serialize for RegisteredSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(object) => object.serialize(serializer),
            Self::Bool(truth) => truth.serialize(serializer),
        }
    }
}
