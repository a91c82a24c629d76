//! One size of memory: filled, asked warm, asked after the file was opened anew, asked cold.

use countersign_memory::store::MemoryReader as _;
use std::path::Path;
use std::time::{Duration, Instant};

use countersign_memory::PacketRequest;
use countersign_memory::compose::compose_packet;
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::rank::{WeightedQuery, plan_reads};
use countersign_memory::render::render_packet;
use countersign_memory::store::{RetrievalLimits, SqliteMemory};
use countersign_memory::tokens::TiktokenCounter;
use rusqlite::{Connection, OptionalExtension as _};

use crate::cold::drop_from_cache;
use crate::fill;
use crate::talk::questions::{Class, question};
use crate::times::{Times, processor};

/// Questions of each class.
const WARM: usize = 100;
const COLD: usize = 25;

pub(crate) async fn measure(path: &Path, events: usize) {
    let memory = SqliteMemory::open(path).unwrap();
    let filled = fill::events(&memory, events).await;
    drop(memory);
    let size = std::fs::metadata(path).unwrap().len() >> 20;
    let each = events as f64 / filled.as_secs_f64();
    println!("\n{events} events in {size} MB, written at {each:.0} a second");
    println!("                                    p50     p95     p99  (ms by the clock)");
    let [default, recall] =
        ["default", "recall"].map(|name| MemoryPolicy::load_shipped(name).unwrap());
    println!("events alone");
    asked(path, events, &default).await;
    println!("with facts, episodes, procedures, guesses, a working state and a summary");
    fill::others(&SqliteMemory::open(path).unwrap(), events).await;
    for policy in [default, recall] {
        asked(path, events, &policy).await;
    }
}

async fn asked(path: &Path, events: usize, policy: &MemoryPolicy) {
    warm(path, events, policy).await;
    for cache in [Cache::Kept, Cache::Dropped] {
        anew(path, events, policy, cache).await;
    }
}

/// What the system has of a file in its memory when that is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    Kept,
    Dropped,
}

impl Cache {
    fn name(self) -> &'static str {
        match self {
            Self::Kept => "opened",
            Self::Dropped => "cold",
        }
    }
}

async fn warm(path: &Path, events: usize, policy: &MemoryPolicy) {
    let memory = SqliteMemory::open(path).unwrap();
    let (mut all, mut found) = (Times::default(), Times::default());
    for class in Class::ALL {
        let questions: Vec<PacketRequest> =
            (0..WARM).map(|number| question(class, number, events)).collect();
        let mut of_class = Times::default();
        let mut before = Duration::ZERO;
        for round in 0..2 {
            before = processor();
            for request in &questions {
                let (finding, took) = packet(&memory, request, policy).await;
                if round == 1 {
                    found.add(finding);
                    all.add(took);
                    of_class.add(took);
                }
            }
        }
        let each = processor().saturating_sub(before).as_secs_f64() * 1_000.0 / WARM as f64;
        let beside = format!("{each:.2} ms of processors, {}", postings(path, &questions));
        tell(policy, &format!("warm, {}", class.name()), &of_class, &beside);
    }
    tell(policy, "warm, all", &all, "");
    tell(policy, "warm, finding alone", &found, "");
}

async fn anew(path: &Path, events: usize, policy: &MemoryPolicy, cache: Cache) {
    let name = cache.name();
    let (mut all, mut opened) = (Times::default(), Times::default());
    let mut stayed = Some(0);
    for class in Class::ALL {
        let mut of_class = Times::default();
        for number in 0..COLD {
            if cache != Cache::Kept {
                let left = drop_from_cache(path);
                stayed = stayed.zip(left).map(|(most, left)| most.max(left));
            }
            let begun = Instant::now();
            let memory = SqliteMemory::open(path).unwrap();
            opened.add(begun.elapsed());
            let (_, took) = packet(&memory, &question(class, number, events), policy).await;
            all.add(took);
            of_class.add(took);
        }
        tell(policy, &format!("{name}, {}", class.name()), &of_class, "");
    }
    let stayed = match stayed {
        _ if cache == Cache::Kept => String::new(),
        Some(bytes) => format!("at most {bytes} bytes stayed in the cache"),
        None => "whether anything stayed in the cache is not known".to_owned(),
    };
    tell(policy, &format!("{name}, all"), &all, &stayed);
    tell(policy, &format!("{name}, opening"), &opened, "");
}

fn tell(policy: &MemoryPolicy, what: &str, times: &Times, beside: &str) {
    println!("{:<9} {what:<25} {}   {beside}", policy.id, times.told());
}

/// What finding took, and all of it.
async fn packet(
    memory: &SqliteMemory,
    request: &PacketRequest,
    policy: &MemoryPolicy,
) -> (Duration, Duration) {
    let counter = TiktokenCounter::o200k();
    let begun = Instant::now();
    let rows =
        memory.retrieve_candidates(request, RetrievalLimits::from_policy(policy)).await.unwrap();
    let found = begun.elapsed();
    let packet = compose_packet(request, policy, &rows, &counter).unwrap();
    let text = render_packet(&packet, request.purpose).unwrap();
    let all = begun.elapsed();
    assert!(!text.is_empty() || rows.quotes.is_empty(), "what is found is told");
    (found, all)
}

/// How many postings are read for these questions, and how many there are.
fn postings(path: &Path, questions: &[PacketRequest]) -> String {
    let db = Connection::open(path).unwrap();
    let mut df = db.prepare("SELECT df FROM terms WHERE subject = 1 AND term = ?1").unwrap();
    let (mut read, mut there) = (0, 0_u64);
    for request in questions {
        let query = WeightedQuery::from_request(request);
        let known: Vec<(&str, u32)> = query
            .terms()
            .filter_map(|(term, _)| {
                let found = df.query_row([term], |row| row.get(0)).optional().unwrap();
                found.map(|df| (term, df))
            })
            .collect();
        for one in plan_reads(known) {
            read += one.newest as u64;
            there += u64::from(one.df);
        }
    }
    let each = questions.len() as u64;
    format!("{} of {} postings read", read / each, there / each)
}
