//! Taking out what is over.

use std::collections::BTreeSet;

use countersign_contracts::memory::insight::ValidationState;
use countersign_core::run::Time;

use super::shelves::{Answer, Shelves};
use crate::Scope;
use crate::record::{Event, Expiry, Insight};

/// How far sweeping goes. What had its date is taken out always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sweep {
    /// The run of the scope is over, and what ends with it goes too.
    pub run_ended: bool,
    /// What a build used goes too, and that build cannot be composed again; and guesses that were not validated, whose
    /// words are kept from nobody then.
    pub used: bool,
}

/// What was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Events.
    pub events: u64,
    /// Guesses.
    pub insights: u64,
    /// What is over and stays: what a build used, and guesses that were not validated.
    pub spared: u64,
}

/// What sweeping takes out, and how much it spares.
#[derive(Debug, Default)]
struct Over {
    events: Vec<Event>,
    insights: Vec<String>,
    spared: u64,
}

impl Over {
    fn swept(&self) -> Swept {
        let (events, insights) = (self.events.len() as u64, self.insights.len() as u64);
        Swept { events, insights, spared: self.spared }
    }
}

/// What sweeping would take out.
pub(super) fn would_sweep(
    shelves: &impl Shelves,
    scope: &Scope,
    sweep: Sweep,
    now: Time,
) -> Answer<Swept> {
    Ok(over(shelves, scope, sweep, now)?.swept())
}

/// Takes out what is over, with its part of the index.
pub(super) fn sweep(
    shelves: &mut impl Shelves,
    scope: &Scope,
    sweep: Sweep,
    now: Time,
) -> Answer<Swept> {
    let over = over(shelves, scope, sweep, now)?;
    let subject = scope.subject();
    if !over.events.is_empty() {
        shelves.remove_events(&subject, &over.events)?;
    }
    for id in &over.insights {
        shelves.remove_row::<Insight>(&subject, id)?;
    }
    Ok(over.swept())
}

fn over(shelves: &impl Shelves, scope: &Scope, sweep: Sweep, now: Time) -> Answer<Over> {
    scope.check()?;
    let subject = scope.subject();
    let ended = |expires: Expiry, run: &str| match expires {
        Expiry::At(end) => end < now,
        Expiry::RunEnd => sweep.run_ended && run == scope.run(),
    };
    let mut over = Over { events: shelves.expiring(&subject)?, ..Over::default() };
    over.events.retain(|event| event.expires.is_some_and(|end| ended(end, event.scope.run())));
    for (id, insight) in shelves.rows::<Insight>(&subject, usize::MAX)? {
        if !ended(insight.expires, &insight.run) {
            continue;
        }
        // It is shown to nobody any more; but others may have said it, and those words must not reach a responder.
        if sweep.used || insight.validation == ValidationState::Validated {
            over.insights.push(id);
        } else {
            over.spared += 1;
        }
    }
    if sweep.used {
        return Ok(over);
    }
    let ids = over.events.iter().map(|event| &event.id).chain(&over.insights);
    let ids: BTreeSet<&str> = ids.map(String::as_str).collect();
    if ids.is_empty() {
        return Ok(over);
    }
    let used = shelves.used(&subject, &ids.into_iter().collect::<Vec<_>>())?;
    let all = over.events.len() + over.insights.len();
    over.events.retain(|event| !used.contains(&event.id));
    over.insights.retain(|id| !used.contains(id));
    over.spared += (all - over.events.len() - over.insights.len()) as u64;
    Ok(over)
}
