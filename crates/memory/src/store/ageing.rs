//! Ageing the episodes of a subject.

use countersign_core::run::Time;

use super::revised::Revised as _;
use super::shelves::{Answer, Shelves};
use super::write::refuse_forgotten;
use crate::Subject;
use crate::policy::Ageing;
use crate::record::Episode;
use crate::rules::{self, Aged, Ages};

/// What ageing would do.
pub(super) fn ages(
    shelves: &impl Shelves,
    subject: &Subject,
    ageing: Ageing,
    now: Time,
) -> Answer<Ages> {
    let rows = shelves.rows::<Episode>(subject, usize::MAX)?;
    let episodes: Vec<Episode> = rows.into_iter().map(|(_, episode)| episode).collect();
    Ok(rules::age(&episodes, ageing, now))
}

/// Does it, all at once.
pub(super) fn age(
    shelves: &mut impl Shelves,
    subject: &Subject,
    ageing: Ageing,
    now: Time,
) -> Answer<Vec<Aged>> {
    let Ages { writes, aged } = ages(shelves, subject, ageing, now)?;
    for episode in &writes {
        refuse_forgotten(shelves, subject, Episode::KIND, &episode.id)?;
    }
    for episode in &writes {
        shelves.put_row(subject, &episode.id, episode)?;
    }
    Ok(aged)
}
