//! A subject with everything that a packet may be made of: its events first, then the other rows.

use std::time::{Duration, Instant};

use countersign_memory::record::{MemoryClaim, MemoryOrigin};
use countersign_memory::rules::ClaimAssurance;
use countersign_memory::store::suite::sample;
use countersign_memory::store::{MemoryWriter as _, SqliteMemory};
use countersign_shipped_contracts::memory::long_term::CompressionLevel;

use crate::talk;

const AT_ONCE: usize = 50_000;
const FACTS: usize = 100;
const EPISODES: usize = 40;
const PROCEDURES: usize = 12;
const GUESSES: usize = 10;

/// Keeps the talk, and says how long that took.
pub(crate) async fn events(memory: &SqliteMemory, events: usize) -> Duration {
    let begun = Instant::now();
    for first in (0..events).step_by(AT_ONCE) {
        let some = (first..events.min(first + AT_ONCE)).map(talk::event);
        memory.append_events(some.collect()).await.unwrap();
    }
    begun.elapsed()
}

/// Keeps everything else.
pub(crate) async fn others(memory: &SqliteMemory, events: usize) {
    let scope = talk::scope(talk::session(events - 1));
    let now = talk::moment(events);
    let about = |number: usize| talk::event(number * 7_919 % events);
    let keep = async |claim| {
        memory
            .record_claim(&scope, claim, MemoryOrigin::User, ClaimAssurance::Claimed, now)
            .await
            .unwrap();
    };
    for number in 0..FACTS {
        let event = about(number);
        let value: String = event.text.chars().take(60).collect();
        let fact = sample::fact(&format!("f{number}"), &format!("topic.{number}"), value);
        keep(MemoryClaim::Fact(Box::new(sample::with_evidence(fact, &event.id, None)))).await;
    }
    for number in 0..EPISODES {
        let event = about(number + 1_000);
        let mut episode = sample::episode(&format!("ep{number}"), &event.text, &[&event.id]);
        (episode.start, episode.end) = (now.plus_millis(-(number as i64) * 86_400_000), now);
        episode.end = episode.start;
        episode.compression = CompressionLevel::Raw;
        keep(MemoryClaim::Episode(Box::new(episode))).await;
    }
    for number in 0..PROCEDURES {
        let step = about(number + 2_000).text;
        let procedure = sample::procedure(&format!("p{number}"), "generic", &step);
        keep(MemoryClaim::Procedure(Box::new(procedure))).await;
    }
    for number in 0..GUESSES {
        let guess = sample::insight(&format!("i{number}"), "r", &about(number + 3_000).text);
        keep(MemoryClaim::Insight(Box::new(guess))).await;
    }
    memory.write_working_memory(&scope, 0, sample::working("to remember all of it")).await.unwrap();
    let quoted = format!("e{}", events - 1);
    memory.write_summary(&scope, sample::summary("They talked.", &[&quoted])).await.unwrap();
}
