//! Tickets: what a phase must have been given before it is entered.
//!
//! Work that begins anew takes back what it gave, and all that was given on the strength of it.

use std::collections::BTreeSet;

use super::{Phase, Workflow};

impl Workflow {
    /// The tickets that entering a phase takes back: its own, and those given by phases that need one of
    /// them, and by the ways out of those, and so on.
    #[must_use]
    pub fn taken_back_by<'w>(&'w self, phase: &'w Phase) -> BTreeSet<&'w str> {
        let mut taken: BTreeSet<&str> = phase.gives.iter().map(String::as_str).collect();
        if taken.is_empty() {
            return taken;
        }
        loop {
            let before = taken.len();
            for other in &self.phases {
                if other.needs.iter().any(|need| taken.contains(need.as_str())) {
                    taken.extend(other.gives.iter().map(String::as_str));
                    let ways = self.transitions.iter().filter(|way| way.from == other.id);
                    taken.extend(ways.flat_map(|way| &way.gives).map(String::as_str));
                }
            }
            if taken.len() == before {
                return taken;
            }
        }
    }

    /// The first ticket that a phase needs and that would not be held once it is entered.
    #[must_use]
    pub fn lacks<'w>(&'w self, phase: &'w Phase, held: &BTreeSet<String>) -> Option<&'w str> {
        let taken = self.taken_back_by(phase);
        let lacks = |need: &&String| !held.contains(*need) || taken.contains(need.as_str());
        phase.needs.iter().find(lacks).map(String::as_str)
    }
}
