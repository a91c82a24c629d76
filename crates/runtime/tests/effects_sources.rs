//! Sources: what they find, in an order that does not change, and what they say when they cannot.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign_protocol::{ProtocolPolicy, RetrievalSource};
use countersign_run::EffectCall;
use countersign_runtime::effect::{
    EffectContext, EffectError, EffectErrorKind, EffectJournal, RetrieverFuture, RetrieverRegistry,
    SourceRetriever, perform_effect,
};
use countersign_runtime::workspace::Workspace;
use serde_json::{Value, json};

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn policy(kind: &str, settings: Value) -> ProtocolPolicy {
    let mut policy = ProtocolPolicy::default();
    policy.sources.insert("doc".to_owned(), RetrievalSource { kind: kind.to_owned(), settings });
    policy
}

async fn ask(
    base: &Path,
    policy: &ProtocolPolicy,
    name: &str,
    query: Value,
) -> Result<Value, EffectError> {
    let workspace = Workspace::open(base).unwrap();
    let journal = EffectJournal::open(&base.join(".countersign/effects")).unwrap();
    let sources = RetrieverRegistry::open(policy, base);
    let world =
        EffectContext { policy, workspace: &workspace, sources: &sources, journal: &journal };
    let order = EffectCall::Retrieve { source: name.to_owned(), query };
    perform_effect(&order, "r/1/0", world).await
}

fn library() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "docs/leave.md",
        "# Leave\n\nEvery employee has thirty days of leave.\nUnused days expire in March.\n\n\nSick days need a note.\n",
    );
    put(
        folder.path(),
        "docs/sub/travel.txt",
        "Travel days are paid.\r\n\r\nDays off are days off.\r\n",
    );
    put(folder.path(), "docs/отпуск.md", "Отпуск длится тридцать дней.\n");
    put(folder.path(), "docs/假期.md", "每年有三十天的假期。\n");
    put(folder.path(), "docs/table.csv", "leave,days\n");
    put(folder.path(), "docs/.git/leave.md", "leave leave leave\n");
    folder
}

fn found(result: &Value) -> Vec<&str> {
    result.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn passages_are_found_by_their_words() {
    let folder = library();
    let policy = policy("files", json!({"path": "docs"}));
    let ask = async |query: Value| ask(folder.path(), &policy, "doc", query).await.unwrap();
    let result = ask(json!("How many DAYS of leave?")).await;
    assert_eq!(
        result[0],
        json!({
            "id": "doc/leave.md#3",
            "source": "doc",
            "path": "leave.md",
            "line": 3,
            "text": "Every employee has thirty days of leave.\nUnused days expire in March.",
            "score": result[0]["score"],
        })
    );
    assert_eq!(
        found(&result),
        [
            "doc/leave.md#3",
            "doc/sub/travel.txt#3",
            "doc/leave.md#1",
            "doc/leave.md#7",
            "doc/sub/travel.txt#1"
        ]
    );
    // `of` is part of `off`: words are looked for as parts of the text.
    let scores: Vec<f64> =
        result.as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(ask(json!("How many DAYS of leave?")).await, result);
    assert_eq!(found(&ask(json!("отпуск")).await), ["doc/отпуск.md#1"]);
    assert_eq!(found(&ask(json!("假期")).await), ["doc/假期.md#1"]);
    assert_eq!(found(&ask(json!({"text": "days", "limit": 1})).await).len(), 1);
    assert_eq!(ask(json!("unicorn")).await, json!([]), "nothing found is an answer");
    // The whole phrase beats its scattered words.
    assert_eq!(found(&ask(json!("days off")).await)[0], "doc/sub/travel.txt#3");
}

#[tokio::test]
async fn what_a_source_cannot_do_is_an_error_with_its_name() {
    let folder = library();
    let fails = async |policy: &ProtocolPolicy, name: &str, query: Value| {
        let error = ask(folder.path(), policy, name, query).await.unwrap_err();
        assert!(!error.retryable);
        (error.kind, error.to_string())
    };
    let good = policy("files", json!({"path": "docs"}));
    let missing = EffectErrorKind::NotConfigured;
    let (kind, text) = fails(&good, "policy", json!("x")).await;
    assert_eq!((kind, text.as_str()), (missing, "the policy declares no source `policy`"));
    let (kind, text) = fails(&policy("neo4j", json!({})), "doc", json!("x")).await;
    assert_eq!(kind, missing);
    assert_eq!(text, "source `doc` is of kind `neo4j`, which is not configured here");
    let (kind, text) = fails(&policy("files", json!({})), "doc", json!("x")).await;
    assert_eq!((kind, text.as_str()), (missing, "source `doc` has no `path`; expected a folder"));
    let (kind, text) = fails(&policy("files", json!({"path": "gone"})), "doc", json!("x")).await;
    assert_eq!(kind, missing);
    assert!(
        text.starts_with("source `doc`: `") && text.ends_with("gone` does not exist"),
        "{text}"
    );
    for settings in
        [json!({"path": "docs", "limit": 0}), json!({"path": "docs", "extensions": "md"})]
    {
        assert_eq!(fails(&policy("files", settings), "doc", json!("x")).await.0, missing);
    }
    for query in [
        json!(null),
        json!(""),
        json!("?!"),
        json!({"q": "x"}),
        json!({"text": "x", "limit": 51}),
        json!("x".repeat(3_000)),
    ] {
        assert_eq!(fails(&good, "doc", query.clone()).await.0, EffectErrorKind::Invalid, "{query}");
    }
}

#[tokio::test]
async fn a_source_that_is_too_large_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..2_001 {
        put(folder.path(), &format!("docs/{number}.md"), "x");
    }
    let policy = policy("files", json!({"path": "docs"}));
    let error = ask(folder.path(), &policy, "doc", json!("x")).await.unwrap_err();
    assert_eq!(error.kind, EffectErrorKind::TooLarge);
    assert_eq!(error.to_string(), "source `doc` has more than 2000 files");
}

#[cfg(unix)]
#[tokio::test]
async fn a_source_does_not_follow_links() {
    let folder = library();
    put(folder.path(), "secret.md", "canary");
    std::os::unix::fs::symlink("../secret.md", folder.path().join("docs/link.md")).unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("docs/circle")).unwrap();
    let policy = policy("files", json!({"path": "docs"}));
    assert_eq!(ask(folder.path(), &policy, "doc", json!("canary")).await.unwrap(), json!([]));
}

struct Echo;

impl SourceRetriever for Echo {
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>> {
        Box::pin(async move { Ok(json!([query])) })
    }
}

#[tokio::test]
async fn a_source_of_another_kind_can_be_brought() {
    let policy = policy("neo4j", json!({}));
    let sources =
        RetrieverRegistry::open(&policy, Path::new(".")).with_retriever("doc", Arc::new(Echo));
    assert_eq!(sources.retrieve("doc", &json!("q")).await.unwrap(), json!(["q"]));
    assert_eq!(format!("{sources:?}"), "[\"doc\"]");
}
