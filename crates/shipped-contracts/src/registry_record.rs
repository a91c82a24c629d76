//! `schema_registry_record`: one version of one schema, as the registry stores it.
//!
//! A record states the compatibility that its author claims. Comparing the schemas verifies the
//! claim.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::JsonObject;

/// A registry entry for one version of one schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaRegistryRecord {
    /// The id that all versions of the schema share; not empty.
    pub schema_id: String,
    /// The semantic version of this schema.
    pub schema_version: String,
    /// `sha256:` and 64 hexadecimal digits, over the schema in canonical JSON.
    pub digest: String,
    /// The claimed compatibility with the previous version.
    pub compatibility: RegistryCompatibility,
    /// The previous version; absent for the first version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<SupersededVersion>,
    /// What consumers have to change; required if the version is breaking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration_notes: Option<String>,
    /// When the version was registered, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_at: Option<String>,
    /// The registered JSON Schema itself.
    pub schema: RegisteredSchema,
}

/// The compatibility of a version with the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegistryCompatibility {
    /// Values of the old schema validate against the new one.
    Backward,
    /// Values of the new schema validate against the old one.
    Forward,
    /// Both backward and forward compatible.
    Full,
    /// Neither direction is guaranteed.
    Breaking,
    /// The first version, which has no predecessor.
    Initial,
}

/// The version that a record replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupersededVersion {
    /// The semantic version of the replaced schema.
    pub schema_version: String,
    /// The digest of the replaced schema, in the format of [`SchemaRegistryRecord::digest`].
    pub digest: String,
}

/// A JSON Schema: an object, or a boolean, where `true` accepts every value and `false` none.
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
