//! The workspace as the runs of one protocol see it: what its owner shows, and its programs.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;

use countersign_protocol::{
    DurationMillis, FilePolicy, PathPattern, ProgramDefinition, ProtocolPolicy,
};
use countersign_runtime::workspace::{
    FileSearchLimits, MAX_LISTED_ENTRIES, Workspace, WorkspaceError,
};
use tempfile::TempDir;

fn policy(show: &[&str], command: &[&str]) -> ProtocolPolicy {
    let show = show.iter().map(|text| PathPattern::parse(text).unwrap()).collect();
    let program = ProgramDefinition {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        timeout: DurationMillis { millis: 1_000 },
        environment: Vec::new(),
    };
    let programs = [("tool".to_owned(), program)].into_iter().filter(|_| !command.is_empty());
    ProtocolPolicy {
        files: FilePolicy { show },
        programs: programs.collect(),
        ..ProtocolPolicy::default()
    }
}

fn workspace(files: &[&str]) -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for path in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "needle").unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

fn names(workspace: &Workspace, path: &str) -> Vec<String> {
    let listing = workspace.list(path, MAX_LISTED_ENTRIES).unwrap();
    listing.entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn what_the_owner_shows_is_listed_read_searched_and_written() {
    let (_folder, workspace) =
        workspace(&[".github/ci.yml", ".github/.env", ".env", "a/.keep", "a/b.md"]);
    let shown = workspace.with_policy(&policy(&[".github/**", "**/.keep"], &[]));
    assert_eq!(names(&shown, ""), [".github", "a"]);
    assert_eq!(names(&shown, ".github"), ["ci.yml"]);
    assert_eq!(names(&shown, "a"), [".keep", "b.md"]);
    let hits = shown.search("needle", "", FileSearchLimits::default()).unwrap();
    let paths: Vec<&str> = hits.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, [".github/ci.yml", "a/.keep", "a/b.md"]);
    assert!(shown.exists(".github/ci.yml").unwrap());
    shown.write_atomic(".github/new.yml", b"x").unwrap();
    for path in [".env", ".github/.env", ".opencode/protocol/index.yaml"] {
        assert!(matches!(shown.exists(path), Err(WorkspaceError::Hidden { .. })), "{path}");
    }
    assert_eq!(names(&workspace, ""), ["a"], "others see no more than before");
}

#[cfg(unix)]
#[test]
fn a_link_is_decided_by_where_it_leads() {
    use std::os::unix::fs::symlink;
    let (folder, workspace) = workspace(&[".env", ".github/ci.yml"]);
    symlink(".env", folder.path().join("plain")).unwrap();
    symlink(".github", folder.path().join("ci")).unwrap();
    symlink("../.env", folder.path().join(".github/way")).unwrap();
    let shown = workspace.with_policy(&policy(&[".github/**"], &[]));
    assert!(matches!(shown.read("plain", 10), Err(WorkspaceError::Hidden { .. })));
    assert!(matches!(shown.write_atomic("plain", b"x"), Err(WorkspaceError::Hidden { .. })));
    assert!(matches!(shown.read(".github/way", 10), Err(WorkspaceError::Hidden { .. })));
    assert_eq!(shown.read("ci/ci.yml", 10).unwrap().bytes, b"needle");
    assert!(matches!(workspace.read("ci/ci.yml", 10), Err(WorkspaceError::Hidden { .. })));
}

#[test]
fn the_programs_of_a_protocol_are_read_and_not_changed() {
    let (folder, workspace) = workspace(&["bin/tool", "script", "other.py", "clippy.md"]);
    let guarded = |words: &[&str]| workspace.with_policy(&policy(&[], words));
    let refused = |workspace: &Workspace, path: &str| {
        let error = workspace.write_atomic(path, b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{path}` is a program of the protocol, and runs cannot change it")
        );
        assert!(matches!(workspace.write_once(path, b"x"), Err(WorkspaceError::Protected { .. })));
    };
    refused(&guarded(&["./bin/tool"]), "bin/tool");
    refused(&guarded(&["./bin/tool"]), "BIN/Tool");
    refused(&guarded(&["sh", "script"]), "script");
    refused(&guarded(&["python3", "-u", "later.py"]), "later.py");
    let absolute = folder.path().canonicalize().unwrap().join("other.py");
    refused(&guarded(&[absolute.to_str().unwrap()]), "other.py");
    assert_eq!(guarded(&["./bin/tool"]).read("bin/tool", 10).unwrap().bytes, b"needle");
    guarded(&["cargo", "clippy"]).write_atomic("clippy.md", b"x").unwrap();
    let shown = workspace.with_policy(&policy(&["other.py"], &["python3", "other.py"]));
    shown.write_atomic("other.py", b"x").unwrap();
}

#[cfg(unix)]
#[test]
fn a_program_behind_a_link_is_protected_too() {
    let (folder, workspace) = workspace(&["src/tool.py"]);
    std::os::unix::fs::symlink("src/tool.py", folder.path().join("tool")).unwrap();
    let guarded = workspace.with_policy(&policy(&[], &["./tool"]));
    for path in ["tool", "src/tool.py"] {
        let written = guarded.write_atomic(path, b"x");
        assert!(matches!(written, Err(WorkspaceError::Protected { .. })), "{path}");
    }
}
