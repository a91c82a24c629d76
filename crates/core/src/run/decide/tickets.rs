//! Tickets: given for accepted work and for ways taken, taken back when that work begins anew, and asked for
//! before a phase is entered, however the run comes to it.

use std::collections::BTreeSet;

use super::deciding::Deciding;
use super::given::cannot;
use crate::protocol::Phase;
use crate::run::Rejection;
use crate::run::event::Event;
use crate::run::input::Start;
use crate::run::state::{Blocked, Next};

impl Deciding<'_> {
    /// The work of the phase was accepted: it gives what it gives, and the run goes on.
    pub(super) fn done(&mut self) {
        self.give_for_work();
        self.worked();
    }

    /// Gives the tickets of a phase whose work was accepted.
    pub(super) fn give_for_work(&mut self) {
        self.give(&self.phase().gives);
    }

    /// Gives tickets; those that are held are not given twice.
    pub(super) fn give(&mut self, tickets: &[String]) {
        let tickets = tickets.iter().filter(|ticket| !self.state.tickets.contains(*ticket));
        let tickets: Vec<String> = tickets.cloned().collect();
        if !tickets.is_empty() {
            self.emit(Event::TicketsGiven { tickets });
        }
    }

    /// Takes back what the work of the phase that was entered gave before, and what rests on it.
    pub(super) fn take_back(&mut self) {
        let taken = self.workflow.taken_back_by(self.phase());
        let held = taken.into_iter().filter(|ticket| self.state.tickets.contains(*ticket));
        let tickets: Vec<String> = held.map(str::to_owned).collect();
        if !tickets.is_empty() {
            self.emit(Event::TicketsTakenBack { tickets });
        }
    }

    /// Whether a phase may be entered, by a way or without one. Where it may not, the run is blocked.
    pub(super) fn admitted(&mut self, way: Option<usize>, to: &str, because: &str) -> bool {
        let Some(phase) = self.workflow.phase(to) else { return true };
        let mut held = self.state.tickets.clone();
        let gives = way.iter().flat_map(|index| &self.workflow.transitions[*index].gives);
        held.extend(gives.cloned());
        let Some(ticket) = self.workflow.lacks(phase, &held) else { return true };
        let (phase, ticket) = (to.to_owned(), ticket.to_owned());
        let what =
            format!("Phase `{phase}` needs the ticket `{ticket}`, which the run does not hold");
        self.drop_waits();
        self.drop_children("the run that started this one does not wait for it any more");
        let wait = self.trouble(&what);
        // By a way, the gates are asked again, as another may be open by then.
        let next = match way {
            Some(_) => Next::Leave,
            None => Next::Go { way, to: phase.clone(), because: because.to_owned() },
        };
        self.block(Blocked::NoTicket { phase, ticket }, next, wait);
        false
    }

    /// Whether a run may begin in a phase with the tickets it is given.
    pub(super) fn admits_start(&self, start: &Start, first: &Phase) -> Result<(), Rejection> {
        if start.fork.is_none() && !start.tickets.is_empty() {
            return Err(cannot("only a fork begins with tickets", Vec::new()));
        }
        let held: BTreeSet<String> = start.tickets.iter().cloned().collect();
        match self.workflow.lacks(first, &held) {
            None => Ok(()),
            Some(ticket) => {
                let reason = format!(
                    "phase `{}` needs the ticket `{ticket}`, which the run does not hold",
                    first.id
                );
                Err(cannot(reason, Vec::new()))
            }
        }
    }
}
