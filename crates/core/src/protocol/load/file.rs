//! One file of a protocol: parsed, its keys looked at, its defaults filled in, held against its schema.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::faults::Faults;
use super::keys;
use super::member::Member;
use crate::contract::{Registry, Schema};
use crate::patch::PointerSet;
use crate::spec::{Source, Tree};

/// The schema of `index.yaml`.
pub const INDEX_SCHEMA: &str = include_str!("../schemas/index.schema.json");
/// The schema of the files in `workflows/`.
pub const WORKFLOW_SCHEMA: &str = include_str!("../schemas/workflow.schema.json");
/// The schema of the files in `agents/`.
pub const AGENT_SCHEMA: &str = include_str!("../schemas/agent.schema.json");

static INDEX: LazyLock<Schema> = LazyLock::new(|| compiled(INDEX_SCHEMA));
static WORKFLOW: LazyLock<Schema> = LazyLock::new(|| compiled(WORKFLOW_SCHEMA));
static AGENT: LazyLock<Schema> = LazyLock::new(|| compiled(AGENT_SCHEMA));

/// Keys of a workflow that the seed has no place for.
const OWN_KEYS: [&str; 3] = ["document", "input", "output"];

fn compiled(schema: &str) -> Schema {
    let schema = serde_json::from_str(schema).expect("our own schema is JSON");
    Schema::compile(schema).expect("our own schema compiles")
}

/// Which kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Index,
    Workflow,
    Agent,
}

impl Kind {
    fn schema(self) -> &'static Schema {
        match self {
            Self::Index => &INDEX,
            Self::Workflow => &WORKFLOW,
            Self::Agent => &AGENT,
        }
    }

    /// The id of the contract that is the seed's own schema.
    fn contract(self) -> &'static str {
        match self {
            Self::Index => "protocol_index",
            Self::Workflow => "workflow",
            Self::Agent => "agent",
        }
    }
}

/// A parsed file, and where it breaks its schema.
#[derive(Debug)]
pub(super) struct File {
    pub(super) kind: Kind,
    pub(super) tree: Arc<Tree>,
    violated: PointerSet,
}

impl File {
    /// Parses a file; `None` where it is no YAML or JSON at all.
    pub(super) fn parse(kind: Kind, path: &str, text: &str, faults: &Faults) -> Option<Self> {
        let mut tree = match Tree::parse(Source::new(path, text)) {
            Ok(tree) => tree,
            Err(fault) => {
                faults.push(fault);
                return None;
            }
        };
        let schema = kind.schema();
        keys::take_unknown(schema.source(), &mut tree, faults);
        schema.fill(&mut tree.value);
        let violations = schema.violations(&tree.value);
        faults.extend(violations.iter().map(|violation| tree.violated(violation)));
        let violated = violations.iter().map(|violation| violation.pointer.as_str());
        let violated = PointerSet::from_pointers(violated);
        Some(Self { kind, tree: Arc::new(tree), violated })
    }

    /// The whole of it.
    pub(super) fn root(&self) -> Member<'_> {
        Member::root(&self.tree)
    }

    /// Whether a member has the shape its schema asks for.
    pub(super) fn is_sound(&self, member: &Member<'_>) -> bool {
        !self.violated.contains(&member.pointer) && !self.violated.is_any_inside(&member.pointer)
    }

    /// A member of the top that has the shape its schema asks for.
    pub(super) fn sound(&self, key: &str) -> Option<Member<'_>> {
        self.root().get(key).filter(|member| self.is_sound(member))
    }

    /// Holds the file against the seed's own schema, where we found nothing to say: ours is meant to be
    /// the narrower one, and a file that fits ours alone would not be portable.
    pub(super) fn hold_against_seed(&self, shipped: &Registry, faults: &Faults) {
        let Some(contract) = shipped.get(self.kind.contract()) else { return };
        if faults.any_in(&self.tree.source.name) {
            return;
        }
        let mut value = self.tree.value.clone();
        if let Value::Object(members) = &mut value
            && self.kind == Kind::Workflow
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
        if let (Kind::Agent, Some(Value::Object(versions))) = (self.kind, value.get("prompt")) {
            let text = versions.values().next().cloned().unwrap_or_default();
            value["prompt"] = text;
        }
        let violations = contract.schema.violations(&value);
        faults.extend(violations.iter().map(|violation| self.tree.violated(violation)));
    }
}
