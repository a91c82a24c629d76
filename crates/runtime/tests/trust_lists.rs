//! What operators allow and persons trust: entries, the file of trust, and what it refuses to believe.

use std::fs;
use std::path::PathBuf;

use countersign_protocol::{DurationMillis, ProgramDefinition, RetrievalSource};
use countersign_run::Timestamp;
use countersign_runtime::trust::{AllowList, TrustError, TrustFile, TrustRecord};
use serde_json::{Value, json};

fn program(command: &str) -> ProgramDefinition {
    let command = command.split(' ').map(str::to_owned).collect();
    ProgramDefinition {
        command,
        timeout: DurationMillis { millis: 1_000 },
        environment: Vec::new(),
    }
}

#[test]
fn commands_are_allowed_by_their_first_words() {
    let mut list = AllowList::default();
    list.allow_program("cargo clippy").unwrap();
    list.allow_program("./mark.sh").unwrap();
    assert!(list.allows_program(&program("cargo clippy --fix")));
    assert!(list.allows_program(&program("./mark.sh")));
    for other in ["cargo", "cargo run", "/tmp/cargo clippy", "mark.sh"] {
        assert!(!list.allows_program(&program(other)), "{other}");
    }
    assert!(list.allow_program("  ").is_err());
    // Variables of the environment may hold the operator's keys.
    let mut curious = program("./mark.sh");
    curious.environment.push("OPENAI_API_KEY".to_owned());
    assert!(!list.allows_program(&curious));
}

#[test]
fn a_list_cannot_forge_lines_of_its_own() {
    let mut list = AllowList::default();
    list.allow_source("files:docs\n  trusted: you trust it already").unwrap();
    list.allow_service("store", "postgres://ann:s3cret@db.example:6432/runs?sslmode=disable");
    let lines = list.describe();
    assert_eq!(lines[0], "source files:docs\\n  trusted: you trust it already");
    assert_eq!(lines[1], "store server postgres://db.example:6432");
}

#[test]
fn hosts_and_sources_are_what_they_say() {
    let mut list = AllowList::default();
    list.allow_host("api.example.org").unwrap();
    list.allow_source("files:docs").unwrap();
    list.allow_source("sqlite").unwrap();
    assert!(list.allow_host("a/b").is_err());
    assert!(list.allow_source(":docs").is_err());
    assert!(list.allows_url("https://api.example.org/v1"));
    assert!(!list.allows_url("https://example.org/"));
    let source = |kind: &str, settings: Value| RetrievalSource { kind: kind.to_owned(), settings };
    assert!(list.allows_source(&source("files", json!({ "path": "docs" }))));
    assert!(!list.allows_source(&source("files", json!({ "path": "secrets" }))));
    assert!(list.allows_source(&source("sqlite", json!({ "path": "any.db" }))));
    assert!(!list.allows_source(&source("neo4j", json!({}))));
}

fn record(digest: &str) -> TrustRecord {
    TrustRecord {
        digest: digest.to_owned(),
        subject: "protocol w".to_owned(),
        folder: PathBuf::from("/work"),
        list: vec!["program mark: ./mark.sh".to_owned()],
        commands: vec![vec!["./mark.sh".to_owned()]],
        by: "ann".to_owned(),
        trusted_at: Timestamp(1),
    }
}

#[test]
fn trust_is_kept_once_privately_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let file = TrustFile::from_path(folder.path().join("countersign/trust.json"));
    assert!(!file.contains_digest("a").unwrap(), "no file is no trust");
    assert!(file.add(record("a")).unwrap());
    assert!(!file.add(record("a")).unwrap(), "it is trusted already");
    assert!(file.add(record("b")).unwrap());
    assert!(file.contains_digest("a").unwrap() && file.contains_digest("b").unwrap());
    assert_eq!(file.remove(|one| one.digest == "a").unwrap(), [record("a")]);
    assert_eq!(file.read_records().unwrap(), [record("b")]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(file.path()), 0o600);
        assert_eq!(mode(file.path().parent().unwrap()), 0o700);
    }
}

#[test]
fn several_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = TrustFile::from_path(folder.path().join("trust.json"));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &file;
            scope.spawn(move || file.add(record(&format!("digest {number}"))).unwrap());
        }
    });
    assert_eq!(file.read_records().unwrap().len(), 8);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_write_proves_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = TrustFile::from_path(folder.path().join("trust.json"));
    file.add(record("a")).unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o620)).unwrap();
    assert!(matches!(file.contains_digest("a"), Err(TrustError::NotPrivate { .. })));
}

#[test]
fn a_file_that_is_something_else_trusts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = TrustFile::from_path(folder.path().join("trust.json"));
    file.add(record("a")).unwrap();
    for text in ["", "{}", "[]", "{\"v\":2,\"trusted\":[]}"] {
        fs::write(file.path(), text).unwrap();
        assert!(
            matches!(file.contains_digest("a"), Err(TrustError::Unreadable { .. })),
            "{text:?}"
        );
    }
}
