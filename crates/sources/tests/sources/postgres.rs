//! `PostgreSQL` as a source, against a real server.

use countersign_runtime::effect::EffectErrorKind;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

use crate::asking::{Asking, refs};

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

/// A client of our own to the server, or nothing and a word about it.
async fn server(test: &str) -> Option<tokio_postgres::Client> {
    let Ok(address) = std::env::var(ADDRESS) else {
        let why =
            format!("{ADDRESS} is not set; `cargo xtask verify` starts a server where it can");
        testkit::report_not_run(&format!("postgres::{test}"), &why);
        return None;
    };
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    Some(client)
}

/// A schema of its own for a test.
async fn filled(client: &tokio_postgres::Client, schema: &str) {
    let script = format!(
        "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema};
         CREATE TABLE {schema}.tasks (
            id text PRIMARY KEY, project text, hours numeric, due date, tags text[], extra jsonb, done boolean);
         INSERT INTO {schema}.tasks VALUES
            ('T-1', 'Atlas', 2.50, '2026-11-01', '{{a,b}}', '{{\"n\": 1}}', true),
            ('T-2', 'Atlas', 8, '2026-12-01', '{{}}', NULL, false),
            ('T-3', 'Beacon', NULL, NULL, NULL, NULL, false);"
    );
    client.batch_execute(&script).await.unwrap();
}

fn source(queries: &Value) -> Asking {
    let settings = json!({ "url_env": ADDRESS, "timeout": "1s", "limit": 20, "queries": queries });
    Asking::of("db", "postgres", &settings, std::path::Path::new("."))
}

#[tokio::test]
async fn rows_are_evidence() {
    let Some(client) = server("rows_are_evidence").await else { return };
    filled(&client, "rows").await;
    let source = source(&json!({
        "of_project": {
            "sql": "SELECT id, hours, due, tags, extra, done FROM rows.tasks -- a word
                    WHERE project = :project AND due <= :until ORDER BY id DESC;",
            "params": { "project": "text", "until": "date" },
            "key": "id",
        },
        "count": {
            "sql": "SELECT count(*) AS n, sum(hours) AS hours FROM rows.tasks
                    WHERE (:done IS NULL OR done = :done) AND hours >= :least LIMIT :most",
            "params": {
                "done": { "type": "boolean", "optional": true },
                "least": "number",
                "most": "integer",
            },
        },
    }));
    let query =
        json!({ "query": "of_project", "params": { "project": "Atlas", "until": "2026-12-31" } });
    let answer = source.ask(query).await.unwrap();
    assert_eq!(
        answer["data"],
        json!([
            { "id": "T-2", "hours": 8, "due": "2026-12-01", "tags": "{}", "extra": null, "done": false },
            { "id": "T-1", "hours": 2.5, "due": "2026-11-01", "tags": "{a,b}", "extra": { "n": 1 }, "done": true },
        ])
    );
    assert_eq!(refs(&answer)[0], "query:of_project?project=Atlas&until=2026-12-31#id=T-2");
    for (params, n) in [
        (json!({ "least": 0, "most": 5 }), 2),
        (json!({ "done": true, "least": 0.5, "most": 5 }), 1),
        (json!({ "done": null, "least": 100, "most": 5 }), 0),
    ] {
        let answer = source.ask(json!({ "query": "count", "params": params })).await.unwrap();
        assert_eq!(answer["data"][0]["n"], n);
    }
}

#[tokio::test]
async fn parameters_are_values_and_never_code() {
    let Some(client) = server("parameters_are_values_and_never_code").await else { return };
    filled(&client, "hostile").await;
    let source = source(&json!({ "q": {
        "sql": "SELECT id FROM hostile.tasks WHERE project = :project",
        "params": { "project": "text" },
    }}));
    for hostile in
        ["Atlas' OR '1'='1", "'; DROP TABLE hostile.tasks; --", "$1", "\\'; SELECT 1", "%"]
    {
        let answer = source.ask(json!({ "query": "q", "params": { "project": hostile } })).await;
        assert_eq!(answer.unwrap()["items"], json!([]), "{hostile}");
    }
    let rows = client.query("SELECT 1 FROM hostile.tasks", &[]).await.unwrap();
    assert_eq!(rows.len(), 3);
}

#[tokio::test]
async fn a_statement_that_does_more_than_read_is_refused() {
    let Some(client) = server("a_statement_that_does_more_than_read_is_refused").await else {
        return;
    };
    filled(&client, "writing").await;
    client
        .batch_execute(
            "CREATE FUNCTION writing.wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM writing.tasks; SELECT 1';
             CREATE SEQUENCE writing.numbers;",
        )
        .await
        .unwrap();
    for sql in [
        "DELETE FROM writing.tasks",
        "DELETE FROM writing.tasks RETURNING id",
        "WITH gone AS (DELETE FROM writing.tasks RETURNING id) SELECT id FROM gone",
        "INSERT INTO writing.tasks (id) VALUES ('x') RETURNING id",
        "SELECT id INTO writing.copy FROM writing.tasks",
        "SELECT id FROM writing.tasks FOR UPDATE",
        "SELECT writing.wipe() AS n",
        "SELECT nextval('writing.numbers') AS n",
        "CREATE TABLE writing.more (a int)",
        "TRUNCATE writing.tasks",
        "COMMIT",
        "SET TRANSACTION READ WRITE",
        "COPY writing.tasks TO '/tmp/copy'",
        "EXPLAIN SELECT 1",
        "SELECT 1 AS a) AS q(c0); DELETE FROM writing.tasks; SELECT (1",
        "SELECT 1 AS a) AS q(c0) CROSS JOIN (DELETE FROM writing.tasks RETURNING 1",
    ] {
        let source = source(&json!({ "q": { "sql": sql } }));
        let (kind, text) = source.refused(json!({ "query": "q" })).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured, "{sql}: {text}");
        assert!(text.contains("has a query `q` that"), "{sql}: {text}");
    }
    let rows = client.query("SELECT 1 FROM writing.tasks", &[]).await.unwrap();
    assert_eq!(rows.len(), 3);
}

#[tokio::test]
async fn what_takes_too_long_or_is_too_much_is_ended() {
    if server("what_takes_too_long_or_is_too_much_is_ended").await.is_none() {
        return;
    }
    let source = source(&json!({
        "slow": { "sql": "SELECT pg_sleep(30)::text AS slept" },
        "many": { "sql": "SELECT n FROM generate_series(1, 1000000) AS n" },
        "wide": { "sql": "SELECT repeat('x', 1000000) AS wide" },
        "quick": { "sql": "SELECT 1 AS one" },
    }));
    let (kind, text) = source.refused(json!({ "query": "slow" })).await;
    assert_eq!(kind, EffectErrorKind::TimedOut);
    assert_eq!(text, "source `db`: its query `slow` was stopped after its time limit of 1s");
    let answer = source.ask(json!({ "query": "many" })).await.unwrap();
    assert_eq!(
        (answer["items"].as_array().unwrap().len(), &answer["truncated"]),
        (20, &json!(true))
    );
    assert_eq!(source.refused(json!({ "query": "wide" })).await.0, EffectErrorKind::TooLarge);
    assert!(source.ask(json!({ "query": "quick" })).await.is_ok());
}

#[tokio::test]
async fn a_connection_that_was_lost_is_made_anew() {
    let Some(client) = server("a_connection_that_was_lost_is_made_anew").await else { return };
    let source = source(&json!({ "who": { "sql": "SELECT pg_backend_pid() AS pid" } }));
    let pid = async || {
        let answer = source.ask(json!({ "query": "who" })).await;
        answer.map(|answer| answer["data"][0]["pid"].as_i64().unwrap())
    };
    let first = pid().await.unwrap();
    assert_eq!(pid().await.unwrap(), first, "the connection is kept");
    client.execute("SELECT pg_terminate_backend($1)", &[&(first as i32)]).await.unwrap();
    // It may be noticed only when it is used; then the error says that trying again may help.
    let again = match pid().await {
        Ok(pid) => pid,
        Err(error) => {
            assert!(error.retryable, "{error}");
            pid().await.unwrap()
        }
    };
    assert_ne!(again, first);
}

#[tokio::test]
async fn what_the_author_got_wrong_is_told() {
    if server("what_the_author_got_wrong_is_told").await.is_none() {
        return;
    }
    for (sql, said) in [
        ("SELECT x FROM nowhere", "relation \"nowhere\" does not exist"),
        ("SELEC 1", "is refused: syntax error"),
        ("SELECT 1 AS a, 2 AS a", "returns the column `a` twice"),
    ] {
        let (kind, text) =
            source(&json!({ "q": { "sql": sql } })).refused(json!({ "query": "q" })).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured, "{text}");
        assert!(text.contains(said), "{text}");
    }
    let divided = json!({ "q": { "sql": "SELECT 1 / :n AS x", "params": { "n": "integer" } } });
    let (kind, text) =
        source(&divided).refused(json!({ "query": "q", "params": { "n": 0 } })).await;
    assert_eq!(
        (kind, text.as_str()),
        (EffectErrorKind::Failed, "source `db`: its query `q` failed (22012)")
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_with_the_name_of_the_source() {
    let settings = json!({ "url_env": "COUNTERSIGN_NO_SUCH_VARIABLE", "queries": { "q": { "sql": "SELECT 1" } } });
    let source = Asking::of("db", "postgres", &settings, std::path::Path::new("."));
    let (kind, text) = source.refused(json!({ "query": "q" })).await;
    assert_eq!(kind, EffectErrorKind::NotConfigured);
    assert_eq!(
        text,
        "source `db` needs the variable `COUNTERSIGN_NO_SUCH_VARIABLE`, which is not set"
    );
    let settings = json!({ "url_env": "DATABASE", "queries": { "q": { "sql": "SELECT 1" } } });
    let at = |address: &str| {
        let source = Asking::of("db", "postgres", &settings, std::path::Path::new("."));
        source.with_variable("DATABASE", address.to_owned())
    };
    for (address, kind, said) in [
        (
            "https://me:secret@host",
            EffectErrorKind::NotConfigured,
            "does not contain a PostgreSQL address",
        ),
        (
            "postgresql://",
            EffectErrorKind::NotConfigured,
            "has a PostgreSQL address without a host",
        ),
        (
            "postgresql://me:secret@127.0.0.1:1/x",
            EffectErrorKind::Unavailable,
            "cannot reach its server",
        ),
    ] {
        let (found, text) = at(address).refused(json!({ "query": "q" })).await;
        assert_eq!(found, kind, "{text}");
        assert!(text.contains(said) && !text.contains("secret"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let settings = json!({ "url_env": "DATABASE", "queries": { "q": { "sql": "SELECT 1" } } });
    let source = Asking::of("db", "postgres", &settings, std::path::Path::new("."));
    let source = source.with_variable("DATABASE", format!("postgresql://me@127.0.0.1:{port}/x"));
    let (kind, text) = source.refused(json!({ "query": "q" })).await;
    assert_eq!(
        (kind, text.as_str()),
        (EffectErrorKind::Unavailable, "source `db` cannot reach its server")
    );
}
