//! What the parts of a workflow may refer to.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::contracts::Contracts;
use super::faults::Faults;
use super::known::Known;
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
    pub(super) workflows: Known<()>,
    /// Budgets that some transition or phase spends from.
    pub(super) spent: BTreeSet<String>,
    pub(super) engine: Vec<EnginePlace>,
}

impl Names {
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
    /// What the phase may write; `None` is every place that is not the engine's.
    pub(super) writes: Option<&'s [String]>,
    pub(super) faults: &'s Faults,
    /// What changes are made from: `reply`, or the `failure` that an outcome follows.
    pub(super) subject: &'static str,
    /// Whether changes may read the `child` that ended.
    pub(super) child: bool,
    /// What one of several items is called.
    pub(super) item: Option<&'s str>,
}

impl<'s> Scope<'s> {
    /// What a whole protocol, or one phase, may refer to.
    pub(super) fn new(names: &'s Names, phases: &'s Known<()>, faults: &'s Faults) -> Self {
        Self { names, phases, writes: None, faults, subject: NAMES[2], child: false, item: None }
    }

    /// The names that texts, questions and orders may use, by slot.
    pub(super) fn of_texts(&self) -> Vec<&'s str> {
        NAMES[..2].iter().copied().chain(self.item).collect()
    }

    /// The names that changes may use, by slot.
    pub(super) fn of_changes(&self) -> Vec<&'s str> {
        let child = self.child.then_some("child");
        [NAMES[0], NAMES[1], self.subject].into_iter().chain(child).chain(self.item).collect()
    }

    /// The same for the changes of an outcome: no model has a hand in them, so they may write all but
    /// the engine's places.
    pub(super) fn of_outcome(self) -> Self {
        Self { writes: None, subject: FAILURE, ..self }
    }

    /// Whether changes are made from what somebody handed in.
    pub(super) fn has_reply(&self) -> bool {
        self.subject == NAMES[2]
    }
}

/// What went wrong, as the changes of an outcome read it.
pub(super) const FAILURE: &str = "failure";
