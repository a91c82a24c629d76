//! What is special to a memory in `SQLite`: the file outlives the process, and its bytes can be read.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use countersign_memory::store::suite::canaries::{CANARIES, needles, plant};
use countersign_memory::store::suite::sample::{
    NOW, append_user_event, build_request, build_scope, fact, record_fact, retrieve_candidates,
    scope, search_ids, with_evidence,
};
use countersign_memory::store::{
    BuildRow, EraseTarget, Memory, MemoryMaintenance as _, MemoryReader as _, PacketBuild,
    PacketBuildStore as _, RetrievalLimits, SqliteMemory,
};
use countersign_store::SqliteStore;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    (folder, file)
}

fn bytes(path: &Path) -> Vec<u8> {
    let mut all = fs::read(path).unwrap();
    for ending in ["db-wal", "db-shm"] {
        all.extend(fs::read(path.with_extension(ending)).unwrap_or_default());
    }
    all
}

fn has(path: &Path, needle: &str) -> bool {
    bytes(path).windows(needle.len()).any(|part| part == needle.as_bytes())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_kept_is_there_when_the_file_is_opened_again() {
    let (_folder, file) = place();
    let memory = SqliteMemory::open(&file).unwrap();
    append_user_event(&memory, &scope(), "e1", "I live in Paris.").await;
    record_fact(&memory, &scope(), with_evidence(fact("f1", "city", "Paris"), "e1", Some("Paris")))
        .await;
    let request = build_request(&scope(), "Paris");
    let then = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    let build = PacketBuild {
        id: "b1".to_owned(),
        request: request.clone(),
        policy: json!({"shares": [0.1, 0.300_000_000_000_000_04]}),
        tokenizer: "chars/4".to_owned(),
        digest: "sha256:0".to_owned(),
        built_at: NOW,
        rows: BuildRow::collect_rows(&request, &then, |_, _| true),
        truncations: Vec::new(),
        seen_insights: Vec::new(),
    };
    memory.store_build(build.clone()).await.unwrap();
    drop(memory);
    Connection::open(&file).unwrap().execute_batch("VACUUM").unwrap();

    let memory = SqliteMemory::open(&file).unwrap();
    assert_eq!(
        memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap(),
        then
    );
    let (read, found) = memory.load_build(&scope().subject(), "b1").await.unwrap().unwrap();
    assert_eq!((read, found), (build, then));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forgetting_leaves_no_byte() {
    let (_folder, file) = place();
    let memory = SqliteMemory::open(&file).unwrap();
    let scope = build_scope(CANARIES[4], CANARIES[0], CANARIES[1]);
    append_user_event(&memory, &build_scope("other", "s", "r"), "e1", "sparrows").await;
    plant(&memory, &scope).await;
    for canary in CANARIES {
        assert!(has(&file, canary), "{canary} was planted");
    }
    memory.forget(EraseTarget::Subject(scope.subject()), NOW).await.unwrap();
    for needle in needles() {
        let needle = String::from_utf8(needle).unwrap();
        assert!(!has(&file, &needle), "{needle}");
    }
    assert!(has(&file, "sparrows"));
    drop(memory);
    for canary in CANARIES {
        assert!(!has(&file, canary), "{canary} after closing");
    }
}

/// What the scan would say if rows were only deleted: that it looks in the right place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_delete_leaves_bytes_and_the_scan_finds_them() {
    let (_folder, file) = place();
    let memory = SqliteMemory::open(&file).unwrap();
    let scope = build_scope(CANARIES[4], CANARIES[0], CANARIES[1]);
    plant(&memory, &scope).await;
    drop(memory);
    let db = Connection::open(&file).unwrap();
    db.pragma_update(None, "foreign_keys", false).unwrap();
    db.pragma_update(None, "secure_delete", false).unwrap();
    let mut tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for name in names.map(Result::unwrap).filter(|name| name != "migrations") {
        db.execute(&format!("DELETE FROM {name}"), []).unwrap();
    }
    drop(tables);
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);

    let memory = SqliteMemory::open(&file).unwrap();
    assert!(memory.export(&scope.subject()).await.unwrap().is_empty());
    let traces = memory.scan_residue(needles()).await.unwrap();
    for canary in 0..CANARIES.len() {
        assert!(traces.iter().any(|trace| trace.needle == canary), "{canary}: {traces:?}");
    }
    // A crash between deleting and rebuilding is mended by asking again.
    memory.forget(EraseTarget::Subject(scope.subject()), NOW).await.unwrap();
    assert_eq!(memory.scan_residue(needles()).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_in_the_wrong_place_is_told() {
    let (_folder, file) = place();
    let memory = SqliteMemory::open(&file).unwrap();
    for user in ["u1", "u2"] {
        let scope = build_scope(user, "s", "r");
        append_user_event(&memory, &scope, "e1", "words").await;
        record_fact(&memory, &scope, with_evidence(fact("f1", "k", "v"), "e1", None)).await;
    }
    assert_eq!(memory.find_scope_violations().await.unwrap(), []);
    let db = Connection::open(&file).unwrap();
    db.pragma_update(None, "foreign_keys", false).unwrap();
    let wrongs = [
        "UPDATE fact_evidence SET source = 3 - source WHERE subject = 1",
        "UPDATE events SET subject = 2, id = 'moved', position = 9 WHERE subject = 1",
        "UPDATE terms SET subject = 99 WHERE subject = 1",
    ];
    for sql in wrongs {
        assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
    }
    let mut told: Vec<String> =
        memory.find_scope_violations().await.unwrap().into_iter().map(|one| one.table).collect();
    told.sort();
    told.dedup();
    assert_eq!(told, ["events", "fact_evidence", "terms"]);
}

#[tokio::test]
async fn the_log_of_runs_is_another_file() {
    let (_folder, file) = place();
    drop(SqliteStore::open(&file).unwrap());
    let refused = SqliteMemory::open(&file).unwrap_err();
    assert!(refused.to_string().starts_with("the file is a database of another program"));
}

/// One event by one and the walk of the reference give the same answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_answers_as_the_reference_does() {
    use countersign_memory::store::EphemeralMemory;

    let (_folder, file) = place();
    let (kept, reference) = (SqliteMemory::open(&file).unwrap(), EphemeralMemory::new());
    let words =
        ["river", "stone", "lamps", "orchards", "violin", "harbour", "ладья", "山脉", "화물"];
    let memories: [&dyn Memory; 2] = [&kept, &reference];
    let mut state = 7_usize;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for number in 0..400 {
        let scope = build_scope("u", &format!("s{}", next() % 5), "r");
        let text: Vec<&str> = (0..=next() % 7).map(|_| words[next() % words.len()]).collect();
        for memory in memories {
            append_user_event(memory, &scope, &format!("e{number}"), &text.join(" ")).await;
        }
    }
    let scope = build_scope("u", "s1", "r");
    for one in words {
        for other in words {
            let question = format!("{one} {other}");
            assert_eq!(
                retrieve_candidates(&kept, &scope, &question).await,
                retrieve_candidates(&reference, &scope, &question).await,
                "{question}"
            );
        }
    }
    assert_eq!(search_ids(&kept, &scope, "violin").await.len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_of_other_rules_is_made_anew_when_the_file_is_opened() {
    let (_folder, file) = place();
    let memory = SqliteMemory::open(&file).unwrap();
    for number in 0..1_200 {
        let user = if number % 2 == 0 { "u" } else { "u2" };
        append_user_event(
            &memory,
            &build_scope(user, "s1", "r1"),
            &format!("e{number}"),
            "herons by the lake",
        )
        .await;
    }
    append_user_event(&memory, &scope(), "last", "a single kingfisher").await;
    let hits = async |memory: &SqliteMemory, words: &str| {
        let hits = memory.search_events(&build_request(&scope(), words), 20).await.unwrap();
        hits.into_iter().map(|hit| (hit.row.id, hit.score)).collect::<Vec<_>>()
    };
    let then = (hits(&memory, "kingfisher herons").await, hits(&memory, "lake").await);
    assert_eq!(then.0[0].0, "last");
    drop(memory);
    // As a program with other rules would have left it.
    let db = Connection::open(&file).unwrap();
    let version = |db: &Connection| -> String {
        db.query_row("SELECT version FROM index_version", [], |row| row.get(0)).unwrap()
    };
    let current = version(&db);
    db.execute_batch(
        "UPDATE index_version SET version = 'terms-0/1';
        DELETE FROM postings; DELETE FROM terms WHERE term <> 'lake';
        UPDATE terms SET term = 'lakes'; UPDATE subjects SET events = 7, terms = 7;",
    )
    .unwrap();
    drop(db);
    let memory = SqliteMemory::open(&file).unwrap();
    assert_eq!((hits(&memory, "kingfisher herons").await, hits(&memory, "lake").await), then);
    assert_eq!(version(&Connection::open(&file).unwrap()), current);
    let terms: i64 = Connection::open(&file)
        .unwrap()
        .query_row("SELECT count(*) FROM terms WHERE term = 'lakes'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(terms, 0, "nothing of the old one is left");
}
