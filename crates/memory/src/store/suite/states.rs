//! Cases: the working state of a run and the summary of a session.

use std::sync::Arc;

use super::sample::{
    NOW, append_user_event, build_scope, build_user_event, insight, record_claim,
    retrieve_candidates, scope, summary, working,
};
use crate::record::{MemoryClaim, MemoryEvent, MemoryExpiry, MemoryOrigin, SpeakerRole};
use crate::store::{Memory, MemoryError};
use crate::summarize::SummaryInput;

pub async fn one_of_two_writers_is_told(memory: Arc<dyn Memory>) {
    let scope = scope();
    assert_eq!(memory.write_working_memory(&scope, 0, working("one")).await.unwrap(), 1);
    assert_eq!(memory.write_working_memory(&scope, 1, working("two")).await.unwrap(), 2);
    for seen in [0, 1, 3] {
        let late = memory.write_working_memory(&scope, seen, working("late")).await.unwrap_err();
        let MemoryError::Conflict { expected, found } = late else { panic!("{late}") };
        assert_eq!((expected, found), (seen, 2));
    }
    let state = retrieve_candidates(&*memory, &scope, "").await.working_memory.unwrap().state;
    assert_eq!((state.goal.as_deref(), state.state_version), (Some("two"), 2));
    let writers = (0..8).map(|n| {
        let (memory, scope) = (Arc::clone(&memory), scope.clone());
        tokio::spawn(async move {
            memory.write_working_memory(&scope, 2, working(&format!("writer {n}"))).await.is_ok()
        })
    });
    let mut won = 0;
    for writer in writers.collect::<Vec<_>>() {
        won += u32::from(writer.await.unwrap());
    }
    assert_eq!(won, 1);
}

pub async fn a_summary_is_kept_by_revision(memory: Arc<dyn Memory>) {
    append_user_event(&*memory, &scope(), "e1", "words").await;
    assert_eq!(memory.write_summary(&scope(), summary("one", &[])).await.unwrap(), 1);
    assert_eq!(memory.write_summary(&scope(), summary("one", &[])).await.unwrap(), 1);
    assert_eq!(memory.write_summary(&scope(), summary("two", &["e1"])).await.unwrap(), 2);
    let refused = memory.write_summary(&scope(), summary("two", &["e9"])).await.unwrap_err();
    assert_eq!(refused.to_string(), "it cites event `e9`, which does not exist");
    let found = retrieve_candidates(&*memory, &scope(), "").await;
    assert_eq!(found.summary.unwrap().text, "two");
    assert_eq!(found.quotes[0].row.id, "e1");
}

pub async fn states_belong_to_their_run_and_session(memory: Arc<dyn Memory>) {
    memory.write_working_memory(&scope(), 0, working("ours")).await.unwrap();
    memory.write_summary(&scope(), summary("ours", &[])).await.unwrap();
    let other_run = retrieve_candidates(&*memory, &build_scope("u", "s1", "r2"), "").await;
    assert_eq!((other_run.working_memory.is_some(), other_run.summary.is_some()), (false, true));
    let other_session = retrieve_candidates(&*memory, &build_scope("u", "s2", "r1"), "").await;
    assert_eq!(
        (other_session.working_memory.is_some(), other_session.summary.is_some()),
        (true, false)
    );
    let other_user = retrieve_candidates(&*memory, &build_scope("u2", "s1", "r1"), "").await;
    assert_eq!((other_user.working_memory.is_some(), other_user.summary.is_some()), (false, false));
}

pub async fn the_latest_state_of_a_run_is_read_alone(memory: Arc<dyn Memory>) {
    assert_eq!(memory.load_working_memory(&scope()).await.unwrap(), None);
    memory.write_working_memory(&scope(), 0, working("one")).await.unwrap();
    memory.write_working_memory(&scope(), 1, working("two")).await.unwrap();
    let latest = memory.load_working_memory(&scope()).await.unwrap();
    assert_eq!(latest, retrieve_candidates(&*memory, &scope(), "").await.working_memory);
    assert_eq!(latest.unwrap().state.state_version, 2);
    assert_eq!(memory.load_working_memory(&build_scope("u", "s1", "r2")).await.unwrap(), None);
    assert_eq!(memory.load_working_memory(&build_scope("u2", "s1", "r1")).await.unwrap(), None);
}

pub async fn a_summary_is_made_of_what_is_new_and_what_it_kept(memory: Arc<dyn Memory>) {
    let scope = scope();
    assert_eq!(memory.load_summary_input(&scope, NOW).await.unwrap(), SummaryInput::default());
    for number in 1..=3 {
        append_user_event(&*memory, &scope, &format!("e{number}"), &format!("words {number}"))
            .await;
    }
    append_user_event(&*memory, &build_scope("u", "s2", "r1"), "other", "another session").await;
    let mut passing = build_user_event(&scope, "p", "what ends with the run");
    passing.expires = Some(MemoryExpiry::RunEnd);
    memory.append_events(vec![passing]).await.unwrap();
    let ids = |events: &[MemoryEvent]| events.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
    let material = memory.load_summary_input(&scope, NOW).await.unwrap();
    assert_eq!(
        (ids(&material.new_events), material.last_position),
        (vec!["e1".into(), "e2".into(), "e3".into()], 4)
    );
    assert!(material.is_by_rules());
    let mut told = summary("words 2", &[]);
    (told.sources, told.written_by, told.covered_position) =
        (vec!["e2".to_owned()], Some("rules".to_owned()), 4);
    memory.write_summary(&scope, told.clone()).await.unwrap();
    append_user_event(&*memory, &scope, "e4", "words 4").await;
    let material = memory.load_summary_input(&scope, NOW).await.unwrap();
    assert_eq!(
        (ids(&material.summarized_events), ids(&material.new_events)),
        (vec!["e2".into()], vec!["e4".into()])
    );
    assert!(material.is_by_rules());
    // A packet cites the events that its summary covers.
    let evidence = retrieve_candidates(&*memory, &scope, "").await.evidence;
    assert!(evidence.contains_key("e2"), "{evidence:?}");
    told.sources = vec!["nowhere".to_owned()];
    let refused = memory.write_summary(&scope, told).await.unwrap_err();
    assert_eq!(refused.to_string(), "it cites event `nowhere`, which does not exist");
    memory.write_summary(&scope, summary("by hand", &[])).await.unwrap();
    assert!(!memory.load_summary_input(&scope, NOW).await.unwrap().is_by_rules());
}

pub async fn a_summary_is_made_without_unvalidated_insights(memory: Arc<dyn Memory>) {
    let (scope, other_run) = (scope(), build_scope("u", "s1", "r2"));
    // An insight of another run of the session, repeated by the model and also said by the user.
    let guess = insight("i1", "r2", "Bob may like tofu");
    record_claim(&*memory, &other_run, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    let mut model = build_user_event(&scope, "m", "I think that Bob may like tofu!");
    (model.role, model.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
    memory
        .append_events(vec![model, build_user_event(&scope, "u", "Bob may like tofu")])
        .await
        .unwrap();
    let material = memory.load_summary_input(&scope, NOW).await.unwrap();
    let ids: Vec<&str> = material.new_events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["u"], "what a user says is theirs");
    assert_eq!(material.unvalidated_insights, ["bob may like tofu"]);
}
