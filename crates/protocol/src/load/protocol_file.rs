//! One file of a protocol: parses it, removes unknown keys, fills in defaults and validates it
//! against its schema.

use std::sync::{Arc, LazyLock};

use countersign_contract::contract::{ContractRegistry, Schema};
use countersign_contract::patch::PointerSet;
use countersign_contract::source::{ParsedSourceFile, SourceFile};
use serde_json::Value;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::{read_agents, unknown_keys, workflow_settings};

/// The JSON Schema of `index.yaml`.
pub const INDEX_SCHEMA: &str = include_str!("../schemas/index.schema.json");
/// The JSON Schema of the files in `workflows/`.
pub const WORKFLOW_SCHEMA: &str = include_str!("../schemas/workflow.schema.json");
/// The JSON Schema of the files in `agents/`.
pub const AGENT_SCHEMA: &str = include_str!("../schemas/agent.schema.json");

static INDEX: LazyLock<Schema> = LazyLock::new(|| compile_schema(INDEX_SCHEMA));
static WORKFLOW: LazyLock<Schema> = LazyLock::new(|| compile_schema(WORKFLOW_SCHEMA));
static AGENT: LazyLock<Schema> = LazyLock::new(|| compile_schema(AGENT_SCHEMA));

fn compile_schema(schema: &str) -> Schema {
    let schema = serde_json::from_str(schema).expect("the built-in schema is valid JSON");
    Schema::compile(schema).expect("the built-in schema compiles")
}

/// The kind of a protocol file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolFileKind {
    Index,
    Workflow,
    Agent,
}

impl ProtocolFileKind {
    fn schema(self) -> &'static Schema {
        match self {
            Self::Index => &INDEX,
            Self::Workflow => &WORKFLOW,
            Self::Agent => &AGENT,
        }
    }

    /// Id of the shipped contract with the specification's own schema.
    fn contract_id(self) -> &'static str {
        match self {
            Self::Index => "protocol_index",
            Self::Workflow => "workflow",
            Self::Agent => "agent",
        }
    }
}

/// A parsed file with the pointers at which it violates its schema.
#[derive(Debug)]
pub(super) struct ProtocolFile {
    pub(super) kind: ProtocolFileKind,
    pub(super) tree: Arc<ParsedSourceFile>,
    violated: PointerSet,
}

impl ProtocolFile {
    /// Parses a file; `None` if it is neither YAML nor JSON.
    pub(super) fn parse(
        kind: ProtocolFileKind,
        path: &str,
        text: &str,
        faults: &LoadDiagnostics,
    ) -> Option<Self> {
        let mut tree = match ParsedSourceFile::parse(SourceFile::new(path, text)) {
            Ok(tree) => tree,
            Err(fault) => {
                faults.push(fault);
                return None;
            }
        };
        let schema = kind.schema();
        match kind {
            ProtocolFileKind::Index => {}
            ProtocolFileKind::Workflow => workflow_settings::remove_settings(&mut tree, faults),
            ProtocolFileKind::Agent => read_agents::replace_prompt_table(&mut tree, faults),
        }
        unknown_keys::remove_unknown_keys(schema.source(), &mut tree, faults);
        schema.fill_defaults(&mut tree.value);
        let violations = schema.list_violations(&tree.value);
        faults.extend(violations.iter().map(|violation| tree.diagnose_violation(violation)));
        let violated = violations.iter().map(|violation| violation.pointer.as_str());
        let violated = PointerSet::from_pointers(violated);
        Some(Self { kind, tree: Arc::new(tree), violated })
    }

    /// The root of the file.
    pub(super) fn root(&self) -> FileNode<'_> {
        FileNode::root(&self.tree)
    }

    /// Whether a value satisfies its schema.
    pub(super) fn is_valid(&self, member: &FileNode<'_>) -> bool {
        !self.violated.contains(&member.pointer) && !self.violated.has_any_inside(&member.pointer)
    }

    /// The top-level member with this key, if it satisfies its schema.
    pub(super) fn valid_member(&self, key: &str) -> Option<FileNode<'_>> {
        self.root().get(key).filter(|member| self.is_valid(member))
    }

    /// Validates the file against the specification's own schema if it has no errors so far. Our
    /// schema is meant to be the narrower one, and a file that satisfies only ours would not be
    /// portable.
    pub(super) fn check_specification_schema(
        &self,
        shipped: &ContractRegistry,
        faults: &LoadDiagnostics,
    ) {
        let Some(contract) = shipped.get(self.kind.contract_id()) else { return };
        if faults.has_errors_in(&self.tree.source.name) {
            return;
        }
        let mut value = self.tree.value.clone();
        if let Value::Object(members) = &mut value
            && self.kind == ProtocolFileKind::Workflow
        {
            // `steps` is another spelling of `phases`.
            if let Some(steps) = members.remove("steps") {
                members.insert("phases".to_owned(), steps);
            }
        }
        let violations = contract.schema.list_violations(&value);
        let id = self.kind.contract_id();
        faults.extend(violations.iter().map(|violation| {
            let hint = format!("only the shipped contract `{id}` refuses this: use what it allows");
            self.tree.diagnose_violation(violation).with_hint(Some(hint))
        }));
    }
}
