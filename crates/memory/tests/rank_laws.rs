//! What always holds of ranking: order does not matter, reading is bounded, prose answers for itself.

use countersign_contract::Timestamp;
use countersign_memory::MemoryScope;
use countersign_memory::rank::{
    IndexStats, MAX_POSTINGS, PieceScorer, Posting, RankedHit, TermPostings, WeightedQuery,
    decode_block, encode_block, plan_reads, rank_hits, refine_score, split_into_pieces,
};
use countersign_memory::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryOrigin, SpeakerRole,
};
use proptest::prelude::*;

const STATS: IndexStats = IndexStats { events: 1_000, terms: 12_000 };

fn posting(session: u32, position: u32) -> Posting {
    let location = EventLocation { session, position };
    Posting { location, tf: 1, length: 12, prose: false, assistant: false }
}

fn list(term: &str, postings: Vec<Posting>) -> TermPostings {
    TermPostings { term: term.to_owned(), df: postings.len() as u32, postings }
}

fn places(hits: &[RankedHit]) -> Vec<(u32, u32)> {
    hits.iter().map(|hit| (hit.location.session, hit.location.position)).collect()
}

fn event(text: &str, role: SpeakerRole, speaker: Option<&str>) -> MemoryEvent {
    MemoryEvent {
        id: "e".to_owned(),
        scope: MemoryScope::new("t", "u", "a", "s", "r").expect("the ids are good"),
        location: EventLocation { session: 1, position: 1 },
        ts: Timestamp(0),
        recorded_at: Timestamp(0),
        role,
        kind: MemoryEventKind::Message,
        origin: MemoryOrigin::User,
        speaker: speaker.map(str::to_owned),
        text: text.to_owned(),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
        seen_insights: Vec::new(),
    }
}

#[test]
fn more_of_the_question_comes_first() {
    let query = WeightedQuery::from_texts(&["oven technician"]);
    let lists = [
        list("oven", vec![posting(1, 10), posting(2, 10), posting(3, 10)]),
        list("technician", vec![posting(2, 10), posting(3, 40)]),
    ];
    let hits = rank_hits(&query, &lists, STATS, 100);
    assert_eq!(places(&hits)[0], (2, 10), "both words stand there");
    let at = |place| places(&hits).iter().position(|found| *found == place);
    assert!(at((3, 40)) < at((3, 10)), "the rarer word");
    assert!(at((3, 10)) < at((1, 10)), "a session that has the other word too");
    let neighbours: Vec<_> =
        places(&hits).into_iter().filter(|(session, _)| *session == 2).collect();
    assert_eq!(neighbours, [(2, 10), (2, 11), (2, 9), (2, 12), (2, 8)], "of equals the newest");
    assert_eq!(places(&rank_hits(&query, &lists, STATS, 2)), places(&hits)[..2]);
}

#[test]
fn what_is_read_is_bounded() {
    let reads = plan_reads([
        ("rare", 10),
        ("gone", 0),
        ("common", 32_000),
        ("name", 500_000),
        ("year", 900_000),
    ]);
    let told: Vec<_> =
        reads.iter().map(|read| (read.term.as_str(), read.newest, read.is_truncated())).collect();
    let expected =
        [("rare", 10, false), ("common", 32_000, false), ("name", 758, true), ("year", 0, true)];
    assert_eq!(told, expected);
    assert_eq!(reads.iter().map(|read| read.newest).sum::<usize>(), MAX_POSTINGS);
}

#[test]
fn a_list_that_was_cut_finds_no_places_of_its_own() {
    let query = WeightedQuery::from_texts(&["oven nate"]);
    let cut = TermPostings {
        term: "nate".to_owned(),
        df: 500,
        postings: vec![posting(1, 10), posting(9, 1)],
    };
    let hits = rank_hits(&query, &[list("oven", vec![posting(1, 10)]), cut.clone()], STATS, 100);
    assert!(hits.iter().all(|hit| hit.location.session == 1));
    let alone = rank_hits(&query, &[list("oven", vec![posting(1, 10)])], STATS, 100);
    assert!(hits[0].total_score() > alone[0].total_score(), "it adds to what is there");
    assert!(!rank_hits(&query, &[cut], STATS, 100).is_empty(), "but the only one finds");
}

#[test]
fn prose_answers_for_itself() {
    let query = WeightedQuery::from_texts(&["oven"]);
    let long = Posting { length: 200, prose: true, ..posting(1, 10) };
    let lists = [list("oven", vec![long])];
    let hits = rank_hits(&query, &lists, STATS, 100);
    assert_eq!(places(&hits), [(1, 10)], "it does not reach its neighbours");
    let pieces = PieceScorer::new(&query, &lists, STATS);
    let total = |hit: &RankedHit, text, role| {
        refine_score(&query, &pieces, hit, &event(text, role, None)).total
    };

    let text = "The oven is hot. ".repeat(60);
    let nearby = RankedHit { own_score: 0, boosted_score: 900_000, session_share: 0, ..hits[0] };
    assert_eq!(total(&nearby, &text, SpeakerRole::User), 0);
    let hit = RankedHit { session_share: 1_000_000, ..hits[0] };
    let own = hit.own_score;
    assert_eq!(total(&hit, &text, SpeakerRole::User), own);
    assert_eq!(total(&hit, &text, SpeakerRole::Assistant), own / 5);
    assert_eq!(total(&hit, "Hot.", SpeakerRole::Assistant), 2 * own);
}

#[test]
fn the_piece_that_answers_is_found() {
    let query = WeightedQuery::from_texts(&["Which oven did the technician repair?"]);
    let lists = [
        list("oven", vec![Posting { length: 60, prose: true, ..posting(1, 10) }]),
        list("technician", vec![Posting { length: 60, prose: true, ..posting(1, 10) }]),
    ];
    let hit = rank_hits(&query, &lists, STATS, 100)[0];
    let pieces = PieceScorer::new(&query, &lists, STATS);
    let other = "There is nothing to learn from these lines about it.\n".repeat(11);
    let text = format!("An oven.\n{other}\n{other}The technician repaired the oven.\n{other}");
    let score = refine_score(&query, &pieces, &hit, &event(&text, SpeakerRole::User, None));
    let number = score.piece.expect("the text is long") as usize;
    assert!(split_into_pieces(&text)[number - 1].contains("technician"));
    let scattered = format!("An oven.\n{other}\n{other}\n{other}A technician.");
    let apart = refine_score(&query, &pieces, &hit, &event(&scattered, SpeakerRole::User, None));
    assert!(score.total > apart.total, "one piece with both words is worth more");
}

#[test]
fn who_speaks_and_who_asks_counts() {
    let query = WeightedQuery::from_texts(&["What did Nate bake?"]);
    let place = EventLocation { session: 1, position: 1 };
    let hit = RankedHit {
        location: place,
        own_score: 600_000,
        boosted_score: 800_000,
        session_share: 500_000,
        length: 12,
    };
    let pieces = PieceScorer::default();
    let total = |text, speaker| {
        refine_score(&query, &pieces, &hit, &event(text, SpeakerRole::User, speaker)).total
    };
    assert_eq!(total("I baked bread.", None), 1_200_000);
    assert_eq!(total("I baked bread.", Some("Nate Miller")), 2_400_000);
    assert_eq!(total("What did you bake?", Some("Ann")), 720_000);
    assert_eq!(total("烤了什么？", Some("Ann")), 720_000);
    let parts =
        refine_score(&query, &pieces, &hit, &event("Bread?", SpeakerRole::User, Some("Nate")))
            .parts;
    let told: Vec<_> = parts.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let expected = [
        ("nearby", 200_000),
        ("question", 600_000),
        ("session", 1_500_000),
        ("speaker", 2_000_000),
        ("words", 600_000),
    ];
    assert_eq!(told, expected);
}

fn postings() -> impl Strategy<Value = Vec<Posting>> {
    let one = (1..5_u16, 0..90_u16, any::<bool>(), any::<bool>());
    prop::collection::btree_map((1..6_u32, 1..40_u32), one, 1..60).prop_map(|map| {
        map.into_iter()
            .map(|((session, position), (tf, length, prose, assistant))| Posting {
                location: EventLocation { session, position },
                tf,
                length,
                prose,
                assistant,
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn blocks_keep_what_is_written(postings in postings(), cut in 0..60_usize) {
        let (one, other) = postings.split_at(cut.min(postings.len()));
        let mut read = Vec::new();
        decode_block(&encode_block(one), &mut read).unwrap();
        decode_block(&encode_block(other), &mut read).unwrap();
        prop_assert_eq!(read, postings);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_block(&bytes, &mut Vec::new());
    }

    #[test]
    fn the_order_of_lists_does_not_show(lists in prop::collection::vec(postings(), 1..5), limit in 1..80_usize) {
        let words = ["oven", "flight", "piano", "garden", "lawyer"];
        let query = WeightedQuery::from_texts(&words);
        let mut lists: Vec<_> =
            lists.into_iter().zip(words).map(|(postings, term)| list(term, postings)).collect();
        let hits = rank_hits(&query, &lists, STATS, limit);
        let all = rank_hits(&query, &lists, STATS, usize::MAX);
        lists.reverse();
        prop_assert_eq!(&rank_hits(&query, &lists, STATS, limit), &hits);
        prop_assert_eq!(&all[..hits.len()], &hits[..], "a limit only cuts");
        prop_assert!(all.iter().all(|hit| hit.total_score() > 0 && hit.own_score >= 0 && hit.boosted_score >= hit.own_score));
        prop_assert!(all.windows(2).all(|pair| pair[0].total_score() >= pair[1].total_score()));
    }
}
