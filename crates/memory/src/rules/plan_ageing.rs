//! Ageing: condenses old episodes and merges related ones.
//!
//! Ageing does not call a model. A week of episodes is aged once the whole week is old enough, then
//! a month, so the result does not depend on how often ageing runs. Nothing is lost: the earlier
//! text stays as an earlier revision or as an episode of its own, and every episode cites the
//! events it is based on.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_contract::json::digest_json;
use countersign_shipped_contracts::memory::long_term::CompressionLevel;
use serde_json::json;

use super::condense::{condense_episode, merge_episodes};
use crate::policy::AgeingPolicy;
use crate::record::MemoryEpisode;

/// The length of a day, in milliseconds.
const DAY: i64 = 86_400_000;

/// The change that ageing makes to one episode, or to several that are merged.
#[derive(Debug, Clone, PartialEq)]
pub struct AgedEpisode {
    /// The id of the resulting episode.
    pub id: String,
    /// The compression level of the resulting episode.
    pub level: CompressionLevel,
    /// The ids of the merged episodes; empty if one episode was condensed under its own id.
    pub merged_from: Vec<String>,
    /// The number of characters before ageing.
    pub chars_before: u64,
    /// The summary after ageing.
    pub summary: String,
}

/// The revisions that ageing writes, and a description of the changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgeingPlan {
    /// The revisions to write, in this order.
    pub writes: Vec<MemoryEpisode>,
    /// One entry for each condensed or merged episode.
    pub changes: Vec<AgedEpisode>,
}

/// Plans the ageing of the episodes of one subject. Episodes that were already merged into another
/// are skipped.
#[must_use]
pub fn plan_ageing(episodes: &[MemoryEpisode], ageing: AgeingPolicy, now: Timestamp) -> AgeingPlan {
    let mut live: BTreeMap<String, MemoryEpisode> = BTreeMap::new();
    for episode in episodes.iter().filter(|episode| episode.merged_into.is_none()) {
        live.insert(episode.id.clone(), episode.clone());
    }
    let mut ages = AgeingPlan::default();
    let levels = [
        (CompressionLevel::PhaseSummary, ageing.raw),
        (CompressionLevel::Milestone, ageing.phase_summary),
    ];
    for (level, days) in levels {
        let due = live.values().filter(|it| rank_level(it.compression) < rank_level(level));
        let due = due.filter(|it| {
            let over = find_period(level, it.end).1;
            now.0.saturating_sub(over.0) > i64::from(days) * DAY
        });
        let due: Vec<MemoryEpisode> = due.cloned().collect();
        for group in group_related(level, due) {
            age_group(level, &group, now, &mut live, &mut ages);
        }
    }
    ages
}

/// Returns the compression level an episode should have at a timestamp, whether or not ageing has
/// run.
#[must_use]
pub fn compute_due_level(
    episode: &MemoryEpisode,
    ageing: AgeingPolicy,
    now: Timestamp,
) -> CompressionLevel {
    let age = now.0.saturating_sub(episode.end.0);
    let beyond = |days: u32| age > i64::from(days) * DAY;
    let due = if beyond(ageing.phase_summary) {
        CompressionLevel::Milestone
    } else if beyond(ageing.raw) {
        CompressionLevel::PhaseSummary
    } else {
        CompressionLevel::Raw
    };
    if rank_level(due) > rank_level(episode.compression) { due } else { episode.compression }
}

fn age_group(
    level: CompressionLevel,
    group: &[MemoryEpisode],
    now: Timestamp,
    live: &mut BTreeMap<String, MemoryEpisode>,
    ages: &mut AgeingPlan,
) {
    let before = group.iter().map(count_chars).sum();
    let (mut episode, from) = match group {
        [alone] => (condense_episode(alone, level), Vec::new()),
        several => {
            let from: Vec<String> = several.iter().map(|it| it.id.clone()).collect();
            (merge_episodes(several, level, derive_id(level, &from)), from)
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
        member.merged_into = Some(episode.id.clone());
        live.remove(&member.id);
        ages.writes.push(member);
    }
    let (id, summary) = (episode.id.clone(), episode.summary.clone());
    ages.changes.push(AgedEpisode { id, level, merged_from: from, chars_before: before, summary });
    live.insert(episode.id.clone(), episode.clone());
    ages.writes.push(episode);
}

/// Groups episodes of one period that share a subject: each shares a tag or an entity with another
/// episode of its group.
fn group_related(level: CompressionLevel, mut due: Vec<MemoryEpisode>) -> Vec<Vec<MemoryEpisode>> {
    due.sort_by(|one, other| {
        (one.start, one.end, &one.id).cmp(&(other.start, other.end, &other.id))
    });
    let mut groups: Vec<(Timestamp, BTreeSet<String>, Vec<MemoryEpisode>)> = Vec::new();
    for episode in due {
        let (begins, _) = find_period(level, episode.end);
        let mut names = collect_names(&episode);
        let mut members = vec![episode];
        // Groups that this episode connects are merged at the position of the first.
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
    let mut groups: Vec<Vec<MemoryEpisode>> =
        groups.into_iter().map(|(.., members)| members).collect();
    for group in &mut groups {
        group.sort_by(|one, other| {
            (one.start, one.end, &one.id).cmp(&(other.start, other.end, &other.id))
        });
    }
    groups
}

/// Collects the names that relate episodes, prefixed by kind: `t` for tags, `e` for entities.
fn collect_names(episode: &MemoryEpisode) -> BTreeSet<String> {
    let named = |kind: char, name: &String| format!("{kind}{}", name.trim().to_lowercase());
    let tags = episode.tags.iter().map(|name| named('t', name));
    tags.chain(episode.entities.iter().map(|name| named('e', name))).collect()
}

/// Returns the start of the period that contains a timestamp and the start of the next one, in UTC:
/// a week from Monday, or a month of 28 days, which is four weeks.
fn find_period(level: CompressionLevel, at: Timestamp) -> (Timestamp, Timestamp) {
    let days = match level {
        CompressionLevel::Raw | CompressionLevel::PhaseSummary => 7,
        CompressionLevel::Milestone => 28,
    };
    // 1 January 1970 was a Thursday.
    let monday = -3 * DAY;
    let length = days * DAY;
    let begins = at.0.saturating_sub(monday).div_euclid(length) * length + monday;
    (Timestamp(begins), Timestamp(begins.saturating_add(length)))
}

fn rank_level(level: CompressionLevel) -> u8 {
    match level {
        CompressionLevel::Raw => 0,
        CompressionLevel::PhaseSummary => 1,
        CompressionLevel::Milestone => 2,
    }
}

/// Counts the characters of the summary and the highlights.
fn count_chars(episode: &MemoryEpisode) -> u64 {
    let count = |text: &String| text.chars().count() as u64;
    count(&episode.summary) + episode.highlights.iter().map(count).sum::<u64>()
}

/// Derives the id of a merged episode. The same episodes always get the same id.
fn derive_id(level: CompressionLevel, from: &[String]) -> String {
    const SHOWN: usize = 10;
    let name = if level == CompressionLevel::Milestone { "milestone" } else { "phase" };
    let digest = digest_json(&json!([name, from]));
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{name}-{}", &hex[..SHOWN.min(hex.len())])
}
