//! Finding and reading protocol folders, and the engine's own folder.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;

use countersign_runtime::folder::{
    EngineHome, FolderError, MAX_PROTOCOL_FILES, find_protocol_folder, hide_protocol,
    read_protocol_folder, resolve_protocol_folder,
};
use countersign_runtime::workspace::Workspace;
use tempfile::TempDir;

fn protocol() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "index.yaml", "name: x\n");
    put(folder.path(), "workflows/main.yaml", "id: main\n");
    folder
}

fn put(folder: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn a_protocol_is_found_upwards() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    assert_eq!(find_protocol_folder(&root.join("src/deep")), None);
    // Something else that happens to have an index.
    put(&root, "src/index.yaml", "");
    assert_eq!(find_protocol_folder(&root.join("src")), None);
    put(&root, ".opencode/protocol/index.yaml", "");
    let expected = Some(root.join(".opencode/protocol"));
    for start in ["", "src/deep", ".opencode", ".opencode/protocol"] {
        assert_eq!(find_protocol_folder(&root.join(start)), expected, "{start}");
    }
    assert_eq!(find_protocol_folder(&root.join("absent")), None);
}

#[test]
fn a_folder_that_looks_like_a_protocol_is_one_only_where_it_is_named() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    put(&root, "index.yaml", "");
    put(&root, "workflows/a.yaml", "");
    put(&root, "contracts/a.yaml", "");
    for start in ["", "workflows"] {
        assert_eq!(find_protocol_folder(&root.join(start)), None, "{start}");
    }
    assert_eq!(resolve_protocol_folder(&root), Some(root.clone()));
    assert_eq!(resolve_protocol_folder(&root.join("workflows")), None);
    put(&root, ".opencode/protocol/index.yaml", "");
    assert_eq!(find_protocol_folder(&root), Some(root.join(".opencode/protocol")));
    assert_eq!(resolve_protocol_folder(&root), Some(root.clone()), "a name is meant");
    assert_eq!(
        resolve_protocol_folder(&root.join("workflows")),
        Some(root.join(".opencode/protocol"))
    );
}

#[test]
fn the_protocol_is_hidden_from_runs_wherever_it_lies() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path();
    put(root, "p/index.yaml", "");
    put(root, "index.yaml", "");
    put(root, "notes.md", "");
    let open = || Workspace::open(root).unwrap();
    let beside = hide_protocol(open(), &root.join("p")).unwrap();
    assert!(beside.write_atomic("P/workflows/x.yaml", b"").is_err());
    assert!(beside.read("index.yaml", 1).is_ok(), "another protocol is meant");
    let itself = hide_protocol(open(), root).unwrap();
    for path in ["index.yaml", "INDEX.json", "workflows/x.yaml", "contracts/x", "agents/a"] {
        assert!(itself.write_atomic(path, b"").is_err(), "{path}");
    }
    itself.write_atomic("notes.md", b"x").unwrap();
}

#[test]
fn only_what_belongs_to_a_protocol_is_read() {
    let folder = protocol();
    put(folder.path(), "agents/a.json", "{}");
    put(folder.path(), "rules/deep/er.md", "правило");
    put(folder.path(), "contracts/c.yaml", "c");
    put(folder.path(), "contracts/.swp", [0xff]);
    put(folder.path(), "state/current.json", "{}");
    put(folder.path(), "README.md", "no");
    put(folder.path(), "index.md", "no");
    let bundle = read_protocol_folder(folder.path()).unwrap();
    let paths: Vec<_> = bundle.files.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "agents/a.json",
            "contracts/c.yaml",
            "index.yaml",
            "rules/deep/er.md",
            "workflows/main.yaml"
        ]
    );
    assert_eq!(bundle.files["rules/deep/er.md"], "правило");
}

#[track_caller]
fn refused(folder: &Path, sentence: &str) {
    assert_eq!(read_protocol_folder(folder).unwrap_err().to_string(), sentence);
}

#[test]
fn faults_name_the_file() {
    let folder = protocol();
    put(folder.path(), "rules/r.md", b"abc\xffdef");
    refused(folder.path(), "`rules/r.md` is not UTF-8 at byte 3");
    let empty = tempfile::tempdir().unwrap();
    let messages =
        format!("`{}` is not a protocol folder: it has no `index.yaml`", empty.path().display());
    refused(empty.path(), &messages);
    assert!(matches!(
        read_protocol_folder(&empty.path().join("absent")),
        Err(FolderError::Io { .. })
    ));
}

#[test]
fn limits_hold() {
    let folder = protocol();
    put(folder.path(), "rules/a.md", vec![b'x'; 4 * 1024 * 1024]);
    refused(
        folder.path(),
        "the protocol folder is larger than 4 MiB; `rules/a.md` exceeds the limit",
    );
    let folder = protocol();
    for number in 0..MAX_PROTOCOL_FILES - 2 {
        put(folder.path(), &format!("rules/{number}.md"), "");
    }
    assert_eq!(read_protocol_folder(folder.path()).unwrap().files.len(), MAX_PROTOCOL_FILES);
    put(folder.path(), "rules/one-more.md", "");
    refused(folder.path(), "the protocol folder has more than 1000 files");
}

#[cfg(unix)]
#[test]
fn links_out_are_refused_and_circles_end() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret.md", "canary");
    let folder = protocol();
    fs::create_dir(folder.path().join("rules")).unwrap();
    symlink("../workflows/main.yaml", folder.path().join("rules/good.md")).unwrap();
    assert_eq!(read_protocol_folder(folder.path()).unwrap().files["rules/good.md"], "id: main\n");
    symlink(outside.path().join("secret.md"), folder.path().join("rules/out.md")).unwrap();
    refused(folder.path(), "`rules/out.md` leads out of the protocol folder");
    fs::remove_file(folder.path().join("rules/out.md")).unwrap();
    symlink(outside.path(), folder.path().join("agents")).unwrap();
    refused(folder.path(), "`agents` leads out of the protocol folder");
    fs::remove_file(folder.path().join("agents")).unwrap();
    symlink(".", folder.path().join("rules/again")).unwrap();
    assert!(matches!(read_protocol_folder(folder.path()), Err(FolderError::TooDeep { .. })));
}

#[test]
fn a_home_is_made_once_and_found_from_below() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    let below = root.join("a/b");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(EngineHome::find(&below).unwrap(), None);
    let home = EngineHome::find_or_create(&root).unwrap();
    assert_eq!(home.folder(), root.join(".countersign"));
    assert_eq!(home.workspace(), root);
    assert_eq!(home.database_path(), root.join(".countersign/countersign.db"));
    assert!(home.artifacts_path().is_dir() && home.effects_path().is_dir());
    assert_eq!(fs::read_to_string(home.folder().join(".gitignore")).unwrap(), "*\n");
    assert_eq!(EngineHome::find(&below).unwrap(), Some(home.clone()));
    fs::remove_dir(home.effects_path()).unwrap();
    assert_eq!(EngineHome::find_or_create(&below).unwrap(), home);
    assert!(home.effects_path().is_dir(), "what was lost comes back");
    assert!(!below.join(".countersign").exists());
}

#[test]
fn a_file_in_the_way_of_a_home_is_told() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    fs::write(root.join(".countersign"), "").unwrap();
    let expected = format!(
        "`{}` is not a folder; the engine needs a folder of that name for its files",
        root.join(".countersign").display()
    );
    assert_eq!(EngineHome::find(&root).unwrap_err().to_string(), expected);
    assert_eq!(EngineHome::create(&root).unwrap_err().to_string(), expected);
}

#[test]
fn an_embedded_runtime_stays_in_its_folder() {
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    EngineHome::create(&root).unwrap();
    let below = root.join("embedded");
    fs::create_dir(&below).unwrap();
    let store = std::sync::Arc::new(countersign_store::InMemoryStore::default());
    let runtime = countersign_runtime::RuntimeBuilder::new(store, &below).unwrap().build().unwrap();
    assert_eq!(runtime.workspace.path(), below);
    assert!(below.join(".countersign").is_dir());
}
