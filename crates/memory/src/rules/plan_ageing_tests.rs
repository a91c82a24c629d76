//! Tables of episodes and what ageing does to them.

use CompressionLevel::{Milestone, PhaseSummary, Raw};
use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::CompressionLevel;

use super::{AgeingPlan, compute_due_level, plan_ageing};
use crate::policy::AgeingPolicy;
use crate::record::MemoryEpisode;

const AGEING: AgeingPolicy = AgeingPolicy { raw: 7, phase_summary: 30, milestone: 90 };

fn at(day: &str) -> Timestamp {
    Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap()
}

fn episode(id: &str, day: &str, summary: &str, tags: &[&str]) -> MemoryEpisode {
    MemoryEpisode {
        id: id.to_owned(),
        revision: 1,
        start: at(day),
        end: at(day),
        recorded_at: at(day),
        summary: summary.to_owned(),
        highlights: Vec::new(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        entities: Vec::new(),
        sources: vec![format!("e-{id}")],
        compression: Raw,
        merged_from: Vec::new(),
        merged_into: None,
    }
}

fn describe_ages(ages: &AgeingPlan) -> Vec<(String, CompressionLevel, usize)> {
    let one = |aged: &super::AgedEpisode| {
        let id = aged.id.split('-').next().unwrap_or_default().to_owned();
        (id, aged.level, aged.merged_from.len())
    };
    ages.changes.iter().map(one).collect()
}

/// Returns the episodes after the planned writes.
fn after(episodes: &[MemoryEpisode], ages: &AgeingPlan) -> Vec<MemoryEpisode> {
    let mut all = episodes.to_vec();
    for write in &ages.writes {
        match all.iter_mut().find(|known| known.id == write.id) {
            Some(known) => {
                assert_eq!(write.revision, known.revision + 1, "{}", write.id);
                *known = write.clone();
            }
            None => all.push(write.clone()),
        }
    }
    all
}

// 2026-01-05 is a Monday.

#[test]
fn a_week_ages_when_all_of_it_is_old_enough() {
    let one = [episode("a", "2026-01-05", "Ann cooked.", &[])];
    assert_eq!(describe_ages(&plan_ageing(&one, AGEING, at("2026-01-13"))), []);
    assert_eq!(describe_ages(&plan_ageing(&one, AGEING, at("2026-01-18"))), []);
    let ages = plan_ageing(&one, AGEING, at("2026-01-19"));
    assert_eq!(describe_ages(&ages), [("a".to_owned(), PhaseSummary, 0)]);
    // A second run changes nothing.
    let then = after(&one, &ages);
    assert_eq!(plan_ageing(&then, AGEING, at("2026-01-20")), AgeingPlan::default());
}

#[test]
fn what_belongs_together_becomes_one_and_the_rest_does_not() {
    let all = [
        episode("a", "2026-01-05", "Ann planned the dinner. It took long.", &["dinner"]),
        episode("b", "2026-01-06", "Ann cooked a risotto.", &["Dinner", "rice"]),
        episode("c", "2026-01-07", "The tram was late.", &["travel"]),
        episode("d", "2026-01-13", "The dinner was paid.", &["dinner"]),
        episode("e", "2026-01-09", "Rice was bought.", &["rice"]),
    ];
    let ages = plan_ageing(&all, AGEING, at("2026-01-20"));
    let phase = ages.writes.iter().find(|it| !it.merged_from.is_empty()).unwrap();
    assert_eq!(phase.merged_from, ["a", "b", "e"]);
    assert_eq!(phase.sources, ["e-a", "e-b", "e-e"]);
    assert_eq!((phase.start, phase.end), (at("2026-01-05"), at("2026-01-09")));
    assert_eq!(phase.tags, ["dinner", "Dinner", "rice"]);
    assert_eq!(
        phase.summary,
        "Ann planned the dinner. It took long. Ann cooked a risotto. Rice was bought."
    );
    let member = ages.writes.iter().find(|it| it.id == "a").unwrap();
    assert_eq!((&member.merged_into, member.revision), (&Some(phase.id.clone()), 2));
    assert_eq!(member.summary, all[0].summary, "what was told stays");
    assert_eq!(describe_ages(&ages).len(), 2, "the tram ages alone, the next week not yet");
    let mut backwards = all.clone();
    backwards.reverse();
    assert_eq!(
        plan_ageing(&backwards, AGEING, at("2026-01-20")),
        ages,
        "the order does not matter"
    );
}

#[test]
fn how_often_one_ages_does_not_matter() {
    let all: Vec<MemoryEpisode> = (1..=28)
        .map(|day| {
            let tags: &[&str] = if day % 2 == 0 { &["dinner"] } else { &[] };
            episode(&format!("x{day}"), &format!("2026-01-{day:02}"), "Something happened.", tags)
        })
        .collect();
    let last = at("2026-04-01");
    let at_once = after(&all, &plan_ageing(&all, AGEING, last));
    let mut daily = all.clone();
    for day in 0..100 {
        daily = after(
            &daily,
            &plan_ageing(&daily, AGEING, at("2026-01-01").plus_millis(day * 86_400_000)),
        );
    }
    daily = after(&daily, &plan_ageing(&daily, AGEING, last));
    let seen = |all: &[MemoryEpisode]| {
        let live = all.iter().filter(|it| it.merged_into.is_none());
        let mut seen: Vec<_> =
            live.map(|it| (it.id.clone(), it.summary.clone(), it.sources.clone())).collect();
        seen.sort();
        seen
    };
    assert_eq!(seen(&daily), seen(&at_once));
    assert!(
        at_once.iter().filter(|it| it.merged_into.is_none()).all(|it| it.compression == Milestone)
    );
    // Every event is still cited by a visible episode.
    let live = at_once.iter().filter(|it| it.merged_into.is_none());
    assert_eq!(live.flat_map(|it| &it.sources).count(), all.len());
}

#[test]
fn condensing_adds_no_word_and_keeps_whole_sentences() {
    let long = "It rained on the first day of the journey. ".repeat(20);
    let mut one = episode("a", "2026-01-05", long.trim(), &[]);
    one.highlights = ["The bridge was closed.", "b", "c", "d"].map(str::to_owned).to_vec();
    let phase = &plan_ageing(&[one.clone()], AGEING, at("2026-01-20")).writes[0];
    assert!(phase.summary.chars().count() <= 320, "{}", phase.summary);
    assert!(phase.summary.ends_with("journey.…"), "{}", phase.summary);
    assert_eq!(phase.highlights.len(), 3);
    let ages = plan_ageing(&[one], AGEING, at("2026-03-30"));
    let milestone = ages.writes.last().unwrap();
    assert_eq!((milestone.compression, milestone.revision), (Milestone, 3));
    assert!(milestone.summary.chars().count() <= 120, "{}", milestone.summary);
    assert_eq!(milestone.highlights, ["The bridge was closed."]);
    // A word is never split.
    let endless = episode("b", "2026-01-05", &"x".repeat(1000), &[]);
    assert_eq!(plan_ageing(&[endless], AGEING, at("2026-01-20")).writes[0].summary.len(), 1000);
}

#[test]
fn the_level_follows_the_age() {
    let one = episode("a", "2026-01-05", "x", &[]);
    let level = |day: &str| compute_due_level(&one, AGEING, at(day));
    assert_eq!(level("2026-01-01"), Raw);
    assert_eq!(level("2026-01-12"), Raw);
    assert_eq!(level("2026-01-13"), PhaseSummary);
    assert_eq!(level("2026-02-04"), PhaseSummary);
    assert_eq!(level("2026-02-05"), Milestone);
    let milestone = MemoryEpisode { compression: Milestone, ..one.clone() };
    assert_eq!(compute_due_level(&milestone, AGEING, at("2026-01-06")), Milestone, "never back");
}
