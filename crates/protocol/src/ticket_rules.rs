//! Tickets: what a run must hold before it can enter a phase.
//!
//! Entering a phase revokes the tickets it issues and every ticket that depends on them.

use std::collections::{BTreeMap, BTreeSet};

use super::{WorkflowDefinition, WorkflowPhase};

/// Positions of the phases that need a ticket, by ticket.
pub(crate) type PhasesByTicket<'w> = BTreeMap<&'w str, Vec<usize>>;

impl WorkflowDefinition {
    /// Lists the tickets that entering a phase revokes: its own, those issued by phases that need
    /// one of them, those issued by the transitions out of these phases, and so on.
    #[must_use]
    pub fn tickets_revoked_by<'w>(&'w self, phase: &'w WorkflowPhase) -> BTreeSet<&'w str> {
        if phase.issues.is_empty() {
            return BTreeSet::new();
        }
        self.tickets_revoked_with(phase, &self.phases_by_ticket())
    }

    /// Groups the phases of this workflow by the tickets they need.
    pub(crate) fn phases_by_ticket(&self) -> PhasesByTicket<'_> {
        let mut needs = PhasesByTicket::new();
        for (position, phase) in self.phases.iter().enumerate() {
            for ticket in &phase.needs {
                needs.entry(ticket).or_default().push(position);
            }
        }
        needs
    }

    /// Same as [`Self::tickets_revoked_by`], for callers that ask about many phases.
    pub(crate) fn tickets_revoked_with<'w>(
        &'w self,
        phase: &'w WorkflowPhase,
        needs: &PhasesByTicket<'w>,
    ) -> BTreeSet<&'w str> {
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut passed: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<&str> = phase.issues.iter().map(String::as_str).collect();
        while let Some(ticket) = open.pop() {
            if !taken.insert(ticket) {
                continue;
            }
            for position in needs.get(ticket).into_iter().flatten() {
                if passed.insert(*position) {
                    let other = &self.phases[*position];
                    open.extend(other.issues.iter().map(String::as_str));
                    let transitions = self.transitions_from(&other.id).into_iter();
                    open.extend(
                        transitions
                            .flat_map(|(_, transition)| &transition.issues)
                            .map(String::as_str),
                    );
                }
            }
        }
        taken
    }

    /// Finds the first ticket that a phase needs and that the run would not hold after entering it.
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
