//! Tickets: what a phase must have been given before it is entered.
//!
//! Work that begins anew takes back what it gave, and all that was given on the strength of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{WorkflowDefinition, WorkflowPhase};

/// Who needs which ticket: the positions of phases by the ticket.
pub(crate) type PhasesByTicket<'w> = BTreeMap<&'w str, Vec<usize>>;

impl WorkflowDefinition {
    /// The tickets that entering a phase takes back: its own, and those given by phases that need one of
    /// them, and by the ways out of those, and so on.
    #[must_use]
    pub fn tickets_revoked_by<'w>(&'w self, phase: &'w WorkflowPhase) -> BTreeSet<&'w str> {
        if phase.gives.is_empty() {
            return BTreeSet::new();
        }
        self.tickets_revoked_with(phase, &self.phases_by_ticket())
    }

    /// The phases of this workflow by the tickets they need.
    pub(crate) fn phases_by_ticket(&self) -> PhasesByTicket<'_> {
        let mut needs = PhasesByTicket::new();
        for (position, phase) in self.phases.iter().enumerate() {
            for ticket in &phase.needs {
                needs.entry(ticket).or_default().push(position);
            }
        }
        needs
    }

    /// The same as [`Self::tickets_revoked_by`] for whoever asks of many phases.
    pub(crate) fn tickets_revoked_with<'w>(
        &'w self,
        phase: &'w WorkflowPhase,
        needs: &PhasesByTicket<'w>,
    ) -> BTreeSet<&'w str> {
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut passed: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<&str> = phase.gives.iter().map(String::as_str).collect();
        while let Some(ticket) = open.pop() {
            if !taken.insert(ticket) {
                continue;
            }
            for position in needs.get(ticket).into_iter().flatten() {
                if passed.insert(*position) {
                    let other = &self.phases[*position];
                    open.extend(other.gives.iter().map(String::as_str));
                    let ways = self.transitions_from(&other.id).into_iter();
                    open.extend(ways.flat_map(|(_, way)| &way.gives).map(String::as_str));
                }
            }
        }
        taken
    }

    /// The first ticket that a phase needs and that would not be held once it is entered.
    #[must_use]
    pub fn find_missing_ticket<'w>(
        &'w self,
        phase: &'w WorkflowPhase,
        held: &BTreeSet<String>,
    ) -> Option<&'w str> {
        let taken = self.tickets_revoked_by(phase);
        let lacks = |need: &&String| !held.contains(*need) || taken.contains(need.as_str());
        phase.needs.iter().find(lacks).map(String::as_str)
    }
}
