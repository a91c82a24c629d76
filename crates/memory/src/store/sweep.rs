//! Taking out what is over.

use countersign_core::run::Time;

use super::shelves::{Answer, Shelves};
use crate::record::{Event, Expiry, Insight};
use crate::{Scope, Subject};

/// What was taken out. Builds that used it cannot be composed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Events.
    pub events: u64,
    /// Guesses.
    pub insights: u64,
}

impl Swept {
    /// Counts what was taken out elsewhere too.
    pub(super) fn add(&mut self, other: Self) {
        self.events += other.events;
        self.insights += other.insights;
    }
}

/// Takes out whatever had its end before now. What ends with its run stays until that is told.
pub(super) fn expire(shelves: &mut impl Shelves, now: Time) -> Answer<Swept> {
    let mut swept = Swept::default();
    for subject in shelves.subjects()? {
        swept.add(expire_of(shelves, &subject, now)?);
    }
    Ok(swept)
}

/// The same of one subject.
pub(super) fn expire_of(shelves: &mut impl Shelves, subject: &Subject, now: Time) -> Answer<Swept> {
    let over = |expires| matches!(expires, Expiry::At(end) if end < now);
    let mut swept = Swept::default();
    sweep(shelves, subject, |expires, _| over(expires), &mut swept)?;
    Ok(swept)
}

/// Takes out what ends with this run.
pub(super) fn end_run(shelves: &mut impl Shelves, scope: &Scope) -> Answer<Swept> {
    scope.check()?;
    let mut swept = Swept::default();
    let over = |expires, run: &str| expires == Expiry::RunEnd && run == scope.run();
    sweep(shelves, &scope.subject(), over, &mut swept)?;
    Ok(swept)
}

fn sweep(
    shelves: &mut impl Shelves,
    subject: &Subject,
    over: impl Fn(Expiry, &str) -> bool,
    swept: &mut Swept,
) -> Answer<()> {
    let ended = |event: &Event| event.expires.is_some_and(|end| over(end, event.scope.run()));
    let mut events = shelves.expiring(subject)?;
    events.retain(ended);
    if !events.is_empty() {
        shelves.remove_events(subject, &events)?;
    }
    swept.events += events.len() as u64;
    for (id, insight) in shelves.rows::<Insight>(subject, usize::MAX)? {
        if over(insight.expires, &insight.run) {
            shelves.remove_row::<Insight>(subject, &id)?;
            swept.insights += 1;
        }
    }
    Ok(())
}
