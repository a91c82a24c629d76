//! Ageing: what happened some time ago is told shorter, and what belongs together is told as one.
//!
//! No model is asked. A week of episodes is aged once all of it is old enough, then a month, so that the outcome
//! does not depend on how often anybody ages. Nothing is lost: what was told before stays as an earlier revision
//! or as an episode of its own, and everything cites the events it rests on.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::CompressionLevel;
use countersign_core::json::digest;
use countersign_core::run::Time;
use serde_json::json;

use super::condense::{condensed, gathered};
use crate::policy::Ageing;
use crate::record::Episode;

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

/// What ageing does to one episode, or to several that become one.
#[derive(Debug, Clone, PartialEq)]
pub struct Aged {
    /// What carries it now.
    pub id: String,
    /// How much it is condensed.
    pub level: CompressionLevel,
    /// The episodes that became one; none where it was condensed under its own id.
    pub from: Vec<String>,
    /// How many characters were told before.
    pub before: u64,
    /// What is told now.
    pub summary: String,
}

/// What ageing does: the revisions that are to be written, in this order, and what they amount to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ages {
    /// Revisions to write.
    pub writes: Vec<Episode>,
    /// What became of what.
    pub aged: Vec<Aged>,
}

/// Ages the episodes of one subject. Those that have become another are left alone.
#[must_use]
pub fn age(episodes: &[Episode], ageing: Ageing, now: Time) -> Ages {
    let mut live: BTreeMap<String, Episode> = BTreeMap::new();
    for episode in episodes.iter().filter(|episode| episode.into.is_none()) {
        live.insert(episode.id.clone(), episode.clone());
    }
    let mut ages = Ages::default();
    let levels = [
        (CompressionLevel::PhaseSummary, ageing.raw),
        (CompressionLevel::Milestone, ageing.phase_summary),
    ];
    for (level, days) in levels {
        let due = live.values().filter(|it| rank(it.compression) < rank(level));
        let due = due.filter(|it| {
            let over = period(level, it.end).1;
            now.0.saturating_sub(over.0) > i64::from(days) * DAY
        });
        let due: Vec<Episode> = due.cloned().collect();
        for group in groups(level, due) {
            apply(level, &group, now, &mut live, &mut ages);
        }
    }
    ages
}

/// The level that an episode has at a moment, whether anybody aged it or not.
#[must_use]
pub fn due_level(episode: &Episode, ageing: Ageing, now: Time) -> CompressionLevel {
    let age = now.0.saturating_sub(episode.end.0);
    let beyond = |days: u32| age > i64::from(days) * DAY;
    let due = if beyond(ageing.phase_summary) {
        CompressionLevel::Milestone
    } else if beyond(ageing.raw) {
        CompressionLevel::PhaseSummary
    } else {
        CompressionLevel::Raw
    };
    if rank(due) > rank(episode.compression) { due } else { episode.compression }
}

fn apply(
    level: CompressionLevel,
    group: &[Episode],
    now: Time,
    live: &mut BTreeMap<String, Episode>,
    ages: &mut Ages,
) {
    let before = group.iter().map(told).sum();
    let (mut episode, from) = match group {
        [alone] => (condensed(alone, level), Vec::new()),
        several => {
            let from: Vec<String> = several.iter().map(|it| it.id.clone()).collect();
            (gathered(several, level, id(level, &from)), from)
        }
    };
    if let [alone] = group {
        episode.revision = alone.revision + 1;
    }
    episode.recorded_at = now;
    for member in group.iter().filter(|_| !from.is_empty()) {
        let mut member = member.clone();
        member.revision += 1;
        member.recorded_at = now;
        member.into = Some(episode.id.clone());
        live.remove(&member.id);
        ages.writes.push(member);
    }
    let (id, summary) = (episode.id.clone(), episode.summary.clone());
    ages.aged.push(Aged { id, level, from, before, summary });
    live.insert(episode.id.clone(), episode.clone());
    ages.writes.push(episode);
}

/// Episodes of one period that are about the same: each shares a tag or an entity with another of its group.
fn groups(level: CompressionLevel, mut due: Vec<Episode>) -> Vec<Vec<Episode>> {
    due.sort_by(|one, other| {
        (one.start, one.end, &one.id).cmp(&(other.start, other.end, &other.id))
    });
    let mut groups: Vec<(Time, BTreeSet<String>, Vec<Episode>)> = Vec::new();
    for episode in due {
        let (begins, _) = period(level, episode.end);
        let mut names = names(&episode);
        let mut members = vec![episode];
        // Groups that it connects become one, in the place of the first.
        let mut place = groups.len();
        let mut index = 0;
        while index < groups.len() {
            if groups[index].0 == begins && !groups[index].1.is_disjoint(&names) {
                let (_, others, mut earlier) = groups.remove(index);
                names.extend(others);
                earlier.append(&mut members);
                members = earlier;
                place = place.min(index);
            } else {
                index += 1;
            }
        }
        groups.insert(place.min(groups.len()), (begins, names, members));
    }
    let mut groups: Vec<Vec<Episode>> = groups.into_iter().map(|(.., members)| members).collect();
    for group in &mut groups {
        group.sort_by(|one, other| {
            (one.start, one.end, &one.id).cmp(&(other.start, other.end, &other.id))
        });
    }
    groups
}

/// By what episodes belong together, kind by kind.
fn names(episode: &Episode) -> BTreeSet<String> {
    let named = |kind: char, name: &String| format!("{kind}{}", name.trim().to_lowercase());
    let tags = episode.tags.iter().map(|name| named('t', name));
    tags.chain(episode.entities.iter().map(|name| named('e', name))).collect()
}

/// When the period that a moment lies in begins, and when the next one does: a week from Monday, or a month of 28
/// days, which four weeks are. By UTC.
fn period(level: CompressionLevel, at: Time) -> (Time, Time) {
    let days = match level {
        CompressionLevel::Raw | CompressionLevel::PhaseSummary => 7,
        CompressionLevel::Milestone => 28,
    };
    // The first of January 1970 was a Thursday.
    let monday = -3 * DAY;
    let length = days * DAY;
    let begins = at.0.saturating_sub(monday).div_euclid(length) * length + monday;
    (Time(begins), Time(begins.saturating_add(length)))
}

fn rank(level: CompressionLevel) -> u8 {
    match level {
        CompressionLevel::Raw => 0,
        CompressionLevel::PhaseSummary => 1,
        CompressionLevel::Milestone => 2,
    }
}

/// How many characters an episode tells.
fn told(episode: &Episode) -> u64 {
    let count = |text: &String| text.chars().count() as u64;
    count(&episode.summary) + episode.highlights.iter().map(count).sum::<u64>()
}

/// The same episodes become the same one.
fn id(level: CompressionLevel, from: &[String]) -> String {
    const SHOWN: usize = 10;
    let name = if level == CompressionLevel::Milestone { "milestone" } else { "phase" };
    let digest = digest(&json!([name, from]));
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{name}-{}", &hex[..SHOWN.min(hex.len())])
}
