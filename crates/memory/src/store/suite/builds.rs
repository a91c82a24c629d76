//! Cases: what a build was made of can be read again.

use std::sync::Arc;

use countersign_contracts::memory::meta::Purpose;
use serde_json::json;

use super::sample::{
    NOW, ask, episode, fact, insight, keep, keep_fact, on, procedure, said, scope, summary, tell,
    within, working,
};
use crate::record::{Claim, Expiry, Fact};
use crate::store::{Build, BuildRow, Limits, Memory, MemoryError, Sweep};
use crate::{Found, Request};

pub(super) fn build(id: &str, request: &Request, found: &Found) -> Build {
    Build {
        id: id.to_owned(),
        request: request.clone(),
        policy: json!({"id": "default"}),
        tokenizer: "chars/4".to_owned(),
        digest: "sha256:0".to_owned(),
        built_at: NOW,
        rows: BuildRow::of(request, found, |_, id| id == "f1"),
        cut: Vec::new(),
        seen_insights: Vec::new(),
    }
}

pub async fn a_build_is_read_as_it_was_found(memory: Arc<dyn Memory>) {
    let scope = scope();
    tell(&*memory, &scope, "e1", "I live in Paris.").await;
    tell(&*memory, &scope, "e2", "The city is loud.").await;
    keep_fact(&*memory, &scope, on(fact("f1", "city", "Paris"), "e1", Some("Paris"))).await;
    keep(&*memory, &scope, Claim::Episode(Box::new(episode("ep", "A move.", &["e1"]))))
        .await
        .unwrap();
    keep(&*memory, &scope, Claim::Procedure(Box::new(procedure("p", "generic", "x"))))
        .await
        .unwrap();
    keep(&*memory, &scope, Claim::Insight(Box::new(insight("i", "r1", "Noise?")))).await.unwrap();
    memory.write_working(&scope, 0, working("one")).await.unwrap();
    memory.write_summary(&scope, summary("so far", &["e2"])).await.unwrap();
    let request = ask(&scope, "city Paris");
    let then = memory.found(&request, Limits::default()).await.unwrap();
    assert!(!then.quotes.is_empty() && !then.facts.is_empty() && !then.evidence.is_empty());
    memory.keep_build(build("b1", &request, &then)).await.unwrap();

    // Everything changes.
    let newer = Fact { valid_from: Some(NOW), ..fact("f2", "city", "Rome") };
    keep_fact(&*memory, &scope, newer).await;
    keep(&*memory, &scope, Claim::Episode(Box::new(episode("ep", "Moved.", &[])))).await.unwrap();
    keep(&*memory, &scope, Claim::Procedure(Box::new(procedure("p", "generic", "y"))))
        .await
        .unwrap();
    keep(&*memory, &scope, Claim::Insight(Box::new(insight("i", "r1", "No.")))).await.unwrap();
    memory.write_working(&scope, 1, working("two")).await.unwrap();
    memory.write_summary(&scope, summary("later", &[])).await.unwrap();
    tell(&*memory, &scope, "e3", "Paris, Paris, city of Paris.").await;
    assert_ne!(memory.found(&request, Limits::default()).await.unwrap(), then);

    let (read, found) = memory.build(&scope.subject(), "b1").await.unwrap().unwrap();
    assert_eq!(found, then);
    assert_eq!(read, build("b1", &request, &then));
    let elsewhere = within("u2", "s1", "r1").subject();
    assert!(memory.build(&elsewhere, "b1").await.unwrap().is_none());
}

pub async fn a_build_whose_rows_are_gone_is_told(memory: Arc<dyn Memory>) {
    let scope = scope();
    let mut passing = said(&scope, "e1", "herons pass");
    passing.expires = Some(Expiry::At(NOW));
    memory.remember(vec![passing]).await.unwrap();
    let request = ask(&scope, "herons");
    let found = memory.found(&request, Limits::default()).await.unwrap();
    memory.keep_build(build("b1", &request, &found)).await.unwrap();
    let used = Sweep { run_ended: false, used: true };
    memory.sweep(&scope, used, NOW.after(1)).await.unwrap();
    let gone = memory.build(&scope.subject(), "b1").await.unwrap_err();
    assert!(matches!(&gone, MemoryError::Gone { id, .. } if id == "e1"), "{gone}");
    assert_eq!(gone.to_string(), "quote `e1` in revision 1 is not kept any more");
}

pub async fn the_same_build_twice_is_one(memory: Arc<dyn Memory>) {
    let request = ask(&scope(), "anything");
    let one = build("b1", &request, &Found::default());
    memory.keep_build(one.clone()).await.unwrap();
    memory.keep_build(one.clone()).await.unwrap();
    let other = Build { digest: "sha256:1".to_owned(), ..one };
    let refused = memory.keep_build(other).await.unwrap_err();
    assert_eq!(refused.to_string(), "build `b1` is there already and says something else");
}

pub async fn the_build_before_is_of_the_same_session_and_purpose(memory: Arc<dyn Memory>) {
    let kept = async |id: &str, at: i64, session: &str, purpose| {
        let request = Request { purpose, ..ask(&within("u", session, "r1"), "x") };
        let built = Build { built_at: NOW.after(at), ..build(id, &request, &Found::default()) };
        memory.keep_build(built).await.unwrap();
    };
    kept("c", 3, "s1", Purpose::Planner).await;
    kept("a", 1, "s1", Purpose::Planner).await;
    kept("b", 2, "s1", Purpose::Tool).await;
    kept("z", 2, "s2", Purpose::Planner).await;
    let subject = scope().subject();
    let before = async |id| memory.build_before(&subject, id).await.unwrap();
    assert_eq!(before("c").await.as_deref(), Some("a"));
    for first in ["a", "b", "z", "none"] {
        assert_eq!(before(first).await, None, "{first}");
    }
    assert_eq!(memory.build_before(&within("u2", "s1", "r1").subject(), "c").await.unwrap(), None);
}
