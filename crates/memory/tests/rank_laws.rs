//! What always holds of ranking: order does not matter, reading is bounded, prose answers for itself.

use countersign_core::run::Time;
use countersign_memory::Scope;
use countersign_memory::rank::{
    Hit, MOST_POSTINGS, Posting, Query, Stats, TermPostings, decode_block, encode_block, plan,
    rank, refine,
};
use countersign_memory::record::{Event, EventKind, Origin, Place, Role};
use proptest::prelude::*;

const STATS: Stats = Stats { events: 1_000, terms: 12_000 };

fn posting(session: u32, position: u32) -> Posting {
    Posting { place: Place { session, position }, tf: 1, length: 12, prose: false }
}

fn list(term: &str, postings: Vec<Posting>) -> TermPostings {
    TermPostings { term: term.to_owned(), df: postings.len() as u32, postings }
}

fn places(hits: &[Hit]) -> Vec<(u32, u32)> {
    hits.iter().map(|hit| (hit.place.session, hit.place.position)).collect()
}

fn event(text: &str, role: Role, speaker: Option<&str>) -> Event {
    Event {
        id: "e".to_owned(),
        scope: Scope::new("t", "u", "a", "s", "r").expect("the ids are good"),
        place: Place { session: 1, position: 1 },
        ts: Time(0),
        recorded_at: Time(0),
        role,
        kind: EventKind::Message,
        origin: Origin::User,
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
    let query = Query::of_texts(&["oven technician"]);
    let lists = [
        list("oven", vec![posting(1, 10), posting(2, 10), posting(3, 10)]),
        list("technician", vec![posting(2, 10), posting(3, 40)]),
    ];
    let hits = rank(&query, &lists, STATS, 100);
    assert_eq!(places(&hits)[0], (2, 10), "both words stand there");
    let at = |place| places(&hits).iter().position(|found| *found == place);
    assert!(at((3, 40)) < at((3, 10)), "the rarer word");
    assert!(at((3, 10)) < at((1, 10)), "a session that has the other word too");
    let neighbours: Vec<_> =
        places(&hits).into_iter().filter(|(session, _)| *session == 2).collect();
    assert_eq!(neighbours, [(2, 10), (2, 11), (2, 9), (2, 12), (2, 8)], "of equals the newest");
    assert_eq!(places(&rank(&query, &lists, STATS, 2)), places(&hits)[..2]);
}

#[test]
fn what_is_read_is_bounded() {
    let reads =
        plan([("rare", 10), ("gone", 0), ("common", 32_000), ("name", 500_000), ("year", 900_000)]);
    let told: Vec<_> =
        reads.iter().map(|read| (read.term.as_str(), read.newest, read.is_cut())).collect();
    let expected =
        [("rare", 10, false), ("common", 32_000, false), ("name", 758, true), ("year", 0, true)];
    assert_eq!(told, expected);
    assert_eq!(reads.iter().map(|read| read.newest).sum::<usize>(), MOST_POSTINGS);
}

#[test]
fn a_list_that_was_cut_finds_no_places_of_its_own() {
    let query = Query::of_texts(&["oven nate"]);
    let cut = TermPostings {
        term: "nate".to_owned(),
        df: 500,
        postings: vec![posting(1, 10), posting(9, 1)],
    };
    let hits = rank(&query, &[list("oven", vec![posting(1, 10)]), cut.clone()], STATS, 100);
    assert!(hits.iter().all(|hit| hit.place.session == 1));
    let alone = rank(&query, &[list("oven", vec![posting(1, 10)])], STATS, 100);
    assert!(hits[0].total() > alone[0].total(), "it adds to what is there");
    assert!(!rank(&query, &[cut], STATS, 100).is_empty(), "but the only one finds");
}

#[test]
fn prose_answers_for_itself() {
    let query = Query::of_texts(&["oven"]);
    let long = Posting { length: 200, prose: true, ..posting(1, 10) };
    let hits = rank(&query, &[list("oven", vec![long])], STATS, 100);
    assert_eq!(places(&hits), [(1, 10)], "it does not reach its neighbours");

    let text = "The oven is hot. ".repeat(60);
    let nearby = Hit { own: 0, reach: 900_000, session: 0, ..hits[0] };
    assert_eq!(refine(&query, &nearby, &event(&text, Role::User, None)).total, 0);
    let hit = Hit { own: 900_000, reach: 900_000, session: 1_000_000, ..hits[0] };
    assert_eq!(refine(&query, &hit, &event(&text, Role::User, None)).total, 900_000);
    assert_eq!(refine(&query, &hit, &event(&text, Role::Assistant, None)).total, 299_999);
    assert_eq!(refine(&query, &hit, &event("Hot.", Role::Assistant, None)).total, 1_800_000);
}

#[test]
fn who_speaks_and_who_asks_counts() {
    let query = Query::of_texts(&["What did Nate bake?"]);
    let place = Place { session: 1, position: 1 };
    let hit = Hit { place, own: 600_000, reach: 800_000, session: 500_000 };
    let total = |text, speaker| refine(&query, &hit, &event(text, Role::User, speaker)).total;
    assert_eq!(total("I baked bread.", None), 1_200_000);
    assert_eq!(total("I baked bread.", Some("Nate Miller")), 2_400_000);
    assert_eq!(total("What did you bake?", Some("Ann")), 720_000);
    assert_eq!(total("烤了什么？", Some("Ann")), 720_000);
    let parts = refine(&query, &hit, &event("Bread?", Role::User, Some("Nate"))).parts;
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
    let one = (1..6_u32, 1..40_u32, 1..5_u16, 0..90_u16, any::<bool>());
    prop::collection::btree_map((1..6_u32, 1..40_u32), one, 1..60).prop_map(|map| {
        map.into_iter()
            .map(|((session, position), (_, _, tf, length, prose))| Posting {
                place: Place { session, position },
                tf,
                length,
                prose,
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
        let query = Query::of_texts(&words);
        let mut lists: Vec<_> =
            lists.into_iter().zip(words).map(|(postings, term)| list(term, postings)).collect();
        let hits = rank(&query, &lists, STATS, limit);
        let all = rank(&query, &lists, STATS, usize::MAX);
        lists.reverse();
        prop_assert_eq!(&rank(&query, &lists, STATS, limit), &hits);
        prop_assert_eq!(&all[..hits.len()], &hits[..], "a limit only cuts");
        prop_assert!(all.iter().all(|hit| hit.total() > 0 && hit.own >= 0 && hit.reach >= hit.own));
        prop_assert!(all.windows(2).all(|pair| pair[0].total() >= pair[1].total()));
    }
}
