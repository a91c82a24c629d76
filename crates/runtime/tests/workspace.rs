//! The workspace: what is read and written, what is refused and in which words.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;

use countersign_runtime::workspace::{
    FileSearchLimits, FolderEntryKind, MAX_LISTED_ENTRIES, MAX_READ_BYTES, Workspace,
    WorkspaceError,
};
use tempfile::TempDir;

fn workspace() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

fn names(workspace: &Workspace, path: &str) -> Vec<String> {
    let listing = workspace.list(path, MAX_LISTED_ENTRIES).unwrap();
    listing.entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn what_is_written_is_read() {
    let (folder, workspace) = workspace();
    let written = workspace.write_atomic("a/b/c.txt", b"hello").unwrap();
    assert_eq!((written.path.as_str(), written.bytes), ("a/b/c.txt", 5));
    assert_eq!(written.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(workspace.write_atomic("./a/b/c.txt", b"hello").unwrap(), written);
    let content = workspace.read("a/b/c.txt", MAX_READ_BYTES).unwrap();
    assert_eq!(
        (content.bytes.as_slice(), content.size, content.truncated),
        (&b"hello"[..], 5, false)
    );
    assert!(workspace.exists("a/b").unwrap());
    assert!(!workspace.exists("a/c").unwrap());
    assert!(!workspace.exists("a/b/c.txt/d").unwrap());
    assert_eq!(
        fs::read_dir(folder.path().join("a/b")).unwrap().count(),
        1,
        "nothing is left beside"
    );
}

#[test]
fn a_long_file_is_read_to_the_limit_and_says_so() {
    let (_folder, workspace) = workspace();
    workspace.write_atomic("long", &[b'x'; 100]).unwrap();
    let content = workspace.read("long", 99).unwrap();
    assert_eq!((content.bytes.len(), content.size, content.truncated), (99, 100, true));
    let content = workspace.read("long", 100).unwrap();
    assert_eq!((content.bytes.len(), content.size, content.truncated), (100, 100, false));
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, workspace) = workspace();
    let path = folder.path().join("tool.sh");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    workspace.write_atomic("tool.sh", b"new").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn every_refusal_is_a_sentence() {
    let (folder, workspace) = workspace();
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let read = |path: &str| workspace.read(path, MAX_READ_BYTES).unwrap_err().to_string();
    let no_path = "is not a path inside the workspace";
    assert_eq!(read("../x"), format!("`../x` {no_path}: `..` is not allowed in it"));
    assert_eq!(
        read("/etc/passwd"),
        format!(
            "`/etc/passwd` {no_path}: it is absolute; expected a path relative to the workspace"
        )
    );
    assert_eq!(read("a\0b"), format!("`a\\0b` {no_path}: it contains a control character"));
    assert_eq!(read("absent"), "`absent` does not exist");
    assert_eq!(read("folder"), "`folder` is a folder; expected a file");
    assert_eq!(read("file/x"), "`file/x` is not a folder; expected a folder");
    assert_eq!(read(".git/config"), "`.git/config` is hidden from the workspace");
    let write = |path: &str| workspace.write_atomic(path, b"").unwrap_err().to_string();
    assert_eq!(write("folder"), "`folder` is a folder; expected a file");
    assert_eq!(write("file/x"), "`file/x` is not a folder; expected a folder");
    let list = workspace.list("file", MAX_LISTED_ENTRIES).unwrap_err().to_string();
    assert_eq!(list, "`file` is not a folder; expected a folder");
    assert!(read(&"x".repeat(2_000)).len() < 600, "a long path is told in short");
    let absent = Workspace::open(Path::new("/nowhere/at/all")).unwrap_err();
    assert_eq!(absent.to_string(), "`/nowhere/at/all` does not exist");
}

#[cfg(unix)]
#[test]
fn links_inside_are_followed_and_links_out_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "canary").unwrap();
    let (folder, workspace) = workspace();
    workspace.write_atomic("real/file", b"inside").unwrap();
    workspace.write_atomic("deep/x", b"").unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink("real/file", at("good")).unwrap();
    symlink("../real", at("deep/side")).unwrap();
    symlink(outside.path().join("secret"), at("absolute")).unwrap();
    symlink(outside.path(), at("door")).unwrap();
    symlink(format!("../{}", outside.path().file_name().unwrap().display()), at("relative"))
        .unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();

    assert_eq!(workspace.read("good", 10).unwrap().bytes, b"inside");
    assert_eq!(workspace.read("deep/side/file", 10).unwrap().bytes, b"inside");
    for path in ["absolute", "door/secret", "relative/secret"] {
        let read = workspace.read(path, 10).unwrap_err();
        assert_eq!(read.to_string(), format!("`{path}` leads out of the workspace"));
        assert!(
            matches!(workspace.exists(path), Err(WorkspaceError::OutsideWorkspace { .. })),
            "{path}"
        );
    }
    for path in ["door/new", "door/new/deeper", "relative/new"] {
        let write = workspace.write_atomic(path, b"x").unwrap_err();
        assert!(matches!(write, WorkspaceError::OutsideWorkspace { .. }), "{path}: {write}");
    }
    assert!(workspace.list("door", 10).is_err());
    assert!(workspace.search("canary", "door", FileSearchLimits::default()).is_err());
    assert!(workspace.read("loop", 10).is_err());
    assert!(!workspace.exists("dangling").unwrap());
    // A link to a file is replaced, never written through.
    workspace.write_atomic("good", b"new").unwrap();
    assert_eq!(workspace.read("real/file", 10).unwrap().bytes, b"inside");
    workspace.write_atomic("deep/side/second", b"2").unwrap();
    assert_eq!(fs::read(at("real/second")).unwrap(), b"2");
    let listing = workspace.list("", MAX_LISTED_ENTRIES).unwrap();
    let door = listing.entries.iter().find(|entry| entry.name == "door").unwrap();
    assert_eq!(door.kind, FolderEntryKind::Other);
    assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"canary");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_told_and_not_waited_for() {
    let (folder, workspace) = workspace();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let error = workspace.read("pipe", 10).unwrap_err().to_string();
    assert_eq!(error, "`pipe` is neither a file nor a folder; expected a file");
    assert!(workspace.write_atomic("pipe", b"").is_err());
    assert_eq!(workspace.search("x", "", FileSearchLimits::default()).unwrap().files, 0);
}

#[test]
fn what_is_hidden_is_neither_seen_nor_touched() {
    let (folder, workspace) = workspace();
    for path in [".opencode/protocol/index.yaml", ".countersign/countersign.db", ".git/hooks/x"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "needle").unwrap();
    }
    fs::write(folder.path().join("countersign.toml"), "needle").unwrap();
    fs::write(folder.path().join("seen.txt"), "needle").unwrap();
    let absolute = folder.path().join(".opencode/protocol");
    let workspace = workspace.hide([absolute.as_path(), Path::new("/elsewhere")]).unwrap();

    assert_eq!(names(&workspace, ""), ["seen.txt"]);
    let hits = workspace.search("needle", "", FileSearchLimits::default()).unwrap();
    assert_eq!(hits.hits.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["seen.txt"]);
    for path in [
        ".opencode/protocol/index.yaml",
        ".opencode/protocol",
        ".OpenCode/PROTOCOL/new.yaml",
        ".countersign/countersign.db",
        ".Countersign/new",
        "sub/.countersign/countersign.db",
        ".git/hooks/pre-commit",
        "sub/.git/config",
        "countersign.toml",
        ".opencode",
        ".opencode/other",
        ".env",
        ".ENV",
        "sub/.mcp.json",
        "replies.yaml",
    ] {
        let hidden = |error| matches!(error, WorkspaceError::Hidden { .. });
        assert!(workspace.read(path, 10).is_err_and(hidden), "{path}");
        assert!(workspace.write_atomic(path, b"x").is_err_and(hidden), "{path}");
        assert!(workspace.exists(path).is_err_and(hidden), "{path}");
    }
    let workspace = workspace.hide([folder.path().join("later")]).unwrap();
    assert!(workspace.write_atomic("later/x", b"x").is_err(), "hidden before it exists");
    let all = workspace.hide(["."]).unwrap_err().to_string();
    assert_eq!(all, "`.` is the workspace itself; only parts of it can be hidden");
}

#[cfg(unix)]
#[test]
fn a_link_to_something_hidden_is_hidden() {
    use std::os::unix::fs::symlink;
    let (folder, workspace) = workspace();
    workspace.write_atomic("protocol/index.yaml", b"needle").unwrap();
    workspace.write_atomic("outer/protocol/index.yaml", b"needle").unwrap();
    let workspace = workspace.hide(["protocol", "outer/protocol"]).unwrap();
    symlink("protocol", folder.path().join("way")).unwrap();
    symlink("protocol/index.yaml", folder.path().join("file")).unwrap();
    symlink("outer", folder.path().join("around")).unwrap();
    for path in ["way/index.yaml", "file", "way/new", "way", "around/protocol/index.yaml"] {
        let hidden = |error| matches!(error, WorkspaceError::Hidden { .. });
        assert!(workspace.read(path, 10).is_err_and(hidden), "{path}");
        assert!(workspace.write_atomic(path, b"x").is_err_and(hidden), "{path}");
    }
    assert_eq!(names(&workspace, ""), ["around", "outer"]);
    assert_eq!(names(&workspace, "around"), Vec::<String>::new());
    for path in ["", "around"] {
        let hits = workspace.search("needle", path, FileSearchLimits::default()).unwrap();
        assert_eq!(hits.hits, [], "{path}");
    }
}

#[test]
fn a_search_tells_lines_and_passes_over_what_is_no_text() {
    let (_folder, workspace) = workspace();
    workspace.write_atomic("b.md", "one\nДВА needle\nthree NEEDLE".as_bytes()).unwrap();
    workspace.write_atomic("a/x.txt", b"Needle").unwrap();
    workspace.write_atomic("binary", b"needle\0").unwrap();
    workspace.write_atomic("latin", b"needle \xff").unwrap();
    let long = format!("{}needle{}", "ä".repeat(500), "z".repeat(500));
    workspace.write_atomic("long", long.as_bytes()).unwrap();
    let found = workspace.search("nEEdle", "", FileSearchLimits::default()).unwrap();
    let lines: Vec<_> = found.hits.iter().map(|hit| (hit.path.as_str(), hit.line)).collect();
    assert_eq!(lines, [("a/x.txt", 1), ("b.md", 2), ("b.md", 3), ("latin", 1), ("long", 1)]);
    let around = &found.hits[4].text;
    assert!(around.contains("needle") && around.starts_with('…') && around.ends_with('…'));
    assert!(around.chars().count() < 250);
    assert_eq!(found.incomplete_reason, None);
    let cyrillic = workspace.search("два", "b.md", FileSearchLimits::default()).unwrap();
    assert_eq!(cyrillic.hits[0].text, "ДВА needle");
    for query in ["", "a\nb", &"x".repeat(1_001)] {
        let error = workspace.search(query, "", FileSearchLimits::default()).unwrap_err();
        assert!(matches!(error, WorkspaceError::BadQuery { .. }), "{query:?}");
    }
}

#[test]
fn a_search_ends_at_its_limits_and_says_which() {
    let (_folder, workspace) = workspace();
    for number in 0..10 {
        workspace.write_atomic(&format!("{number}"), b"hit\nhit\n").unwrap();
    }
    workspace.write_atomic("big", &b"hit ".repeat(100)).unwrap();
    let search = |limits| workspace.search("hit", "", limits).unwrap();
    let limits = FileSearchLimits { file_bytes: 100, ..FileSearchLimits::default() };
    assert_eq!((search(limits).hits.len(), search(limits).skipped_large), (20, 1));
    let found = search(FileSearchLimits { hits: 5, ..limits });
    assert_eq!(
        (found.hits.len(), found.incomplete_reason),
        (5, Some("the limit of matching lines is reached"))
    );
    let found = search(FileSearchLimits { files: 3, ..limits });
    assert_eq!(
        (found.hits.len(), found.incomplete_reason),
        (6, Some("the limit of files is reached"))
    );
    let found = search(FileSearchLimits { bytes: 9, ..limits });
    assert_eq!(
        (found.hits.len(), found.incomplete_reason),
        (4, Some("the limit of bytes is reached"))
    );
}

#[test]
fn a_long_folder_is_listed_to_the_limit() {
    let (_folder, workspace) = workspace();
    for number in 0..7 {
        workspace.write_atomic(&format!("f{number}"), b"").unwrap();
    }
    let listing = workspace.list("", 5).unwrap();
    assert_eq!((listing.entries.len(), listing.omitted), (5, 2));
}
