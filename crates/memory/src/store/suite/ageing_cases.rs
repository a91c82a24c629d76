//! Cases: episodes age without loss.

use std::sync::Arc;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::CompressionLevel;

use super::sample::{
    NOW, append_user_event, build_request, build_scope, episode, record_claim, scope,
};
use crate::compose::compose_packet;
use crate::policy::{AgeingPolicy, MemoryPolicy};
use crate::record::MemoryClaim;
use crate::store::{EraseTarget, Memory, PacketBuild, RetrievalLimits};
use crate::tokens::find_counter;

const AGEING: AgeingPolicy = AgeingPolicy { raw: 7, phase_summary: 30, milestone: 90 };

const DAY: i64 = 86_400_000;

async fn put_episode(memory: &dyn Memory, id: &str, days_ago: i64, summary: &str) {
    let scope = scope();
    append_user_event(memory, &scope, &format!("e-{id}"), summary).await;
    let mut row = episode(id, summary, &[&format!("e-{id}")]);
    row.end = NOW.plus_millis(-days_ago * DAY);
    row.start = row.end;
    row.tags = vec!["dinner".to_owned()];
    record_claim(memory, &scope, MemoryClaim::Episode(Box::new(row))).await.unwrap();
}

// `NOW` is Wednesday, 21 January 2026: 15 and 16 days earlier are the Tuesday and Monday of one
// week.

pub async fn what_is_old_is_told_shorter_and_as_one(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    put_episode(memory, "a", 16, "Ann planned a dinner.").await;
    put_episode(memory, "b", 15, "Ann cooked a risotto.").await;
    put_episode(memory, "c", 1, "Ann ate alone.").await;
    let subject = scope().subject();
    let would = memory.preview_ageing(&subject, AGEING, NOW).await.unwrap();
    assert_eq!(would.len(), 1);
    let seen = async |now: Timestamp| {
        let mut request = build_request(&scope(), "Ann");
        request.as_of = now;
        let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
        let mut rows: Vec<_> = found.episodes.into_iter().map(|one| one.row).collect();
        rows.sort_by_key(|row| row.start);
        rows
    };
    assert_eq!(seen(NOW).await.len(), 3, "a look changes nothing");
    let aged = memory.age_episodes(&subject, AGEING, NOW).await.unwrap();
    assert_eq!(aged, would);
    assert_eq!(aged[0].merged_from, ["a", "b"]);
    let rows = seen(NOW).await;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].summary, "Ann planned a dinner. Ann cooked a risotto.");
    assert_eq!(rows[0].sources, ["e-a", "e-b"]);
    assert_eq!(rows[0].compression, CompressionLevel::PhaseSummary);
    assert_eq!(rows[1].compression, CompressionLevel::Raw);
    assert!(memory.age_episodes(&subject, AGEING, NOW).await.unwrap().is_empty(), "once is enough");
    // Episodes of other subjects did not age, and the export contains all of it.
    let other = build_scope("u2", "s1", "r1").subject();
    assert!(memory.age_episodes(&other, AGEING, NOW).await.unwrap().is_empty());
    let lines = memory.export(&subject).await.unwrap();
    let lines: String = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    assert!(lines.contains("\"merged_from\":[\"a\",\"b\"]"), "{lines}");
    assert!(lines.contains(&format!("\"merged_into\":\"{}\"", rows[0].id)), "{lines}");
}

pub async fn a_build_of_before_is_composed_as_before(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    put_episode(memory, "a", 16, "Ann planned a dinner.").await;
    put_episode(memory, "b", 15, "Ann cooked a risotto.").await;
    let request = build_request(&scope(), "dinner");
    let policy = MemoryPolicy::load_shipped("default").unwrap();
    let counter = find_counter("chars/4").unwrap();
    let found =
        memory.retrieve_candidates(&request, RetrievalLimits::from_policy(&policy)).await.unwrap();
    let packet = compose_packet(&request, &policy, &found, &*counter).unwrap();
    assert!(!packet.long_term.episodes.is_empty());
    let build = PacketBuild::from_packet("b1", &request, &policy, &found, &packet, counter.id());
    memory.store_build(build).await.unwrap();
    let subject = scope().subject();
    for days in [0, 30, 100] {
        memory.age_episodes(&subject, AGEING, NOW.plus_millis(days * DAY)).await.unwrap();
        let (build, found) = memory.load_build(&subject, "b1").await.unwrap().unwrap();
        assert_eq!(build.recompose(&found).unwrap(), packet, "after {days} days");
    }
    // The aged episode cites the same events.
    let found =
        memory.retrieve_candidates(&request, RetrievalLimits::from_policy(&policy)).await.unwrap();
    let now = compose_packet(&request, &policy, &found, &*counter).unwrap();
    let cited = |packet: &crate::packet::MemoryPacket| -> Vec<String> {
        packet.citations.iter().map(|citation| citation.id.clone()).collect()
    };
    assert!(cited(&now).contains(&"e-a".to_owned()), "{:?}", cited(&now));
    assert!(cited(&now).contains(&"e-b".to_owned()));
}

pub async fn whoever_is_forgotten_has_not_aged(memory: Arc<dyn Memory>) {
    put_episode(&*memory, "a", 16, "Ann planned a dinner with quince.").await;
    put_episode(&*memory, "b", 15, "Ann cooked a risotto.").await;
    let subject = scope().subject();
    memory.age_episodes(&subject, AGEING, NOW).await.unwrap();
    memory.forget(EraseTarget::Subject(subject.clone()), NOW).await.unwrap();
    assert!(memory.scan_residue(vec![b"quince".to_vec()]).await.unwrap().is_empty());
    assert!(memory.age_episodes(&subject, AGEING, NOW).await.unwrap().is_empty());
}
