//! Cases: the rows of a build can be loaded again.

use std::sync::Arc;

use countersign_shipped_contracts::memory::meta::PacketPurpose;
use serde_json::json;

use super::sample::{
    NOW, append_user_event, build_request, build_scope, build_user_event, episode, fact, insight,
    procedure, record_claim, record_fact, scope, summary, with_evidence, working,
};
use crate::record::{MemoryClaim, MemoryExpiry, MemoryFact};
use crate::store::{BuildRow, Memory, MemoryError, PacketBuild, RetrievalLimits, SweepOptions};
use crate::{Candidates, PacketRequest};

pub(super) fn build(id: &str, request: &PacketRequest, found: &Candidates) -> PacketBuild {
    PacketBuild {
        id: id.to_owned(),
        request: request.clone(),
        policy: json!({"id": "default"}),
        tokenizer: "chars/4".to_owned(),
        digest: "sha256:0".to_owned(),
        built_at: NOW,
        rows: BuildRow::collect_rows(request, found, |_, id| id == "f1"),
        truncations: Vec::new(),
        seen_insights: Vec::new(),
    }
}

pub async fn a_build_is_read_as_it_was_found(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    append_user_event(&*memory, &scope, "e2", "The city is loud.").await;
    record_fact(&*memory, &scope, with_evidence(fact("f1", "city", "Paris"), "e1", Some("Paris")))
        .await;
    record_claim(
        &*memory,
        &scope,
        MemoryClaim::Episode(Box::new(episode("ep", "A move.", &["e1"]))),
    )
    .await
    .unwrap();
    record_claim(
        &*memory,
        &scope,
        MemoryClaim::Procedure(Box::new(procedure("p", "generic", "x"))),
    )
    .await
    .unwrap();
    record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(insight("i", "r1", "Noise?"))))
        .await
        .unwrap();
    memory.write_working_memory(&scope, 0, working("one")).await.unwrap();
    memory.write_summary(&scope, summary("so far", &["e2"])).await.unwrap();
    let request = build_request(&scope, "city Paris");
    let then = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    assert!(!then.quotes.is_empty() && !then.facts.is_empty() && !then.evidence.is_empty());
    memory.store_build(build("b1", &request, &then)).await.unwrap();

    // Every row changes.
    let newer = MemoryFact { valid_from: Some(NOW), ..fact("f2", "city", "Rome") };
    record_fact(&*memory, &scope, newer).await;
    record_claim(&*memory, &scope, MemoryClaim::Episode(Box::new(episode("ep", "Moved.", &[]))))
        .await
        .unwrap();
    record_claim(
        &*memory,
        &scope,
        MemoryClaim::Procedure(Box::new(procedure("p", "generic", "y"))),
    )
    .await
    .unwrap();
    record_claim(&*memory, &scope, MemoryClaim::Insight(Box::new(insight("i", "r1", "No."))))
        .await
        .unwrap();
    memory.write_working_memory(&scope, 1, working("two")).await.unwrap();
    memory.write_summary(&scope, summary("later", &[])).await.unwrap();
    append_user_event(&*memory, &scope, "e3", "Paris, Paris, city of Paris.").await;
    assert_ne!(
        memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap(),
        then
    );

    let (read, found) = memory.load_build(&scope.subject(), "b1").await.unwrap().unwrap();
    assert_eq!(found, then);
    assert_eq!(read, build("b1", &request, &then));
    let elsewhere = build_scope("u2", "s1", "r1").subject();
    assert!(memory.load_build(&elsewhere, "b1").await.unwrap().is_none());
}

pub async fn a_build_whose_rows_are_gone_is_told(memory: Arc<dyn Memory>) {
    let scope = scope();
    let mut passing = build_user_event(&scope, "e1", "herons pass");
    passing.expires = Some(MemoryExpiry::Until(NOW));
    memory.append_events(vec![passing]).await.unwrap();
    let request = build_request(&scope, "herons");
    let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    memory.store_build(build("b1", &request, &found)).await.unwrap();
    let used = SweepOptions { run_ended: false, include_used: true };
    memory.sweep_expired(&scope, used, NOW.plus_millis(1)).await.unwrap();
    let gone = memory.load_build(&scope.subject(), "b1").await.unwrap_err();
    assert!(matches!(&gone, MemoryError::RowGone { id, .. } if id == "e1"), "{gone}");
    assert_eq!(gone.to_string(), "revision 1 of quote `e1` is no longer stored");
}

pub async fn the_same_build_twice_is_one(memory: Arc<dyn Memory>) {
    let request = build_request(&scope(), "anything");
    let one = build("b1", &request, &Candidates::default());
    memory.store_build(one.clone()).await.unwrap();
    memory.store_build(one.clone()).await.unwrap();
    let other = PacketBuild { digest: "sha256:1".to_owned(), ..one };
    let refused = memory.store_build(other).await.unwrap_err();
    assert_eq!(refused.to_string(), "build `b1` already exists with different content");
}

pub async fn the_build_before_is_of_the_same_session_and_purpose(memory: Arc<dyn Memory>) {
    let kept = async |id: &str, at: i64, session: &str, purpose| {
        let request =
            PacketRequest { purpose, ..build_request(&build_scope("u", session, "r1"), "x") };
        let built = PacketBuild {
            built_at: NOW.plus_millis(at),
            ..build(id, &request, &Candidates::default())
        };
        memory.store_build(built).await.unwrap();
    };
    kept("c", 3, "s1", PacketPurpose::Planner).await;
    kept("a", 1, "s1", PacketPurpose::Planner).await;
    kept("b", 2, "s1", PacketPurpose::Tool).await;
    kept("z", 2, "s2", PacketPurpose::Planner).await;
    let subject = scope().subject();
    let before = async |id| memory.find_previous_build(&subject, id).await.unwrap();
    assert_eq!(before("c").await.as_deref(), Some("a"));
    for first in ["a", "b", "z", "none"] {
        assert_eq!(before(first).await, None, "{first}");
    }
    assert_eq!(
        memory.find_previous_build(&build_scope("u2", "s1", "r1").subject(), "c").await.unwrap(),
        None
    );
}
