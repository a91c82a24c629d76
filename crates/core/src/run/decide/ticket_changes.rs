//! Tickets: given for accepted work and for ways taken, taken back when that work begins anew, and asked for
//! before a phase is entered, however the run comes to it.

use std::collections::BTreeSet;

use super::run_decision::RunDecision;
use super::start_input::cannot_start;
use crate::protocol::WorkflowPhase;
use crate::run::InputRejection;
use crate::run::event::RunEvent;
use crate::run::input::RunStart;
use crate::run::state::{BlockReason, Continuation};

impl RunDecision<'_> {
    /// The work of the phase was accepted: it gives what it gives, and the run goes on.
    pub(super) fn accept_work(&mut self) -> Option<Continuation> {
        self.issue_phase_tickets();
        Some(Continuation::Leave)
    }

    /// Gives the tickets of a phase whose work was accepted.
    pub(super) fn issue_phase_tickets(&mut self) {
        self.issue_tickets(&self.current_phase().gives);
    }

    /// Gives tickets; those that are held are not given twice.
    pub(super) fn issue_tickets(&mut self, tickets: &[String]) {
        let tickets = tickets.iter().filter(|ticket| !self.state.tickets.contains(*ticket));
        let tickets: Vec<String> = tickets.cloned().collect();
        if !tickets.is_empty() {
            self.emit(RunEvent::TicketsGiven { tickets });
        }
    }

    /// Takes back what the work of the phase that was entered gave before, and what rests on it.
    pub(super) fn revoke_tickets(&mut self) {
        let taken = self.workflow.tickets_revoked_by(self.current_phase());
        let held = taken.into_iter().filter(|ticket| self.state.tickets.contains(*ticket));
        let tickets: Vec<String> = held.map(str::to_owned).collect();
        if !tickets.is_empty() {
            self.emit(RunEvent::TicketsTakenBack { tickets });
        }
    }

    /// Whether a phase may be entered, by a way or without one. Where it may not, the run is blocked.
    pub(super) fn check_tickets(&mut self, way: Option<usize>, to: &str, because: &str) -> bool {
        let Some(phase) = self.workflow.find_phase(to) else { return true };
        let mut held = self.state.tickets.clone();
        let gives = way.iter().flat_map(|index| &self.workflow.transitions[*index].gives);
        held.extend(gives.cloned());
        let Some(ticket) = self.workflow.find_missing_ticket(phase, &held) else { return true };
        let (phase, ticket) = (to.to_owned(), ticket.to_owned());
        let what =
            format!("Phase `{phase}` needs the ticket `{ticket}`, which the run does not hold");
        self.drop_waits();
        self.cancel_children("the run that started this one does not wait for it any more");
        let wait = self.new_incident_wait(&what);
        // By a way, the gates are asked again, as another may be open by then.
        let next = match way {
            Some(_) => Continuation::Leave,
            None => Continuation::Go { way, to: phase.clone(), because: because.to_owned() },
        };
        self.block_run(BlockReason::NoTicket { phase, ticket }, next, wait);
        false
    }

    /// Whether a run may begin in a phase with the tickets it is given.
    pub(super) fn check_start_tickets(
        &self,
        start: &RunStart,
        first: &WorkflowPhase,
    ) -> Result<(), InputRejection> {
        if start.fork.is_none() && !start.tickets.is_empty() {
            return Err(cannot_start("only a fork begins with tickets", Vec::new()));
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
