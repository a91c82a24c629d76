//! One file of a protocol: parsed, its keys looked at, its defaults filled in, held against its schema.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::unknown_keys;
use crate::contract::{ContractRegistry, Schema};
use crate::patch::PointerSet;
use crate::source::{ParsedSourceFile, SourceFile};

/// The schema of `index.yaml`.
pub const INDEX_SCHEMA: &str = include_str!("../schemas/index.schema.json");
/// The schema of the files in `workflows/`.
pub const WORKFLOW_SCHEMA: &str = include_str!("../schemas/workflow.schema.json");
/// The schema of the files in `agents/`.
pub const AGENT_SCHEMA: &str = include_str!("../schemas/agent.schema.json");

static INDEX: LazyLock<Schema> = LazyLock::new(|| compile_schema(INDEX_SCHEMA));
static WORKFLOW: LazyLock<Schema> = LazyLock::new(|| compile_schema(WORKFLOW_SCHEMA));
static AGENT: LazyLock<Schema> = LazyLock::new(|| compile_schema(AGENT_SCHEMA));

/// Keys of a workflow that the seed has no place for.
const OWN_KEYS: [&str; 3] = ["document", "input", "output"];

fn compile_schema(schema: &str) -> Schema {
    let schema = serde_json::from_str(schema).expect("our own schema is JSON");
    Schema::compile(schema).expect("our own schema compiles")
}

/// Which kind of file.
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

    /// The id of the contract that is the seed's own schema.
    fn contract_id(self) -> &'static str {
        match self {
            Self::Index => "protocol_index",
            Self::Workflow => "workflow",
            Self::Agent => "agent",
        }
    }
}

/// A parsed file, and where it breaks its schema.
#[derive(Debug)]
pub(super) struct ProtocolFile {
    pub(super) kind: ProtocolFileKind,
    pub(super) tree: Arc<ParsedSourceFile>,
    violated: PointerSet,
}

impl ProtocolFile {
    /// Parses a file; `Empty` where it is no YAML or JSON at all.
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
        unknown_keys::remove_unknown_keys(schema.source(), &mut tree, faults);
        schema.fill_defaults(&mut tree.value);
        let violations = schema.list_violations(&tree.value);
        faults.extend(violations.iter().map(|violation| tree.diagnose_violation(violation)));
        let violated = violations.iter().map(|violation| violation.pointer.as_str());
        let violated = PointerSet::from_pointers(violated);
        Some(Self { kind, tree: Arc::new(tree), violated })
    }

    /// The whole of it.
    pub(super) fn root(&self) -> FileNode<'_> {
        FileNode::root(&self.tree)
    }

    /// Whether a member has the shape its schema asks for.
    pub(super) fn is_valid(&self, member: &FileNode<'_>) -> bool {
        !self.violated.contains(&member.pointer) && !self.violated.has_any_inside(&member.pointer)
    }

    /// A member of the top that has the shape its schema asks for.
    pub(super) fn valid_member(&self, key: &str) -> Option<FileNode<'_>> {
        self.root().get(key).filter(|member| self.is_valid(member))
    }

    /// Holds the file against the seed's own schema, where we found nothing to say: ours is meant to be
    /// the narrower one, and a file that fits ours alone would not be portable.
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
            if let Some(steps) = members.remove("steps") {
                members.insert("phases".to_owned(), steps);
            }
            // The seed closes this table; what we add to it is ours to know.
            for key in OWN_KEYS {
                members.remove(key);
            }
        }
        // The seed knows one language.
        if let (ProtocolFileKind::Agent, Some(Value::Object(versions))) =
            (self.kind, value.get("prompt"))
        {
            let text = versions.values().next().cloned().unwrap_or_default();
            value["prompt"] = text;
        }
        let violations = contract.schema.list_violations(&value);
        faults.extend(violations.iter().map(|violation| self.tree.diagnose_violation(violation)));
    }
}
