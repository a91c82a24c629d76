//! What the tables hold, and what they are still known for when a program with other rules has written them.

use countersign_memory::store::suite::canaries::{needles, plant};
use countersign_memory::store::suite::sample::{
    NOW, append_user_event, build_scope, fact, record_fact, retrieve_candidates, scope, search_ids,
    with_evidence, working,
};
use countersign_memory::store::{EphemeralMemory, EraseTarget, PostgresMemory};
use countersign_memory::store::{MemoryMaintenance as _, MemoryWriter as _, PacketBuildStore as _};
use countersign_postgres::{PgConnectOptions, PgServer};
use countersign_store::PostgresSettings;

use crate::site::Site;

/// One event by one and the walk of the reference give the same answers, blocks and all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_answers_as_the_reference_does() {
    let Some(site) = Site::fresh("the_index_answers_as_the_reference_does").await else { return };
    let (kept, reference) = (site.memory(), EphemeralMemory::new());
    let words =
        ["river", "stone", "lamps", "orchards", "violin", "harbour", "ладья", "山脉", "화물"];
    let mut state = 7_usize;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut events = Vec::new();
    for number in 0..900 {
        let scope = build_scope("u", &format!("s{}", next() % 5), "r");
        let text: Vec<&str> = (0..=next() % 7).map(|_| words[next() % words.len()]).collect();
        let event = countersign_memory::store::NewMemoryEvent::from_user_message(
            scope,
            format!("e{number}"),
            text.join(" "),
            NOW,
        );
        events.push(event);
    }
    for some in events.chunks(17) {
        kept.append_events(some.to_vec()).await.unwrap();
        reference.append_events(some.to_vec()).await.unwrap();
    }
    let scope = build_scope("u", "s1", "r");
    for one in words {
        for other in [words[0], words[6]] {
            let question = format!("{one} {other}");
            assert_eq!(
                retrieve_candidates(&kept, &scope, &question).await,
                retrieve_candidates(&reference, &scope, &question).await,
                "{question}"
            );
        }
    }
    let blocks = "SELECT count(*) FROM countersign.memory_postings";
    let blocks: i64 = site.admin().await.query_one(blocks, &[]).await.unwrap().get(0);
    assert!(blocks > 9, "{blocks}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_of_other_rules_is_made_anew() {
    let Some(site) = Site::fresh("an_index_of_other_rules_is_made_anew").await else { return };
    let memory = site.memory();
    for user in ["u", "u2"] {
        append_user_event(&memory, &build_scope(user, "s1", "r1"), "e1", "herons by the lake")
            .await;
    }
    let then = retrieve_candidates(&memory, &scope(), "lake").await;
    drop(memory);
    // As a program with other rules would have left it.
    let spoil = "UPDATE countersign.memory_subjects SET index_version = 'terms-0/1', events = 7;
        UPDATE countersign.memory_terms SET term = 'lakes' WHERE term = 'lake'";
    let admin = site.admin().await;
    admin.batch_execute(spoil).await.unwrap();
    assert_eq!(retrieve_candidates(&site.memory(), &scope(), "lake").await, then);
    let old = "SELECT count(*) FROM countersign.memory_terms WHERE term = 'lakes'";
    assert_eq!(admin.query_one(old, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_in_the_wrong_place_is_told() {
    let Some(site) = Site::fresh("a_row_in_the_wrong_place_is_told").await else { return };
    let memory = site.memory();
    for user in ["u1", "u2"] {
        let scope = build_scope(user, "s", "r");
        append_user_event(&memory, &scope, "e1", "words").await;
        record_fact(&memory, &scope, with_evidence(fact("f1", "k", "v"), "e1", None)).await;
        memory.write_working_memory(&scope, 0, working("g")).await.unwrap();
    }
    assert_eq!(memory.find_scope_violations().await.unwrap(), []);
    let wrongs = [
        "UPDATE countersign.memory_fact_evidence SET source = 3 - source WHERE subject = 1",
        "UPDATE countersign.memory_events SET subject = 2, id = 'moved', position = 9
            WHERE subject = 1",
        "UPDATE countersign.memory_terms SET subject = 99 WHERE subject = 1",
        "UPDATE countersign.memory_sessions SET number = 5 WHERE subject = 2",
        "UPDATE countersign.memory_wm_state SET tenant = 'elsewhere' WHERE subject = 1",
    ];
    let admin = site.admin().await;
    for sql in wrongs {
        assert!(admin.execute(sql, &[]).await.unwrap() > 0, "{sql}");
    }
    let told = memory.find_scope_violations().await.unwrap();
    let mut told: Vec<(&str, &str)> =
        told.iter().map(|one| (one.table.as_str(), one.problem.as_str())).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!(
        told,
        [
            ("events", "it is stored under another owner than it names"),
            ("events", "it is stored under another session than it names"),
            ("fact_evidence", "it cites an event outside its level"),
            ("terms", "it has no subject"),
            ("wm_state", "it has no subject"),
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_database_cannot_hold_is_held_all_the_same() {
    let Some(site) = Site::fresh("what_a_database_cannot_hold").await else { return };
    let memory = site.memory();
    let long = "heronry".repeat(2_000);
    let text = format!("a NUL \0 stands here, and \\ and {long}");
    append_user_event(&memory, &scope(), "e1", &text).await;
    let claim = fact("f1", "key ".repeat(2_000).trim(), "v\0");
    record_fact(&memory, &scope(), with_evidence(claim, "e1", Some("NUL \0 stands"))).await;
    let seen = retrieve_candidates(&memory, &scope(), &format!("stands {long}")).await;
    assert_eq!(seen.quotes[0].row.text, text);
    assert_eq!(seen.facts[0].row.evidence[0].quote.as_deref(), Some("NUL \0 stands"));
    let nothing = memory.load_build(&scope().subject(), "b\0").await.unwrap();
    assert!(nothing.is_none());
    let mut nobody = scope().subject();
    nobody.user = "u\0".to_owned();
    assert!(memory.export(&nobody).await.unwrap().is_empty());
    let needle = memory.scan_residue(vec![b"NUL \0 stands".to_vec()]).await.unwrap();
    let places: Vec<&str> = needle.iter().map(|trace| &*trace.location).collect();
    assert_eq!(
        places,
        ["countersign.memory_events.body", "countersign.memory_fact_evidence.quote"]
    );
    memory.forget(EraseTarget::Subject(scope().subject()), NOW).await.unwrap();
    assert!(search_ids(&memory, &scope(), "stands").await.is_empty());
}

/// A role that works and owns nothing: it may do everything but have the tables swept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_owns_nothing_remembers_and_forgets() {
    let Some(site) = Site::fresh("a_role_that_owns_nothing").await else { return };
    site.memory().find_scope_violations().await.unwrap();
    let role = format!("w_{}", std::process::id());
    let grants = format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA countersign TO {role};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA countersign TO {role}"
    );
    let admin = site.admin().await;
    admin.batch_execute(&grants).await.unwrap();
    let url = site.url().replace(&format!("{}@", site.role()), &format!("{role}@"));
    let server = PgServer::parse(&url, &PgConnectOptions::default()).unwrap();
    let memory = PostgresMemory::new(server, PostgresSettings::default());
    plant(&memory, &scope()).await;
    assert!(!memory.scan_residue(needles()).await.unwrap().is_empty());
    memory.forget(EraseTarget::Subject(scope().subject()), NOW).await.unwrap();
    assert_eq!(memory.scan_residue(needles()).await.unwrap(), []);
    drop(memory);
    let gone = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    admin.batch_execute(&gone).await.unwrap();
}
