//! Condenses episodes to whole sentences of their own. No word is added.

use countersign_shipped_contracts::memory::long_term::CompressionLevel;

use crate::compose::shorten_chars;
use crate::record::MemoryEpisode;

/// The maximum length of a phase summary and of a milestone, in characters.
const PHASE: usize = 320;
const MILESTONE: usize = 120;

/// The maximum length of one episode within a merged one, in characters.
const MEMBER: usize = 120;

/// The maximum number of highlights of a phase summary; a milestone has one.
const POINTS: usize = 3;

/// Condenses an episode to a compression level. The id stays the same.
#[must_use]
pub fn condense_episode(episode: &MemoryEpisode, level: CompressionLevel) -> MemoryEpisode {
    let mut short = episode.clone();
    short.compression = level;
    match level {
        CompressionLevel::Raw => {}
        CompressionLevel::PhaseSummary => {
            short.summary = shorten_text(&episode.summary, PHASE);
            short.highlights = shorten_highlights(&episode.highlights, POINTS);
        }
        CompressionLevel::Milestone => {
            short.summary = shorten_text(&episode.summary, MILESTONE);
            short.highlights = shorten_highlights(&episode.highlights, 1);
        }
    }
    short
}

/// Merges several episodes into one with a new id, oldest first, with one sentence each as far as
/// the length allows.
pub(super) fn merge_episodes(
    several: &[MemoryEpisode],
    level: CompressionLevel,
    id: String,
) -> MemoryEpisode {
    let (most, most_points) = match level {
        CompressionLevel::Milestone => (2 * MILESTONE, 1),
        CompressionLevel::Raw | CompressionLevel::PhaseSummary => (PHASE, POINTS),
    };
    let union = |names: fn(&MemoryEpisode) -> &Vec<String>| {
        let mut all: Vec<String> = Vec::new();
        for name in several.iter().flat_map(names) {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all
    };
    let mut summary = String::new();
    for (place, episode) in several.iter().enumerate() {
        let left = several.len() - place;
        let sentence = extract_gist(episode);
        let more = if summary.is_empty() { "" } else { " " };
        // Stop while there is still room for the "… and N more" marker.
        if summary.chars().count() + sentence.chars().count() + 12 > most {
            summary.push_str(&format!("{more}… and {left} more"));
            break;
        }
        summary.push_str(more);
        summary.push_str(&sentence);
    }
    let firsts: Vec<String> =
        several.iter().filter_map(|it| it.highlights.first()).cloned().collect();
    MemoryEpisode {
        id,
        revision: 1,
        start: several.iter().map(|it| it.start).min().unwrap_or_default(),
        end: several.iter().map(|it| it.end).max().unwrap_or_default(),
        recorded_at: several.iter().map(|it| it.recorded_at).max().unwrap_or_default(),
        summary,
        highlights: shorten_highlights(&firsts, most_points),
        tags: union(|it| &it.tags),
        entities: union(|it| &it.entities),
        sources: union(|it| &it.sources),
        compression: level,
        merged_from: several.iter().map(|it| it.id.clone()).collect(),
        merged_into: None,
    }
}

/// Returns the beginning of the summary, which represents the episode in a merged one.
fn extract_gist(episode: &MemoryEpisode) -> String {
    shorten_text(&episode.summary, MEMBER)
}

fn shorten_highlights(all: &[String], most: usize) -> Vec<String> {
    all.iter().take(most).map(|point| shorten_text(point, MEMBER)).collect()
}

/// Shortens a text to a number of characters, cutting after a sentence or a word. A single longer
/// word stays whole.
fn shorten_text(text: &str, most: usize) -> String {
    shorten_chars(text, most).unwrap_or_else(|| text.to_owned())
}
