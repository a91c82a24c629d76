//! Issues tickets for accepted work and taken transitions, revokes them when that work starts
//! again, and checks them before the run enters a phase, with or without a transition.

use std::collections::BTreeSet;

use countersign_protocol::WorkflowPhase;

use super::run_decision::RunDecision;
use super::start_input::cannot_start;
use crate::InputRejection;
use crate::event::RunEvent;
use crate::input::RunStart;
use crate::state::{BlockReason, Continuation};

impl RunDecision<'_> {
    /// Completes the accepted work of the phase: issues its tickets and evaluates the gates next.
    pub(super) fn accept_work(&mut self) -> Continuation {
        self.issue_phase_tickets();
        Continuation::ChooseTransition
    }

    /// Issues the tickets of the current phase, whose work was accepted.
    pub(super) fn issue_phase_tickets(&mut self) {
        self.issue_tickets(&self.current_phase().issues);
    }

    /// Issues the tickets that the run does not hold yet.
    pub(super) fn issue_tickets(&mut self, tickets: &[String]) {
        let tickets = tickets.iter().filter(|ticket| !self.state.tickets.contains(*ticket));
        let tickets: Vec<String> = tickets.cloned().collect();
        if !tickets.is_empty() {
            self.emit(RunEvent::TicketsIssued { tickets });
        }
    }

    /// Revokes the tickets that the entered phase issues, and every ticket that depends on them.
    pub(super) fn revoke_tickets(&mut self) {
        let revoked = self.workflow.tickets_revoked_by(self.current_phase());
        let held = revoked.into_iter().filter(|ticket| self.state.tickets.contains(*ticket));
        let tickets: Vec<String> = held.map(str::to_owned).collect();
        if !tickets.is_empty() {
            self.emit(RunEvent::TicketsRevoked { tickets });
        }
    }

    /// Whether the run holds the tickets to enter a phase, by a transition or without one. Blocks
    /// the run if not.
    pub(super) fn check_tickets(
        &mut self,
        transition: Option<usize>,
        to: &str,
        because: &str,
    ) -> bool {
        let Some(phase) = self.workflow.find_phase(to) else { return true };
        let mut held = self.state.tickets.clone();
        let gives = transition.iter().flat_map(|index| &self.workflow.transitions[*index].issues);
        held.extend(gives.cloned());
        let Some(ticket) = self.workflow.find_missing_ticket(phase, &held) else { return true };
        let (phase, ticket) = (to.to_owned(), ticket.to_owned());
        let message =
            format!("Phase `{phase}` needs the ticket `{ticket}`, which the run does not hold");
        self.drop_waits();
        self.cancel_children("the parent run no longer waits for this run");
        let wait = self.new_incident_wait(&message);
        // After a transition, the gates are evaluated again: another one may be open by then.
        let next = match transition {
            Some(_) => Continuation::ChooseTransition,
            None => Continuation::MoveToPhase {
                transition,
                to: phase.clone(),
                reason: because.to_owned(),
            },
        };
        self.block_run(BlockReason::MissingTicket { phase, ticket }, next, wait);
        false
    }

    /// Checks that a run can start in a phase with the tickets of its start input. Only a fork
    /// starts with tickets.
    pub(super) fn check_start_tickets(
        &self,
        start: &RunStart,
        first: &WorkflowPhase,
    ) -> Result<(), InputRejection> {
        if start.fork.is_none() && !start.tickets.is_empty() {
            return Err(cannot_start("only a fork can start with tickets", Vec::new()));
        }
        let held: BTreeSet<String> = start.tickets.iter().cloned().collect();
        match self.workflow.find_missing_ticket(first, &held) {
            None => Ok(()),
            Some(ticket) => {
                let reason = format!(
                    "phase `{}` needs the ticket `{ticket}`, which the run does not hold",
                    first.id
                );
                Err(cannot_start(reason, Vec::new()))
            }
        }
    }
}
