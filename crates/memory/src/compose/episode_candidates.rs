//! Selects episodes: those of the requested time range at any age; otherwise recent ones without a
//! cue, older ones by cue, the oldest not at all.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::long_term::{
    CompressionLevel, EpisodeTimeRange, PacketEpisode,
};

use super::context::ComposeContext;
use super::cues::{CueMatch, CueTarget};
use super::fill::{DetailTier, FilledSection, PacketItem};
use super::normalize::normalize_text;
use super::selection_log::{DegradationStep, OmissionReason, RankedItem, SelectionLog};
use super::timestamp;
use crate::ScoredRow;
use crate::policy::InjectionStrength;
use crate::record::MemoryEpisode;
use crate::render::{self, PacketHeading, REFERENCE_ELLIPSIS};
use crate::rules::{compute_due_level, condense_episode};

/// The length of a day, in milliseconds.
pub(super) const DAY: i64 = 86_400_000;

/// The maximum number of highlights of a shortened episode.
const HIGHLIGHTS: usize = 3;

/// An episode that may go into the packet.
#[derive(Debug)]
pub(super) struct EpisodeCandidate<'a> {
    /// The episode, condensed as its age requires.
    row: Cow<'a, MemoryEpisode>,
    relevance: i64,
    rule: String,
}

impl RankedItem for EpisodeCandidate<'_> {
    const KIND: &'static str = "episode";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// Selects the episodes that may go into the packet, ranked.
pub(super) fn select_episodes<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> Vec<EpisodeCandidate<'a>> {
    let mut rows: Vec<&ScoredRow<MemoryEpisode>> = ctx.candidates.episodes.iter().collect();
    rows.sort_by(|one, other| {
        (&one.row.id, Reverse(one.row.revision)).cmp(&(&other.row.id, Reverse(other.row.revision)))
    });
    let mut ids = BTreeSet::new();
    let mut list = Vec::new();
    for ScoredRow { row, score } in rows {
        if !ids.insert(row.id.as_str()) {
            ledger.omit("episode", &row.id, OmissionReason::SameId);
            continue;
        }
        let text = join_text(row);
        let time = Some((row.start, row.end));
        let target = CueTarget { text: &text, tags: &row.tags, entities: &row.entities, time };
        let activated = ctx.cues.match_target(target, &ctx.policy.activation);
        match check_visibility(ctx, row, &text, &activated) {
            Err(reason) => ledger.omit("episode", &row.id, reason),
            Ok(age) => {
                let mut rule = age.to_owned();
                activated.rules.iter().for_each(|it| rule.push_str(&format!(",{it}")));
                let relevance = score.total.saturating_add(activated.points);
                let row = condense_for_age(ctx, row, &mut rule);
                list.push(EpisodeCandidate { row, relevance, rule });
            }
        }
    }
    list.sort_by_cached_key(|it| {
        let row = &it.row;
        (Reverse(it.relevance), Reverse(row.end), Reverse(row.recorded_at), row.id.clone())
    });
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    list.retain(|candidate| {
        let row = &candidate.row;
        let first = texts.entry(normalize_text(&row.summary)).or_insert_with(|| row.id.clone());
        if *first != row.id {
            let extra = JsonObject::from_iter([("duplicate_of".to_owned(), first.as_str().into())]);
            ledger.omit_with_details("episode", &row.id, OmissionReason::Duplicate, extra);
        }
        *first == row.id
    });
    ledger.truncate_to_cap(
        &mut list,
        ctx.limit_candidates(ctx.policy.caps.episodes),
        OmissionReason::Cap,
    );
    list
}

/// Builds the packet item of an episode: in full, as highlights, or as a reference.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &EpisodeCandidate<'_>,
    tier: DetailTier,
) -> PacketItem<PacketEpisode> {
    let row = &*candidate.row;
    let whole = ctx.fit_to_longest(&row.summary);
    let few = || {
        row.highlights.iter().take(HIGHLIGHTS).map(|point| ctx.shorten_item(point).text).collect()
    };
    let (mut raw, mut cut) =
        (build_packet_episode(ctx, row, whole.text, row.highlights.clone()), whole.is_truncated);
    let mut raw_line = render::render_episode(&raw, &ctx.markers);
    let longest = ctx.policy.longest_item;
    if raw.highlights.is_some()
        && raw_line.len() as u64 > longest
        && ctx.counter.count(&raw_line) > longest
    {
        raw.highlights = Some(few());
        (raw_line, cut) = (render::render_episode(&raw, &ctx.markers), true);
    }
    let (less, name) = match tier {
        DetailTier::Raw => (None, "raw"),
        DetailTier::Short if row.highlights.is_empty() => {
            (Some((ctx.shorten_item(&row.summary).text, vec![])), "short")
        }
        DetailTier::Short => (Some((REFERENCE_ELLIPSIS.to_owned(), few())), "highlights"),
        DetailTier::Ref => (Some((REFERENCE_ELLIPSIS.to_owned(), vec![])), "ref"),
    };
    let shared = vec![PacketHeading::Episodes.line().to_owned()];
    if let Some((summary, points)) = less {
        let item = build_packet_episode(ctx, row, summary, points);
        let line = render::render_episode(&item, &ctx.markers);
        if line.len() < raw_line.len() {
            return PacketItem { item, shared, line, name, is_truncated: cut };
        }
    }
    PacketItem { item: raw, shared, line: raw_line, name: "raw", is_truncated: cut }
}

/// Classifies the omission of episodes: a tighter window if every omitted episode is older than
/// every selected one.
pub(super) fn classify_reduction(
    list: &[EpisodeCandidate<'_>],
    filled: &FilledSection<PacketEpisode>,
) -> DegradationStep {
    let (kept, left) = list.split_at(filled.items.len());
    let oldest_kept = kept.iter().map(|it| it.row.end).min();
    let newest_left = left.iter().map(|it| it.row.end).max();
    if newest_left < oldest_kept {
        DegradationStep::TighterWindow
    } else {
        DegradationStep::FewerItems
    }
}

fn build_packet_episode(
    ctx: &ComposeContext<'_>,
    row: &MemoryEpisode,
    summary: String,
    points: Vec<String>,
) -> PacketEpisode {
    let told = |time: Timestamp| time.to_string();
    PacketEpisode {
        episode_id: row.id.clone(),
        time_range: EpisodeTimeRange { start: told(row.start), end: Some(told(row.end)) },
        summary,
        highlights: (!points.is_empty()).then_some(points),
        tags: (!row.tags.is_empty()).then(|| row.tags.clone()),
        entities: (!row.entities.is_empty()).then(|| row.entities.clone()),
        sources: ctx.evidence_index.filter_citable(row.sources.iter()),
        compression_level: Some(row.compression),
        recency_score: Some(compute_recency(ctx.now(), row.end)),
    }
}

/// Computes 1 / (1 + days since the end), to six digits.
fn compute_recency(now: Timestamp, end: Timestamp) -> f64 {
    let days = now.millis_since(end) / DAY as u64;
    (1_000_000 / days.saturating_add(1)) as f64 / 1_000_000.0
}

/// Returns the rule that makes an episode visible, or the reason why it is not.
fn check_visibility(
    ctx: &ComposeContext<'_>,
    row: &MemoryEpisode,
    text: &str,
    activated: &CueMatch,
) -> Result<&'static str, OmissionReason> {
    let (ageing, now) = (ctx.policy.ageing, ctx.now());
    let age = now.0.saturating_sub(row.end.0).max(0);
    let within = |days: u32| age <= i64::from(days) * DAY;
    if ctx.row.episodes == InjectionStrength::None {
        Err(OmissionReason::Purpose)
    } else if row.end < row.start
        || [row.start, row.end].into_iter().any(|time| timestamp::format_timestamp(time).is_none())
    {
        Err(OmissionReason::Invalid)
    } else if row.start > now {
        Err(OmissionReason::Window)
    } else if is_withheld(ctx, row, text) {
        Err(OmissionReason::Quarantined)
    } else if activated.in_time_range {
        Ok("in_time_range")
    } else if !within(ageing.milestone) {
        Err(OmissionReason::Aged)
    } else if !within(ctx.policy.episode_window) && !activated.is_strong() {
        Err(OmissionReason::Window)
    } else if within(ageing.raw) {
        Ok("recent")
    } else if within(ageing.phase_summary) {
        if activated.has_match() { Ok("cued") } else { Err(OmissionReason::NoCue) }
    } else if activated.is_strong() {
        Ok("strongly_cued")
    } else {
        Err(OmissionReason::WeakCue)
    }
}

/// Condenses an episode to the level of its age, whether or not the store has aged it, and adds the
/// level to the rule.
fn condense_for_age<'a>(
    ctx: &ComposeContext<'_>,
    row: &'a MemoryEpisode,
    rule: &mut String,
) -> Cow<'a, MemoryEpisode> {
    let level = compute_due_level(row, ctx.policy.ageing, ctx.now());
    match level {
        CompressionLevel::Raw => {}
        CompressionLevel::PhaseSummary => rule.push_str(",phase_summary"),
        CompressionLevel::Milestone => rule.push_str(",milestone"),
    }
    if !row.merged_from.is_empty() {
        rule.push_str(&format!(",of:{}", row.merged_from.len()));
    }
    if level == row.compression {
        Cow::Borrowed(row)
    } else {
        Cow::Owned(condense_episode(row, level))
    }
}

/// Tags and entities are checked too: they appear in the packet, though not in the prompt.
fn is_withheld(ctx: &ComposeContext<'_>, row: &MemoryEpisode, text: &str) -> bool {
    let mut texts = vec![text];
    texts.extend(row.tags.iter().chain(&row.entities).map(String::as_str));
    ctx.guard.has_tainted_source(row.sources.iter())
        || ctx.guard.must_withhold_text(&texts.join("\n"), &row.sources.iter(), &ctx.evidence_index)
}

fn join_text(row: &MemoryEpisode) -> String {
    let mut text = row.summary.clone();
    for highlight in &row.highlights {
        text.push('\n');
        text.push_str(highlight);
    }
    text
}
