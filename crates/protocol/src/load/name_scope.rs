//! The names that the parts of a workflow may refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::patch::PointerSet;

use super::load_diagnostics::LoadDiagnostics;
use super::protocol_contracts::ProtocolContracts;
use super::symbol_table::SymbolTable;
use crate::{
    EXPRESSION_NAMES, EngineField, HookDefinition, ProgramDefinition, ResolvedAgent,
    RetrievalSource,
};

/// Everything that a protocol declares, by name.
#[derive(Debug)]
pub(super) struct ProtocolSymbols {
    pub(super) contracts: ProtocolContracts,
    pub(super) agents: SymbolTable<Arc<ResolvedAgent>>,
    pub(super) hooks: SymbolTable<HookDefinition>,
    pub(super) programs: SymbolTable<ProgramDefinition>,
    pub(super) sources: SymbolTable<RetrievalSource>,
    /// Hosts that may be called; `None` if the index could not be read.
    pub(super) hosts: Option<Vec<String>>,
    /// The same hosts as a set, for lookups.
    pub(super) host_set: BTreeSet<String>,
    pub(super) workflows: SymbolTable<()>,
    /// Budgets that some transition or phase spends from.
    pub(super) spent_budgets: BTreeSet<String>,
    /// Engine-owned fields of the document that the index defines.
    pub(super) engine: Vec<EngineField>,
    /// Contract and engine-owned fields of the workflows that have their own document.
    pub(super) workflow_documents: BTreeMap<String, (Option<Arc<Contract>>, Vec<EngineField>)>,
}

impl ProtocolSymbols {
    /// The engine-owned fields in the document of a workflow.
    pub(super) fn engine_fields_for(&self, workflow: &str) -> &[EngineField] {
        self.workflow_documents.get(workflow).map_or(&self.engine, |(_, engine)| engine)
    }

    /// Whether everything declared could be read.
    pub(super) fn is_complete(&self) -> bool {
        self.agents.is_complete()
            && self.hooks.is_complete()
            && self.programs.is_complete()
            && self.sources.is_complete()
            && self.workflows.is_complete()
    }
}

/// The names that one phase may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameScope<'s> {
    pub(super) names: &'s ProtocolSymbols,
    /// Phases of the workflow, with includes merged in.
    pub(super) phases: &'s SymbolTable<()>,
    /// Engine-owned fields in the document of the workflow.
    pub(super) engine: &'s [EngineField],
    /// Pointers that the phase may write; `None` allows every field that is not engine-owned.
    pub(super) writes: Option<&'s WritablePointers>,
    /// Names that the expressions of its changes may use.
    pub(super) change_names: &'s [&'s str],
    /// Names that its texts, questions and effects may use.
    pub(super) text_names: &'s [&'s str],
    pub(super) faults: &'s LoadDiagnostics,
}

impl<'s> NameScope<'s> {
    /// The scope of the index: the phases of all workflows, and the document that the index
    /// defines.
    pub(super) fn for_protocol(
        names: &'s ProtocolSymbols,
        phases: &'s SymbolTable<()>,
        faults: &'s LoadDiagnostics,
    ) -> Self {
        let (change_names, text_names) = (&EXPRESSION_NAMES[..], &EXPRESSION_NAMES[..2]);
        Self {
            names,
            phases,
            engine: &names.engine,
            writes: None,
            change_names,
            text_names,
            faults,
        }
    }
}

/// The pointers that a phase may write.
#[derive(Debug)]
pub(super) struct WritablePointers {
    pub(super) pointers: Vec<String>,
    pub(super) set: PointerSet,
}

impl WritablePointers {
    /// Builds the set from the pointers.
    pub(super) fn new(pointers: Vec<String>) -> Self {
        let set = PointerSet::from_pointers(pointers.iter().map(String::as_str));
        Self { pointers, set }
    }
}

/// The name under which the changes of a failure handler read the failure.
pub(super) const FAILURE: &str = "failure";
