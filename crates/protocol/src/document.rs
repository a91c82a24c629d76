//! The definition of a run's document: its contract, its initial value, and its engine-owned
//! fields.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::expr::Expr;
use serde_json::Value;

/// The document definition that runs of a protocol or workflow use.
#[derive(Debug)]
pub struct DocumentDefinition {
    /// Contract that the document must satisfy after every commit; `None` allows any object.
    pub contract: Option<Arc<Contract>>,
    /// Value before the first input; the engine then fills in its own fields.
    pub initial: Value,
    /// Fields that only the engine writes.
    pub engine: Vec<EngineField>,
}

/// A field of the document that the engine updates after every step. Nothing else can write it.
#[derive(Debug)]
pub struct EngineField {
    /// Name in the index: `status`, `phase`, `version`, or a name that the author chose.
    pub name: String,
    /// JSON Pointer of the field.
    pub pointer: String,
    /// Expression over `state` and `run` that gives the value; for the engine's own names,
    /// `run.NAME`.
    pub value: Expr,
}

/// Engine field names that the index may map to a pointer without giving an expression.
pub const ENGINE_FIELD_NAMES: [&str; 7] =
    ["workflow", "phase", "status", "version", "updated_at", "created_at", "id"];
