//! `SQLite` as a source: what it finds, what it refuses, and that nothing is ever written.

use std::path::Path;

use crate::asking::{Asking, refs};
use countersign_runtime::effect::EffectErrorKind;
use rusqlite::Connection;
use serde_json::{Value, json};

const SCRIPT: &str = "
CREATE TABLE tasks (id TEXT PRIMARY KEY, project TEXT, title TEXT, hours REAL, done INTEGER);
INSERT INTO tasks VALUES
  ('T-1', 'Atlas', 'Plan', 2.5, 1),
  ('T-2', 'Atlas', 'Build; test', 8, 0),
  ('T-3', 'Beacon', 'Скан', 1, 0);
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("make.sql"), SCRIPT).unwrap();
    let db = Connection::open(folder.path().join("tasks.db")).unwrap();
    db.execute_batch(SCRIPT).unwrap();
    folder
}

fn queries() -> Value {
    json!({
        "of_project": {
            "about": "The tasks of a project.",
            "sql": "SELECT id, title, hours FROM tasks WHERE project = :project ORDER BY id;",
            "params": { "project": "text" },
            "key": "id",
        },
        "open": {
            "sql": "SELECT count(*) AS open FROM tasks
                    WHERE done = :done AND (:least IS NULL OR hours >= :least)",
            "params": { "done": "boolean", "least": { "type": "number", "optional": true } },
            "confidence": 1,
        },
    })
}

fn from_script(folder: &Path, queries: &Value) -> Asking {
    Asking::of(
        "db",
        "sqlite",
        &json!({ "kind": "sqlite", "script": "make.sql", "queries": queries }),
        folder,
    )
}

fn from_file(folder: &Path, queries: &Value) -> Asking {
    Asking::of("db", "sqlite", &json!({ "path": "tasks.db", "queries": queries }), folder)
}

#[tokio::test]
async fn rows_are_evidence() {
    let folder = folder();
    for source in [from_script(folder.path(), &queries()), from_file(folder.path(), &queries())] {
        let query = json!({ "query": "of_project", "params": { "project": "Atlas" } });
        assert_eq!(
            source.ask(query).await.unwrap(),
            json!({
                "items": [
                    {
                        "source": "db",
                        "ref": "query:of_project?project=Atlas#id=T-1",
                        "snippet": "id: T-1; title: Plan; hours: 2.5",
                        "confidence": 0.9,
                    },
                    {
                        "source": "db",
                        "ref": "query:of_project?project=Atlas#id=T-2",
                        "snippet": "id: T-2; title: Build; test; hours: 8.0",
                        "confidence": 0.9,
                    },
                ],
                "data": [
                    { "id": "T-1", "title": "Plan", "hours": 2.5 },
                    { "id": "T-2", "title": "Build; test", "hours": 8.0 },
                ],
                "truncated": false,
                "skipped": [],
            })
        );
        let answer =
            source.ask(json!({ "query": "open", "params": { "done": false } })).await.unwrap();
        assert_eq!(answer["data"], json!([{ "open": 2 }]));
        assert_eq!(refs(&answer), ["query:open?done=false#row=1"]);
        assert_eq!(answer["items"][0]["confidence"], 1.0);
        let few = json!({ "query": "open", "params": { "done": false, "least": 5 } });
        assert_eq!(source.ask(few).await.unwrap()["data"], json!([{ "open": 1 }]));
        let none = json!({ "query": "of_project", "params": { "project": "Nobody" } });
        assert_eq!(source.ask(none).await.unwrap()["items"], json!([]), "asked, and nothing there");
    }
}

#[tokio::test]
async fn a_question_that_does_not_fit_is_refused() {
    let folder = folder();
    let source = from_script(folder.path(), &queries());
    for (query, said) in [
        (json!("SELECT 1"), "is not an object with `query` and `params`"),
        (json!({ "sql": "SELECT 1" }), "is not an object with `query` and `params`"),
        (json!({ "query": "opem" }), "(of_project, open); did you mean `open`?"),
        (json!({ "query": "of_project" }), "`of_project` lacks the parameter `project`"),
        (
            json!({ "query": "of_project", "params": { "project": "a", "x; DROP TABLE tasks": 1 } }),
            "has an undeclared parameter (declared: project): number 2",
        ),
        (
            json!({ "query": "of_project", "params": { "project": 5 } }),
            "has a parameter `project` that is not a string of at most 4000 bytes without NUL",
        ),
        (
            json!({ "query": "of_project", "params": { "project": null } }),
            "has a parameter `project` that is not a string",
        ),
        (
            json!({ "query": "open", "params": { "done": "false" } }),
            "has a parameter `done` that is not true or false",
        ),
        (json!({ "query": "open", "params": [] }), "is not an object with `query` and `params`"),
    ] {
        let (kind, text) = source.refused(query).await;
        assert_eq!(kind, EffectErrorKind::Invalid, "{text}");
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("DROP"), "what a caller wrote is not repeated: {text}");
    }
}

#[tokio::test]
async fn parameters_are_values_and_never_code() {
    let folder = folder();
    let source = from_file(folder.path(), &queries());
    for hostile in [
        "Atlas' OR '1'='1",
        "'; DROP TABLE tasks; --",
        "Atlas\" OR 1=1",
        "%",
        ":project",
        "Atlas\u{0}",
        "') UNION SELECT sql, 1, 1 FROM sqlite_schema --",
    ] {
        let query = json!({ "query": "of_project", "params": { "project": hostile } });
        match source.ask(query).await {
            Ok(answer) => assert_eq!(answer["items"], json!([]), "{hostile}"),
            Err(error) => assert_eq!(error.kind, EffectErrorKind::Invalid, "{hostile}"),
        }
    }
    let db = Connection::open(folder.path().join("tasks.db")).unwrap();
    let count: i64 = db.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
}

#[tokio::test]
async fn a_statement_that_does_more_than_read_is_refused() {
    let folder = folder();
    let before = std::fs::read(folder.path().join("tasks.db")).unwrap();
    for sql in [
        "DELETE FROM tasks",
        "INSERT INTO tasks (id) VALUES ('x') RETURNING id",
        "UPDATE tasks SET done = 1 RETURNING id",
        "WITH gone AS (SELECT 1) DELETE FROM tasks WHERE id IN gone RETURNING id",
        "WITH a AS (SELECT 1) INSERT INTO tasks (id) SELECT 'y' FROM a",
        "CREATE TABLE more (a)",
        "CREATE TEMP TABLE more AS SELECT 1",
        "DROP TABLE tasks",
        "ATTACH DATABASE 'other.db' AS other",
        "DETACH DATABASE main",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = 1",
        "PRAGMA table_info(tasks)",
        "SELECT name FROM pragma_table_info('tasks')",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "REINDEX",
        "SELECT load_extension('x.so')",
    ] {
        for make in [from_script, from_file] {
            let source = make(folder.path(), &json!({ "q": { "sql": sql } }));
            let (kind, text) = source.refused(json!({ "query": "q" })).await;
            assert_eq!(kind, EffectErrorKind::NotConfigured, "{sql}: {text}");
            assert!(text.contains("has a query `q` that"), "{sql}: {text}");
        }
    }
    assert_eq!(std::fs::read(folder.path().join("tasks.db")).unwrap(), before);
    let mut left: Vec<_> =
        folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["make.sql", "tasks.db"]);
}

#[tokio::test]
async fn a_declaration_that_makes_no_sense_is_told() {
    let folder = folder();
    let fails = async |settings: Value| {
        let (kind, text) = Asking::of("db", "sqlite", &settings, folder.path())
            .refused(json!({ "query": "q" }))
            .await;
        assert_eq!(kind, EffectErrorKind::NotConfigured, "{text}");
        text
    };
    let query = |query: Value| json!({ "script": "make.sql", "queries": { "q": query } });
    for (settings, said) in [
        (json!({}), "has no `path`, `path_env` or `script`"),
        (
            json!({ "path": "a.db", "script": "b.sql", "queries": {} }),
            "has both a file and a `script`",
        ),
        (json!({ "script": "make.sql" }), "has no `queries`"),
        (json!({ "script": "make.sql", "queries": {} }), "has no `queries`"),
        (
            json!({ "script": "make.sql", "querys": {} }),
            "`querys` that its kind does not support; did you mean `queries`?",
        ),
        (query(json!("SELECT 1")), "`q` that is not an object with `sql`"),
        (
            query(json!({ "sql": "SELECT 1; SELECT 2" })),
            "contains several statements; expected one",
        ),
        (query(json!({ "sql": "SELECT ?" })), "uses a parameter without a name"),
        (
            query(json!({ "sql": "SELECT :a" })),
            "uses the parameter `a`, which its `params` do not declare",
        ),
        (
            query(json!({ "sql": "SELECT 1", "params": { "a": "text" } })),
            "declares the parameter `a` and does not use it",
        ),
        (
            query(json!({ "sql": "SELECT :a", "params": { "a": "texts" } })),
            "has a parameter `a` without a type",
        ),
        (query(json!({ "sql": "SELECT 1", "sq": 1 })), "has an unknown field `sq`"),
        (query(json!({ "sql": "SELEC 1" })), "is refused:"),
        (query(json!({ "sql": "SELECT x FROM nowhere" })), "no such table: nowhere"),
        (query(json!({ "sql": "SELECT 1 AS a, 2 AS a" })), "returns the column `a` twice"),
        (query(json!({ "sql": "SELECT 1 AS a", "key": "b" })), "returns no column `b`"),
        (
            json!({ "path": "gone.db", "queries": { "q": { "sql": "SELECT 1" } } }),
            "has no file at its path",
        ),
        (
            json!({ "path": "make.sql", "queries": { "q": { "sql": "SELECT 1" } } }),
            "is not a SQLite database",
        ),
        (
            json!({ "script": "gone.sql", "queries": { "q": { "sql": "SELECT 1" } } }),
            "has no readable script",
        ),
        (
            json!({ "path_env": "COUNTERSIGN_NO_SUCH_VARIABLE", "queries": { "q": { "sql": "SELECT 1" } } }),
            "needs the variable `COUNTERSIGN_NO_SUCH_VARIABLE`, which is not set",
        ),
        (
            json!({ "script": "make.sql", "timeout": "2h", "queries": { "q": { "sql": "SELECT 1" } } }),
            "has a `timeout`",
        ),
    ] {
        let text = fails(settings).await;
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[tokio::test]
async fn a_path_that_leads_out_is_refused() {
    let folder = folder();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let outside = folder.path().join("tasks.db");
    let query = json!({ "q": { "sql": "SELECT 1 AS one" } });
    for path in [
        "../tasks.db",
        outside.to_str().unwrap(),
        "a/../../tasks.db",
        "a\\b",
        "file:tasks.db?mode=rw",
    ] {
        let settings = json!({ "path": path, "queries": query });
        let source = Asking::of("db", "sqlite", &settings, &inner);
        assert_eq!(source.refused(json!({ "query": "q" })).await.0, EffectErrorKind::NotConfigured);
    }
    for script in ["../make.sql", folder.path().join("make.sql").to_str().unwrap()] {
        let settings = json!({ "script": script, "queries": query });
        let source = Asking::of("db", "sqlite", &settings, &inner);
        assert_eq!(source.refused(json!({ "query": "q" })).await.0, EffectErrorKind::NotConfigured);
    }
    #[cfg(unix)]
    for (key, name) in [("path", "tasks.db"), ("script", "make.sql")] {
        std::os::unix::fs::symlink(folder.path().join(name), inner.join(name)).unwrap();
        let settings = json!({ key: name, "queries": query });
        let source = Asking::of("db", "sqlite", &settings, &inner);
        assert_eq!(source.refused(json!({ "query": "q" })).await.0, EffectErrorKind::NotConfigured);
    }
}

#[tokio::test]
async fn what_takes_too_long_is_ended() {
    let folder = folder();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS m FROM n";
    let settings = json!({
        "script": "make.sql",
        "timeout": "200ms",
        "queries": { "endless": { "sql": endless }, "quick": { "sql": "SELECT 1 AS one" } },
    });
    let source = Asking::of("db", "sqlite", &settings, folder.path());
    let (kind, text) = source.refused(json!({ "query": "endless" })).await;
    assert_eq!(kind, EffectErrorKind::TimedOut);
    assert_eq!(text, "source `db`: its query `endless` was stopped after its time limit of 200ms");
    assert!(source.ask(json!({ "query": "quick" })).await.is_ok(), "the next question is not late");
    std::fs::write(folder.path().join("endless.sql"), format!("CREATE TABLE t AS {endless};"))
        .unwrap();
    let settings = json!({ "script": "endless.sql", "queries": { "q": { "sql": "SELECT 1" } } });
    let source = Asking::of("db", "sqlite", &settings, folder.path());
    assert_eq!(source.refused(json!({ "query": "q" })).await.0, EffectErrorKind::TimedOut);
}

#[tokio::test]
async fn what_is_too_much_is_cut_or_refused() {
    let folder = folder();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT i FROM n";
    let settings = json!({
        "script": "make.sql",
        "limit": 7,
        "queries": {
            "many": { "sql": many },
            "large": { "sql": "SELECT hex(zeroblob(100000000)) AS large" },
            "heavy": { "sql": "SELECT hex(zeroblob(200000)) AS heavy" },
            "blob": { "sql": "SELECT zeroblob(12) AS blob, 1e999 AS endless, NULL AS absent" },
        },
    });
    let source = Asking::of("db", "sqlite", &settings, folder.path());
    let answer = source.ask(json!({ "query": "many" })).await.unwrap();
    assert_eq!(
        (answer["items"].as_array().unwrap().len(), &answer["truncated"]),
        (7, &json!(true))
    );
    for query in ["large", "heavy"] {
        assert_eq!(source.refused(json!({ "query": query })).await.0, EffectErrorKind::TooLarge);
    }
    let answer = source.ask(json!({ "query": "blob" })).await.unwrap();
    assert_eq!(answer["data"], json!([{ "blob": "[12 bytes]", "endless": null, "absent": null }]));
}

#[tokio::test]
async fn a_script_may_fill_a_database_and_nothing_else() {
    let folder = folder();
    for script in [
        "ATTACH 'x.db' AS x;",
        "PRAGMA journal_mode = DELETE;",
        "CREATE TABLE a(",
        "SELECT load_extension('x');",
        "VACUUM INTO 'x.db';",
    ] {
        std::fs::write(folder.path().join("make.sql"), script).unwrap();
        let source = from_script(folder.path(), &json!({ "q": { "sql": "SELECT 1" } }));
        let (kind, text) = source.refused(json!({ "query": "q" })).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured, "{text}");
        assert!(text.contains("has a script that fails:"), "{text}");
    }
    assert!(!folder.path().join("x.db").exists());
}

#[tokio::test]
async fn a_script_that_changes_is_run_again() {
    let folder = folder();
    let source = from_script(
        folder.path(),
        &json!({ "count": { "sql": "SELECT count(*) AS n FROM tasks" } }),
    );
    let count =
        async || source.ask(json!({ "query": "count" })).await.unwrap()["data"][0]["n"].clone();
    assert_eq!(count().await, 3);
    let more = format!("{SCRIPT} INSERT INTO tasks (id) VALUES ('T-4');");
    std::fs::write(folder.path().join("make.sql"), more).unwrap();
    assert_eq!(count().await, 4);
}
