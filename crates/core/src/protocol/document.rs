//! What a run's document is: its contract, its first value, and the places that are the engine's.

use std::sync::Arc;

use serde_json::Value;

use crate::contract::Contract;
use crate::expr::Expr;

/// The document of a protocol's runs.
#[derive(Debug)]
pub struct DocumentDefinition {
    /// What it must satisfy after every commit. `Empty`: any object.
    pub contract: Option<Arc<Contract>>,
    /// What it is before anything happened; the engine's places are filled in on top.
    pub initial: Value,
    /// The places only the engine writes.
    pub engine: Vec<EngineField>,
}

/// A place the engine fills after every step, and nobody else writes.
#[derive(Debug)]
pub struct EngineField {
    /// What it is called in the index: `status`, `phase`, `version`, or a name of the author's.
    pub name: String,
    /// Where it stands.
    pub at: String,
    /// Its value, an expression over `state` and `run`; for the engine's own names, `run.NAME`.
    pub value: Expr,
}

/// The names of a run that an index may give a place without saying more.
pub const ENGINE_FIELD_NAMES: [&str; 7] =
    ["workflow", "phase", "status", "version", "updated_at", "created_at", "id"];
