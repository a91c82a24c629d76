//! Graphs as a source: against a real server that speaks Bolt, and against one that lies.

use std::path::Path;

use countersign_runtime::effect::EffectErrorKind;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::asking::{Asking, refs};

const ADDRESS: &str = "COUNTERSIGN_TEST_BOLT";

fn served(test: &str) -> bool {
    let set = std::env::var_os(ADDRESS).is_some();
    if !set {
        let why =
            format!("{ADDRESS} is not set; `cargo xtask verify` starts a server where it can");
        testkit::report_not_run(&format!("neo4j::{test}"), &why);
    }
    set
}

fn source(queries: &Value) -> Asking {
    let settings = json!({
        "url_env": ADDRESS, "database": "graph", "timeout": "3s", "limit": 5, "queries": queries,
    });
    Asking::of("neo4j", "neo4j", &settings, Path::new("."))
}

fn systems() -> Value {
    json!({
        "calls": {
            "about": "Systems that call a system.",
            "cypher": "MATCH (s:System)-[:CALLS]->(:System {name: $name}) // who calls
                       RETURN s.name AS name ORDER BY name;",
            "params": { "name": "text" },
            "key": "name",
        },
        "node": { "cypher": "MATCH (p:Person) RETURN p AS person" },
        "values": { "cypher": "RETURN 1 AS whole, 2.5 AS part, 'Ж' AS text, true AS yes, null AS nothing, [1, 2] AS list" },
        "echo": {
            "cypher": "RETURN $a AS a, $b AS b, $c AS c",
            "params": { "a": "integer", "b": "number", "c": { "type": "text", "optional": true } },
        },
        "many": { "cypher": "UNWIND range(1, 1000) AS n RETURN n" },
        "wrong": { "cypher": "MATCH (n RETURN n" },
    })
}

#[tokio::test]
async fn rows_are_evidence() {
    if !served("rows_are_evidence") {
        return;
    }
    let source = source(&systems());
    let query = json!({ "query": "calls", "params": { "name": "claims service" } });
    let answer = source.ask(query.clone()).await.unwrap();
    assert_eq!(
        refs(&answer),
        [
            "query:calls?name=claims%20service#name=exchange%20server",
            "query:calls?name=claims%20service#name=portal"
        ]
    );
    assert_eq!(answer["items"][0]["snippet"], "name: exchange server");
    assert_eq!(source.ask(query).await.unwrap(), answer, "the connection is used again");
    let person = source.ask(json!({ "query": "node" })).await.unwrap();
    assert_eq!(person["data"][0]["person"]["labels"], json!(["Person"]));
    let known = &person["data"][0]["person"]["properties"];
    assert_eq!(
        (&known["name"], &known["hours"], &known["lead"]),
        (&json!("김하늘"), &json!(18.5), &json!(false))
    );
    let values = source.ask(json!({ "query": "values" })).await.unwrap();
    assert_eq!(
        values["data"],
        json!([{ "whole": 1, "part": 2.5, "text": "Ж", "yes": true, "nothing": null, "list": [1, 2] }])
    );
    let echo = json!({ "query": "echo", "params": { "a": -5_000_000_000_i64, "b": 2 } });
    let answer = source.ask(echo).await.unwrap();
    assert_eq!(answer["data"], json!([{ "a": -5_000_000_000_i64, "b": 2.0, "c": null }]));
    let many = source.ask(json!({ "query": "many" })).await.unwrap();
    assert_eq!((many["items"].as_array().unwrap().len(), &many["truncated"]), (5, &json!(true)));
    // The answer was broken off in the middle, and the next one is whole.
    assert!(source.ask(json!({ "query": "values" })).await.is_ok());
}

#[tokio::test]
async fn parameters_are_values_and_faults_are_told() {
    if !served("parameters_are_values_and_faults_are_told") {
        return;
    }
    let source = source(&systems());
    for hostile in ["' OR 1=1 //", "'}) DETACH DELETE s //", "`", "\\' RETURN 1"] {
        let query = json!({ "query": "calls", "params": { "name": hostile } });
        assert_eq!(source.ask(query).await.unwrap()["items"], json!([]), "{hostile}");
    }
    let (kind, text) = source.refused(json!({ "query": "wrong" })).await;
    assert_eq!(kind, EffectErrorKind::Failed);
    assert!(
        text.starts_with("source `neo4j`: its query `wrong` failed: the server returned "),
        "{text}"
    );
    assert!(source.ask(json!({ "query": "node" })).await.is_ok(), "a new connection is made");
    assert_eq!(source.refused(json!({ "query": "nodes" })).await.0, EffectErrorKind::Invalid);
}

#[tokio::test]
async fn statements_that_write_are_refused_before_they_are_sent() {
    for cypher in [
        "CREATE (n) RETURN n",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) SET n.a = 1 RETURN n",
        "merge (n) return n",
        "MATCH (n) REMOVE n.a",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "MATCH (n) FOREACH (x IN [1] | CREATE ())",
        "DROP INDEX a",
    ] {
        let (kind, text) =
            source(&json!({ "q": { "cypher": cypher } })).refused(json!({ "query": "q" })).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured);
        assert!(text.contains("which does more than read"), "{cypher}: {text}");
    }
    for (query, said) in [
        (json!({ "cypher": "RETURN 1; RETURN 2" }), "contains several statements"),
        (json!({ "cypher": "RETURN $a" }), "uses the parameter `a`"),
        (json!({ "sql": "SELECT 1" }), "has an unknown field `sql`"),
    ] {
        let (kind, text) = source(&json!({ "q": query })).refused(json!({ "query": "q" })).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured);
        assert!(text.contains(said), "{text}");
    }
}

/// A server on loopback that says these bytes, whatever it is asked.
async fn liar(words: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut hello = [0; 20];
            if stream.read_exact(&mut hello).await.is_ok() {
                drop(stream.write_all(&words).await);
            }
            // Kept open, so that it is the client who must give up.
            drop(tokio::spawn(async move {
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await
            }));
        }
    }));
    port
}

fn at(port: u16) -> Asking {
    let settings = json!({
        "url_env": "GRAPH", "timeout": "300ms", "queries": { "q": { "cypher": "RETURN 1 AS one" } },
    });
    let source = Asking::of("neo4j", "neo4j", &settings, Path::new("."));
    source.with_variable("GRAPH", format!("bolt://127.0.0.1:{port}"))
}

/// A message in one chunk.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes()[..], bytes, &[0, 0]].concat()
}

#[tokio::test]
async fn a_server_that_lies_or_is_silent_is_an_error() {
    let version = [0, 0, 4, 5];
    let yes = chunk(&[0xB1, 0x70, 0xA0]);
    let fields =
        chunk(&[0xB1, 0x70, 0xA1, 0x86, b'f', b'i', b'e', b'l', b'd', b's', 0x91, 0x81, b'a']);
    // Hello, log-on and begin are granted, and the columns are told.
    let granted = [&version[..], &yes, &yes, &yes, &fields].concat();
    let said = |more: &[u8]| [&granted[..], more].concat();
    let endless = [&[0xFF, 0xFF][..], &vec![0x91; 0xFFFF]].concat().repeat(80);
    for (words, kind, text) in [
        (
            vec![0, 0, 0, 0],
            EffectErrorKind::NotConfigured,
            "does not support a known version of Bolt",
        ),
        (
            b"HTTP/1.1 400 Bad".to_vec(),
            EffectErrorKind::NotConfigured,
            "does not support a known version of Bolt",
        ),
        (
            vec![0, 0, 9, 5],
            EffectErrorKind::NotConfigured,
            "does not support a known version of Bolt",
        ),
        (
            [&version[..], &chunk(&[0xC0])].concat(),
            EffectErrorKind::NotConfigured,
            "does not support a known version of Bolt",
        ),
        (
            [
                &version[..],
                &chunk(&[0xB1, 0x7F, 0xA1, 0x84, b'c', b'o', b'd', b'e', 0x83, b'N', b'.', b'A']),
            ]
            .concat(),
            EffectErrorKind::NotConfigured,
            "is rejected by its server (N.A)",
        ),
        (
            [
                &version[..],
                &chunk(&[0xB1, 0x7F, 0xA1, 0x84, b'c', b'o', b'd', b'e', 0x82, b'\n', b'<']),
            ]
            .concat(),
            EffectErrorKind::NotConfigured,
            "is rejected by its server (an error without a code)",
        ),
        (said(&[]), EffectErrorKind::TimedOut, "was stopped after its time limit of 300ms"),
        (
            said(&chunk(&[0xB1, 0x71, 0x92, 1, 2])),
            EffectErrorKind::Failed,
            "does not support a known version of Bolt",
        ),
        (
            said(&chunk(&[0xB1, 0x71, 0xD6, 0xFF, 0xFF, 0xFF, 0xFF])),
            EffectErrorKind::Failed,
            "does not support a known version of Bolt",
        ),
        (said(&endless), EffectErrorKind::TooLarge, "a message of more than"),
    ] {
        let (found, message) = at(liar(words).await).refused(json!({ "query": "q" })).await;
        assert_eq!(found, kind, "{message}");
        assert!(message.contains(text), "{message}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_with_the_name_of_the_source() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let (kind, text) = at(port).refused(json!({ "query": "q" })).await;
    assert_eq!(
        (kind, text.as_str()),
        (EffectErrorKind::Unavailable, "source `neo4j` cannot reach its server")
    );
    let settings =
        json!({ "url_env": "GRAPH", "queries": { "q": { "cypher": "RETURN 1 AS one" } } });
    let unset = Asking::of("neo4j", "neo4j", &settings, Path::new("."));
    let (kind, text) = unset.refused(json!({ "query": "q" })).await;
    assert_eq!(kind, EffectErrorKind::NotConfigured);
    assert_eq!(text, "source `neo4j` needs the variable `GRAPH`, which is not set");
    let secret = "https://user:secret@example.org".to_owned();
    let wrong =
        Asking::of("neo4j", "neo4j", &settings, Path::new(".")).with_variable("GRAPH", secret);
    let (kind, text) = wrong.refused(json!({ "query": "q" })).await;
    assert_eq!(kind, EffectErrorKind::NotConfigured);
    assert!(!text.contains("secret"), "{text}");
}
