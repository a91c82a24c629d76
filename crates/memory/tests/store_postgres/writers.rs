//! Several who remember at once, on several machines as it were.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_memory::record::MemoryFact;
use countersign_memory::store::suite::sample::{
    NOW, append_user_event, build_scope, build_user_event, fact, record_fact, retrieve_candidates,
    scope, search_ids, working,
};
use countersign_memory::store::{
    EraseTarget, MemoryError, MemoryMaintenance as _, MemoryReader as _, MemoryWriter as _,
};
use countersign_shipped_contracts::memory::long_term::ScopeLevel;

use crate::site::Site;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_place_is_given_twice_and_no_write_is_lost() {
    let Some(site) = Site::fresh("no_place_is_given_twice").await else { return };
    let memories = [Arc::new(site.memory()), Arc::new(site.memory())];
    let writers = (0..8_usize).map(|writer| {
        let memory = Arc::clone(&memories[writer % 2]);
        tokio::spawn(async move {
            for number in 0..10 {
                let text = format!("heron number {number} of writer {writer}");
                append_user_event(&*memory, &scope(), &format!("e{writer}-{number}"), &text).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let session = memories[0].list_session_events(&scope(), 0, 1_000, NOW).await.unwrap();
    let positions: Vec<u32> = session.iter().map(|event| event.location.position).collect();
    assert_eq!(positions, (1..=80).collect::<Vec<_>>());
    let named: BTreeSet<&str> = session.iter().map(|event| &*event.id).collect();
    assert_eq!(named.len(), 80);
    assert_eq!(search_ids(&*memories[1], &scope(), "heron").await.len(), 10);
    assert_eq!(memories[0].find_scope_violations().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_who_write_a_state_wins() {
    let Some(site) = Site::fresh("one_of_many_who_write_a_state_wins").await else { return };
    let memories = [Arc::new(site.memory()), Arc::new(site.memory())];
    for expected in 0..5 {
        let writers = (0..6_usize).map(|writer| {
            let memory = Arc::clone(&memories[writer % 2]);
            tokio::spawn(async move {
                memory.write_working_memory(&scope(), expected, working(&format!("{writer}"))).await
            })
        });
        let mut won = 0;
        for writer in writers.collect::<Vec<_>>() {
            match writer.await.unwrap() {
                Ok(version) => {
                    won += 1;
                    assert_eq!(version, expected + 1);
                }
                Err(MemoryError::Conflict { found, .. }) => assert_eq!(found, expected + 1),
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_several_claim_of_a_tenant_is_ruled_on_one_by_one() {
    let Some(site) = Site::fresh("what_several_claim_of_a_tenant").await else { return };
    let memory = Arc::new(site.memory());
    let writers = (0..6).map(|writer: i64| {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move {
            let claim = fact(&format!("f{writer}"), "tone", writer);
            let claim = MemoryFact { level: ScopeLevel::Tenant, valid_from: Some(NOW), ..claim };
            record_fact(&*memory, &build_scope(&format!("u{writer}"), "s", "r"), claim).await;
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let seen = retrieve_candidates(&*memory, &build_scope("u0", "s", "r"), "").await;
    assert_eq!(seen.facts.len(), 6);
    let statuses: BTreeSet<String> =
        seen.facts.iter().map(|one| format!("{:?}", one.row.status)).collect();
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), ["Disputed"], "all contradict each other");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_is_forgotten_while_they_speak_is_forgotten_or_begins_anew() {
    let Some(site) = Site::fresh("who_is_forgotten_while_they_speak").await else { return };
    let memory = Arc::new(site.memory());
    append_user_event(&*memory, &scope(), "e0", "a heron").await;
    let speaking = {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move {
            for number in 1..40 {
                let event = build_user_event(&scope(), &format!("e{number}"), "a heron");
                memory.append_events(vec![event]).await.unwrap();
            }
        })
    };
    memory.forget(EraseTarget::Subject(scope().subject()), NOW).await.unwrap();
    speaking.await.unwrap();
    assert_eq!(memory.find_scope_violations().await.unwrap(), []);
    let refused = memory.append_events(vec![build_user_event(&scope(), "e0", "a heron")]).await;
    assert!(matches!(refused, Err(MemoryError::Refused(_))), "{refused:?}");
    let session = memory.list_session_events(&scope(), 0, 100, NOW).await.unwrap();
    let positions: Vec<u32> = session.iter().map(|event| event.location.position).collect();
    assert_eq!(positions, (1..=session.len() as u32).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_was_cut_is_made_again() {
    let Some(site) = Site::fresh("a_connection_that_was_cut_is_made_again").await else { return };
    let memory = site.memory();
    append_user_event(&memory, &scope(), "e1", "a heron").await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let admin = site.admin().await;
    for number in 2..5 {
        admin.batch_execute(cut).await.unwrap();
        append_user_event(&memory, &scope(), &format!("e{number}"), "a heron").await;
        admin.batch_execute(cut).await.unwrap();
        assert_eq!(search_ids(&memory, &scope(), "heron").await.len(), number);
    }
}
