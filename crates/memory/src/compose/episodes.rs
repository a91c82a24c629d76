//! Episodes: young ones of themselves, older ones by cues, the oldest not at all.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::Object;
use countersign_contracts::memory::long_term::{
    CompressionLevel, Episode as PacketEpisode, TimeRange,
};
use countersign_core::run::Time;

use super::context::Context;
use super::cues::{Activated, Target};
use super::fill::{Filled, Form, Tier};
use super::ledger::{Ledger, Ranked, Reason, Step};
use super::moment;
use super::normal::normal;
use crate::Scored;
use crate::policy::Strength;
use crate::record::Episode;
use crate::render::{self, Heading, REF};
use crate::rules::{condensed, due_level};

/// A day, in milliseconds.
pub(super) const DAY: i64 = 86_400_000;

/// The most highlights of a shortened episode.
const HIGHLIGHTS: usize = 3;

/// An episode that may go in.
#[derive(Debug)]
pub(super) struct EpisodeCandidate<'a> {
    /// As much of it as its age lets be told.
    row: Cow<'a, Episode>,
    relevance: i64,
    rule: String,
}

impl Ranked for EpisodeCandidate<'_> {
    const KIND: &'static str = "episode";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// The episodes that may go in, in order.
pub(super) fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Vec<EpisodeCandidate<'a>> {
    let mut rows: Vec<&Scored<Episode>> = ctx.found.episodes.iter().collect();
    rows.sort_by(|one, other| {
        (&one.row.id, Reverse(one.row.revision)).cmp(&(&other.row.id, Reverse(other.row.revision)))
    });
    let mut ids = BTreeSet::new();
    let mut list = Vec::new();
    for Scored { row, score } in rows {
        if !ids.insert(row.id.as_str()) {
            ledger.omit("episode", &row.id, Reason::SameId);
            continue;
        }
        let text = text(row);
        let time = Some((row.start, row.end));
        let target = Target { text: &text, tags: &row.tags, entities: &row.entities, time };
        let activated = ctx.cues.activate(target, &ctx.policy.activation);
        match filter(ctx, row, &text, &activated) {
            Err(reason) => ledger.omit("episode", &row.id, reason),
            Ok(age) => {
                let mut rule = age.to_owned();
                activated.rules.iter().for_each(|it| rule.push_str(&format!(",{it}")));
                let relevance = score.total.saturating_add(activated.points);
                let row = at_its_age(ctx, row, &mut rule);
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
        let first = texts.entry(normal(&row.summary)).or_insert_with(|| row.id.clone());
        if *first != row.id {
            let extra = Object::from_iter([("of".to_owned(), first.as_str().into())]);
            ledger.omit_for("episode", &row.id, Reason::Duplicate, extra);
        }
        *first == row.id
    });
    ledger.cap(&mut list, ctx.most(ctx.policy.caps.episodes), Reason::Cap);
    list
}

/// An episode in a form: whole, its highlights, or its reference.
pub(super) fn form(
    ctx: &Context<'_>,
    candidate: &EpisodeCandidate<'_>,
    tier: Tier,
) -> Form<PacketEpisode> {
    let row = &*candidate.row;
    let whole = ctx.whole(&row.summary);
    let few =
        || row.highlights.iter().take(HIGHLIGHTS).map(|point| ctx.short(point).text).collect();
    let (mut raw, mut cut) =
        (packet_episode(ctx, row, whole.text, row.highlights.clone()), whole.cut);
    let mut raw_line = render::episode(&raw, &ctx.marks);
    let longest = ctx.policy.longest_item;
    if raw.highlights.is_some()
        && raw_line.len() as u64 > longest
        && ctx.counter.count(&raw_line) > longest
    {
        raw.highlights = Some(few());
        (raw_line, cut) = (render::episode(&raw, &ctx.marks), true);
    }
    let (less, name) = match tier {
        Tier::Raw => (None, "raw"),
        Tier::Short if row.highlights.is_empty() => {
            (Some((ctx.short(&row.summary).text, vec![])), "short")
        }
        Tier::Short => (Some((REF.to_owned(), few())), "highlights"),
        Tier::Ref => (Some((REF.to_owned(), vec![])), "ref"),
    };
    let shared = vec![Heading::Episodes.line().to_owned()];
    if let Some((summary, points)) = less {
        let item = packet_episode(ctx, row, summary, points);
        let line = render::episode(&item, &ctx.marks);
        if line.len() < raw_line.len() {
            return Form { item, shared, line, name, cut };
        }
    }
    Form { item: raw, shared, line: raw_line, name: "raw", cut }
}

/// What leaving episodes out amounts to: a tighter window, where all that stay out are older than
/// all that are in.
pub(super) fn fewer(list: &[EpisodeCandidate<'_>], filled: &Filled<PacketEpisode>) -> Step {
    let (kept, left) = list.split_at(filled.items.len());
    let oldest_kept = kept.iter().map(|it| it.row.end).min();
    let newest_left = left.iter().map(|it| it.row.end).max();
    if newest_left < oldest_kept { Step::TighterWindow } else { Step::FewerItems }
}

fn packet_episode(
    ctx: &Context<'_>,
    row: &Episode,
    summary: String,
    points: Vec<String>,
) -> PacketEpisode {
    let told = |time: Time| time.to_string();
    PacketEpisode {
        episode_id: row.id.clone(),
        time_range: TimeRange { start: told(row.start), end: Some(told(row.end)) },
        summary,
        highlights: (!points.is_empty()).then_some(points),
        tags: (!row.tags.is_empty()).then(|| row.tags.clone()),
        entities: (!row.entities.is_empty()).then(|| row.entities.clone()),
        sources: ctx.evidences.resolving(row.sources.iter()),
        compression_level: Some(row.compression),
        recency_score: Some(recency(ctx.now(), row.end)),
    }
}

/// One over one and the days since, to the sixth digit.
fn recency(now: Time, end: Time) -> f64 {
    let days = now.since(end) / DAY as u64;
    (1_000_000 / days.saturating_add(1)) as f64 / 1_000_000.0
}

/// The rule by which it may be seen, or why not.
fn filter(
    ctx: &Context<'_>,
    row: &Episode,
    text: &str,
    activated: &Activated,
) -> Result<&'static str, Reason> {
    let (ageing, now) = (ctx.policy.ageing, ctx.now());
    let age = now.0.saturating_sub(row.end.0).max(0);
    let within = |days: u32| age <= i64::from(days) * DAY;
    if ctx.row.episodes == Strength::None {
        Err(Reason::Purpose)
    } else if row.end < row.start
        || [row.start, row.end].into_iter().any(|time| moment::told(time).is_none())
    {
        Err(Reason::Invalid)
    } else if row.start > now {
        Err(Reason::Window)
    } else if withheld(ctx, row, text) {
        Err(Reason::Quarantined)
    } else if !within(ageing.milestone) {
        Err(Reason::Aged)
    } else if !within(ctx.policy.episode_window) && !activated.strong() {
        Err(Reason::Window)
    } else if within(ageing.raw) {
        Ok("recent")
    } else if within(ageing.phase_summary) {
        if activated.any() { Ok("cued") } else { Err(Reason::NoCue) }
    } else if activated.strong() {
        Ok("strongly_cued")
    } else {
        Err(Reason::WeakCue)
    }
}

/// An episode as it is told at its age, whether anybody aged it in the store or not. The rule says so.
fn at_its_age<'a>(ctx: &Context<'_>, row: &'a Episode, rule: &mut String) -> Cow<'a, Episode> {
    let level = due_level(row, ctx.policy.ageing, ctx.now());
    match level {
        CompressionLevel::Raw => {}
        CompressionLevel::PhaseSummary => rule.push_str(",phase_summary"),
        CompressionLevel::Milestone => rule.push_str(",milestone"),
    }
    if !row.from.is_empty() {
        rule.push_str(&format!(",of:{}", row.from.len()));
    }
    if level == row.compression { Cow::Borrowed(row) } else { Cow::Owned(condensed(row, level)) }
}

/// Tags and entities stand in the packet too, though not in the prompt.
fn withheld(ctx: &Context<'_>, row: &Episode, text: &str) -> bool {
    let mut texts = vec![text];
    texts.extend(row.tags.iter().chain(&row.entities).map(String::as_str));
    ctx.guard.taints(row.sources.iter())
        || ctx.guard.withholds(&texts.join("\n"), &row.sources.iter(), &ctx.evidences)
}

fn text(row: &Episode) -> String {
    let mut text = row.summary.clone();
    for highlight in &row.highlights {
        text.push('\n');
        text.push_str(highlight);
    }
    text
}
