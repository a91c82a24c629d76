//! What holds of every packet, on ten thousand random stores: within its budget and its sections,
//! no item lost by a larger budget, nothing cut in the middle, every citation there, valid under the
//! contract, the same bytes whatever the order of the rows.

use std::collections::BTreeSet;

use super::rows::violations;
use super::store::{Store, store};
use countersign_memory::compose::{ComposeError, compose_packet};
use countersign_memory::render::render_packet;
use countersign_memory::tokens::{CharCounter, TiktokenCounter, TokenCounter};
use countersign_memory::{BudgetOverride, Candidates, PacketRequest};
use countersign_shipped_contracts::memory::MemoryPacket;
use proptest::prelude::*;

const CASES: u32 = 2_500;

fn compose_within(
    store: &Store,
    asked: BudgetOverride,
    counter: &dyn TokenCounter,
) -> Result<MemoryPacket, ComposeError> {
    let request = PacketRequest { budget: Some(asked), ..store.request.clone() };
    compose_packet(&request, &store.policy, &store.found, counter)
}

fn bytes(packet: &MemoryPacket) -> String {
    serde_json::to_string(packet).unwrap()
}

fn laws(
    store: &Store,
    small: u64,
    more: u64,
    counter: &dyn TokenCounter,
) -> Result<(), TestCaseError> {
    let asked = BudgetOverride { max_tokens: small, per_section: store.sections };
    let large = BudgetOverride { max_tokens: small + more, ..asked };
    let packet = match compose_within(store, asked, counter) {
        Ok(packet) => packet,
        Err(ComposeError::StateFloor { needed, allowed }) => {
            prop_assert!(needed > allowed);
            return Ok(());
        }
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    };
    within(&packet, store.sections.is_some(), counter)?;
    resolves(&packet, &store.found)?;
    whole(&packet, &store.found)?;
    told(&packet, &store.found)?;
    prop_assert_eq!(violations(&packet), Vec::<String>::new());

    // Every fourth is enough for this one.
    if small.is_multiple_of(4) {
        let again = compose_within(&store.shuffled(), asked, counter).unwrap();
        prop_assert_eq!(bytes(&again), bytes(&packet), "the order of the rows shows");
    }

    let larger = compose_within(store, large, counter).unwrap();
    within(&larger, store.sections.is_some(), counter)?;
    let lost: Vec<String> = items(&packet).difference(&items(&larger)).cloned().collect();
    prop_assert!(lost.is_empty(), "{small} and {more} more lose {lost:?}");
    Ok(())
}

/// No section above the budget that the caller sets, no packet above its own; and what is rendered is
/// no longer than told.
fn within(
    packet: &MemoryPacket,
    sections_are_asked: bool,
    counter: &dyn TokenCounter,
) -> Result<(), TestCaseError> {
    let (report, budget) = (&packet.budget_report, &packet.meta.budget);
    prop_assert!(report.used_tokens_est <= budget.max_tokens);
    prop_assert_eq!(report.section_usage.values().sum::<u64>(), report.used_tokens_est);
    let sections = serde_json::to_value(budget.per_section).unwrap();
    for (section, used) in &report.section_usage {
        let asked = sections[section].as_u64().unwrap();
        prop_assert!(!sections_are_asked || *used <= asked, "{section}");
    }
    let text = render_packet(packet, packet.meta.purpose).unwrap();
    let rendered = counter.count(&text);
    prop_assert!(rendered <= report.used_tokens_est, "{rendered} rendered: {text}");
    Ok(())
}

/// Every id that the packet refers to is cited, and every citation is of something that was found.
fn resolves(packet: &MemoryPacket, found: &Candidates) -> Result<(), TestCaseError> {
    let cited: BTreeSet<&str> = packet.citations.iter().map(|it| it.id.as_str()).collect();
    let long = &packet.long_term;
    let mut referred: BTreeSet<&String> = BTreeSet::new();
    referred.extend(long.facts.iter().flat_map(|it| &it.sources));
    referred.extend(long.episodes.iter().flat_map(|it| &it.sources));
    referred.extend(long.procedures.iter().flat_map(|it| it.sources.iter().flatten()));
    referred.extend(packet.short_term.key_quotes.iter().flatten().map(|it| &it.evidence_id));
    for id in &referred {
        prop_assert!(cited.contains(id.as_str()), "{id}");
    }
    let known = |id: &str| {
        found.evidence.contains_key(id)
            || found.quotes.iter().any(|it| it.row.id == id)
            || found.window.iter().any(|it| it.id == id)
    };
    prop_assert!(cited.iter().all(|id| known(id)));
    Ok(())
}

/// A text is what was kept, or a beginning of it that ends with a word.
fn whole(packet: &MemoryPacket, found: &Candidates) -> Result<(), TestCaseError> {
    for quote in packet.short_term.key_quotes.iter().flatten() {
        let row = &found.quotes.iter().find(|it| it.row.id == quote.evidence_id).unwrap().row;
        let name = row.speaker.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
        beginning(&quote.quote, &format!("{name}{}", row.text))?;
    }
    for episode in &packet.long_term.episodes {
        let row = &found.episodes.iter().find(|it| it.row.id == episode.episode_id).unwrap().row;
        beginning(&episode.summary, &row.summary)?;
        for (point, kept) in episode.highlights.iter().flatten().zip(&row.highlights) {
            beginning(point, kept)?;
        }
    }
    for fact in &packet.long_term.facts {
        let row = &found.facts.iter().find(|it| it.row.id == fact.fact_id).unwrap().row;
        if let (Some(given), Some(kept)) = (fact.value.as_str(), row.value.as_str()) {
            beginning(given, kept)?;
        }
    }
    if let Some(summary) = &found.summary {
        beginning(&packet.short_term.rolling_summary, &summary.text)?;
    }
    Ok(())
}

fn beginning(given: &str, kept: &str) -> Result<(), TestCaseError> {
    if given == kept || given.is_empty() {
        return Ok(());
    }
    let cut = given.strip_suffix('…');
    prop_assert!(cut.is_some_and(|cut| kept.starts_with(cut)), "{given:?} of {kept:?}");
    let cut = cut.unwrap_or_default();
    let (last, next) = (cut.chars().next_back(), kept[cut.len()..].chars().next());
    let spaced = |character: Option<char>| {
        character.is_some_and(|it| it.is_alphanumeric() && !('\u{4e00}'..='\u{9fff}').contains(&it))
    };
    prop_assert!(!(spaced(last) && spaced(next)), "{given:?} of {kept:?} is cut inside a word");
    Ok(())
}

/// Every row is accounted for: it went in, or it is told why not.
fn told(packet: &MemoryPacket, found: &Candidates) -> Result<(), TestCaseError> {
    let selected = packet.explain.selected.iter().map(|it| {
        let (id, rule) = it.split_once('|').unwrap();
        (rule.split(',').next().unwrap().to_owned(), id.to_owned())
    });
    let omitted = packet.explain.omitted.iter();
    let omitted =
        omitted.map(|it| (it.extra["kind"].as_str().unwrap().to_owned(), it.item.clone()));
    let accounted: BTreeSet<(String, String)> = selected.chain(omitted).collect();
    let rows = (found.facts.iter().map(|it| ("fact", &it.row.id)))
        .chain(found.episodes.iter().map(|it| ("episode", &it.row.id)))
        .chain(found.procedures.iter().map(|it| ("procedure", &it.row.id)))
        .chain(found.insights.iter().map(|it| ("insight", &it.row.id)))
        .chain(found.quotes.iter().map(|it| ("quote", &it.row.id)))
        .chain(found.window.iter().map(|it| ("message", &it.id)));
    for (kind, id) in rows {
        let row = (kind.to_owned(), id.clone());
        prop_assert!(accounted.contains(&row), "{kind} {id} is not accounted for");
    }
    Ok(())
}

/// Everything in a packet by id, in whatever form.
fn items(packet: &MemoryPacket) -> BTreeSet<String> {
    let selected = packet.explain.selected.iter();
    let mut items: BTreeSet<String> =
        selected.map(|it| it.split(',').next().unwrap().to_owned()).collect();
    items.extend(packet.citations.iter().map(|it| format!("cited {}", it.id)));
    items
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laws_by_characters(store in store(), small in 256_u64..1_500, more in 0_u64..800) {
        laws(&store, small, more, &CharCounter)?;
    }

    #[test]
    fn laws_by_characters_when_it_is_tight(store in store(), small in 256_u64..400, more in 0_u64..60) {
        laws(&store, small, more, &CharCounter)?;
    }

    #[test]
    fn laws_by_o200k(store in store(), small in 256_u64..1_500, more in 0_u64..800) {
        laws(&store, small, more, &TiktokenCounter::o200k())?;
    }

    #[test]
    fn laws_by_cl100k(store in store(), small in 256_u64..600, more in 0_u64..300) {
        laws(&store, small, more, &TiktokenCounter::cl100k())?;
    }
}
