//! Cases: events are stored once and get their locations.

use std::sync::Arc;

use super::sample::{NOW, append_user_event, build_scope, build_user_event, scope, search_ids};
use crate::MemoryScope;
use crate::record::{EventLocation, MemoryExpiry};
use crate::rules::MemoryRefusal;
use crate::store::{Memory, MemoryError};

pub async fn the_same_event_twice_is_one(memory: Arc<dyn Memory>) {
    let event = build_user_event(&scope(), "e1", "The price is twelve.");
    let first = memory.append_events(vec![event.clone()]).await.unwrap();
    let mut later = event.clone();
    later.recorded_at = event.recorded_at.plus_millis(5);
    let again = memory.append_events(vec![later.clone(), event]).await.unwrap();
    assert_eq!(again, [first[0].clone(), first[0].clone()]);
    assert_eq!(memory.export(&scope().subject()).await.unwrap().len(), 1);
    assert_eq!(search_ids(&*memory, &scope(), "price").await, ["e1"]);
}

pub async fn another_event_under_the_same_id_is_refused(memory: Arc<dyn Memory>) {
    append_user_event(&*memory, &scope(), "e1", "one").await;
    let mut other_session = build_user_event(&scope(), "e1", "one");
    other_session.scope = build_scope("u", "s2", "r1");
    for other in [build_user_event(&scope(), "e1", "two"), other_session] {
        let refused = memory.append_events(vec![other]).await.unwrap_err();
        assert_eq!(refused.to_string(), "event `e1` already exists with different content");
    }
    append_user_event(&*memory, &build_scope("u2", "s1", "r1"), "e1", "two").await;
}

pub async fn events_get_places_in_their_session(memory: Arc<dyn Memory>) {
    let (first, second) = (scope(), build_scope("u", "s2", "r2"));
    let events = [(&first, "a"), (&second, "b"), (&first, "c"), (&second, "d")];
    let events = events.map(|(scope, id)| build_user_event(scope, id, id)).to_vec();
    let kept = memory.append_events(events).await.unwrap();
    append_user_event(&*memory, &first, "e", "e").await;
    let last = memory
        .append_events(vec![build_user_event(&build_scope("u", "s3", "r"), "f", "f")])
        .await
        .unwrap();
    let at = |session, position| EventLocation { session, position };
    let places: Vec<EventLocation> = kept.iter().chain(&last).map(|event| event.location).collect();
    assert_eq!(places, [at(1, 1), at(2, 1), at(1, 2), at(2, 2), at(3, 1)]);
    let again = memory.append_events(vec![build_user_event(&first, "e", "e")]).await.unwrap();
    assert_eq!(again[0].location, at(1, 3));
    // Another subject has its own numbering.
    let theirs = memory
        .append_events(vec![build_user_event(&build_scope("u2", "s9", "r"), "a", "a")])
        .await
        .unwrap();
    assert_eq!(theirs[0].location, at(1, 1));
}

pub async fn a_batch_is_kept_whole_or_not_at_all(memory: Arc<dyn Memory>) {
    append_user_event(&*memory, &scope(), "e1", "one").await;
    let batch =
        vec![build_user_event(&scope(), "e2", "two"), build_user_event(&scope(), "e1", "another")];
    memory.append_events(batch).await.unwrap_err();
    let twice =
        vec![build_user_event(&scope(), "e3", "three"), build_user_event(&scope(), "e3", "four")];
    memory.append_events(twice).await.unwrap_err();
    assert_eq!(memory.export(&scope().subject()).await.unwrap().len(), 1);
    assert!(search_ids(&*memory, &scope(), "two three four").await.is_empty());
}

pub async fn what_has_no_name_is_refused(memory: Arc<dyn Memory>) {
    for id in ["", "a\nb", &"x".repeat(257)] {
        let refused =
            memory.append_events(vec![build_user_event(&scope(), id, "text")]).await.unwrap_err();
        assert!(
            matches!(refused, MemoryError::Refused(MemoryRefusal::Malformed { .. })),
            "{refused}"
        );
    }
    let long = "x".repeat((1 << 20) + 1);
    let refused =
        memory.append_events(vec![build_user_event(&scope(), "e1", &long)]).await.unwrap_err();
    assert_eq!(refused.to_string(), "`text` must be at most 1048576 bytes");
}

pub async fn the_last_event_of_a_run_is_known(memory: Arc<dyn Memory>) {
    let (parent, child) = (build_scope("u", "s1", "r1"), build_scope("u", "s1", "r1.1"));
    assert_eq!(memory.load_last_run_event(&parent).await.unwrap(), None);
    let own = vec![build_user_event(&parent, "a", "a"), build_user_event(&parent, "b", "b")];
    memory.append_events(own).await.unwrap();
    let memory = &*memory;
    assert_eq!(last(memory, &child).await, None);
    // The result does not depend on how many events a child run adds to the session.
    let many =
        (0..100).map(|number| build_user_event(&child, &format!("c{number}"), "c")).collect();
    memory.append_events(many).await.unwrap();
    assert_eq!(last(memory, &parent).await.as_deref(), Some("b"));
    assert_eq!(last(memory, &child).await.as_deref(), Some("c99"));
    assert_eq!(last(memory, &build_scope("u2", "s1", "r1")).await, None);
}

pub async fn a_session_is_read_in_its_order(memory: Arc<dyn Memory>) {
    let scope = scope();
    assert!(memory.list_session_events(&scope, 0, 10, NOW).await.unwrap().is_empty());
    let mut passing = build_user_event(&scope, "c", "c");
    passing.expires = Some(MemoryExpiry::Until(NOW));
    let mut of_run = build_user_event(&build_scope("u", "s1", "r2"), "d", "d");
    of_run.expires = Some(MemoryExpiry::RunEnd);
    let all = vec![
        build_user_event(&scope, "a", "a"),
        build_user_event(&scope, "b", "b"),
        passing,
        of_run,
    ];
    memory.append_events(all).await.unwrap();
    append_user_event(&*memory, &build_scope("u", "s2", "r1"), "x", "x").await;
    append_user_event(&*memory, &build_scope("u2", "s1", "r1"), "y", "y").await;
    let ids = async |after, limit, now| {
        let events = memory.list_session_events(&scope, after, limit, now).await.unwrap();
        events.into_iter().map(|event| event.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, 10, NOW).await, ["a", "b", "c"]);
    assert_eq!(ids(0, 10, NOW.plus_millis(1)).await, ["a", "b"]);
    assert_eq!(ids(1, 10, NOW).await, ["b", "c"]);
    assert_eq!(ids(0, 3, NOW).await, ["b", "c"], "the latest of them");
    assert!(ids(4, 10, NOW).await.is_empty());
}

async fn last(memory: &dyn Memory, scope: &MemoryScope) -> Option<String> {
    memory.load_last_run_event(scope).await.unwrap().map(|event| event.id)
}
