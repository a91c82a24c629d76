//! What the parts of a workflow may refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::contracts::Contracts;
use super::faults::Faults;
use super::known::Known;
use crate::contract::Contract;
use crate::patch::PointerSet;
use crate::protocol::{Agent, EnginePlace, Hook, NAMES, Program, RetrievalSource};

/// Everything a protocol declares, by name.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) contracts: Contracts,
    pub(super) agents: Known<Arc<Agent>>,
    pub(super) hooks: Known<Hook>,
    pub(super) programs: Known<Program>,
    pub(super) sources: Known<RetrievalSource>,
    /// Hosts that may be called; `None` where the index could not be read.
    pub(super) hosts: Option<Vec<String>>,
    /// The same, to be looked up.
    pub(super) host_set: BTreeSet<String>,
    pub(super) workflows: Known<()>,
    /// Budgets that some transition or phase spends from.
    pub(super) spent: BTreeSet<String>,
    /// The engine's places in the document that the index describes.
    pub(super) engine: Vec<EnginePlace>,
    /// Contract and engine's places of the documents that workflows have of their own.
    pub(super) own: BTreeMap<String, (Option<Arc<Contract>>, Vec<EnginePlace>)>,
}

impl Names {
    /// The engine's places in the document of a workflow.
    pub(super) fn engine_of(&self, workflow: &str) -> &[EnginePlace] {
        self.own.get(workflow).map_or(&self.engine, |(_, engine)| engine)
    }

    /// Whether everything declared could be read.
    pub(super) fn is_whole(&self) -> bool {
        self.agents.is_whole()
            && self.hooks.is_whole()
            && self.programs.is_whole()
            && self.sources.is_whole()
            && self.workflows.is_whole()
    }
}

/// What one phase may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) names: &'s Names,
    /// The phases of the workflow, includes merged in.
    pub(super) phases: &'s Known<()>,
    /// The engine's places in the document of the workflow.
    pub(super) engine: &'s [EnginePlace],
    /// What the phase may write; `None` is every place that is not the engine's.
    pub(super) writes: Option<&'s Writes>,
    /// The names that expressions of its changes may use.
    pub(super) reads: &'s [&'s str],
    /// The names that its texts, questions and orders may use.
    pub(super) texts: &'s [&'s str],
    pub(super) faults: &'s Faults,
}

impl<'s> Scope<'s> {
    /// What the index may refer to: the phases of all workflows, and the document it describes.
    pub(super) fn whole(names: &'s Names, phases: &'s Known<()>, faults: &'s Faults) -> Self {
        let (reads, texts) = (&NAMES[..], &NAMES[..2]);
        Self { names, phases, engine: &names.engine, writes: None, reads, texts, faults }
    }
}

/// The places that a phase may write.
#[derive(Debug)]
pub(super) struct Writes {
    pub(super) places: Vec<String>,
    pub(super) set: PointerSet,
}

impl Writes {
    /// These places.
    pub(super) fn new(places: Vec<String>) -> Self {
        let set = PointerSet::from_pointers(places.iter().map(String::as_str));
        Self { places, set }
    }
}

/// What went wrong, as the changes of an outcome read it.
pub(super) const FAILURE: &str = "failure";
