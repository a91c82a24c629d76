//! Whatever a path says, nothing outside the workspace is read, changed or made.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use countersign_run::ToolCall;
use countersign_runtime::tool;
use countersign_runtime::workspace::{FileSearchLimits, Workspace};
use proptest::prelude::*;

const CANARY: &str = "canary-4d1f";

/// Names that attack, names that are links out, and names that are harmless.
fn name() -> impl Strategy<Value = String> {
    let known = [
        "..",
        ".",
        "",
        "/",
        "\\",
        "\0",
        "a",
        "b",
        "door",
        "up",
        "dangling",
        "self",
        "secret",
        "outside",
        "tmp",
        "etc",
        "passwd",
        "C:",
        "~",
        "%2e%2e",
        "..;",
        "．．",
        "..\u{200b}",
        ".countersign",
        ".git",
        "CON",
        "file:",
        "inner",
        "\n",
    ];
    prop_oneof![
        8 => prop::sample::select(known.map(str::to_owned).to_vec()),
        1 => ".{0,8}",
        1 => Just("x".repeat(300)),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let separators = prop::sample::select(vec!["/", "/", "/", "//", "\\", "/./", "/../"]);
    let prefixes =
        prop::sample::select(vec!["", "", "", "/", "./", "../", "//", "C:\\", "file:///"]);
    (prefixes, prop::collection::vec((name(), separators), 1..6)).prop_map(|(prefix, names)| {
        names
            .into_iter()
            .fold(prefix.to_owned(), |path, (name, separator)| path + &name + separator)
            .trim_end_matches('/')
            .to_owned()
    })
}

/// Every file and link below a folder, links not followed.
fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            all.insert(path.display().to_string(), Vec::new());
            all.extend(snapshot(&path));
        } else if kind.is_symlink() {
            let to = fs::read_link(&path).unwrap().display().to_string();
            all.insert(path.display().to_string(), to.into_bytes());
        } else {
            all.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_is_touched(paths in prop::collection::vec(path(), 1..6)) {
        let world = tempfile::tempdir().unwrap();
        let outside = world.path().join("outside");
        let inside = world.path().join("workspace");
        fs::create_dir_all(outside.join("inner")).unwrap();
        fs::create_dir_all(inside.join("a/b")).unwrap();
        fs::create_dir_all(inside.join(".countersign")).unwrap();
        fs::write(outside.join("secret"), CANARY).unwrap();
        fs::write(inside.join(".countersign/secret"), CANARY).unwrap();
        for folder in ["", "a", "a/b"] {
            symlink(&outside, inside.join(folder).join("door")).unwrap();
            symlink("../../outside", inside.join(folder).join("up")).unwrap();
            symlink("../outside", inside.join(folder).join("outside")).unwrap();
            symlink("../outside/new", inside.join(folder).join("dangling")).unwrap();
            symlink(".", inside.join(folder).join("self")).unwrap();
            symlink(outside.join("secret"), inside.join(folder).join("secret")).unwrap();
        }
        let before = (snapshot(&outside), snapshot(&inside.join(".countersign")));
        let workspace = Workspace::open(&inside).unwrap();
        let mut output = String::new();
        for path in &paths {
            let _ = workspace.exists(path);
            let read = workspace.read(path, 1_000).map(|content| content.bytes).unwrap_or_default();
            output.push_str(&String::from_utf8_lossy(&read));
            for hit in workspace.search("canary", path, FileSearchLimits::default()).unwrap_or_default().hits {
                output.push_str(&hit.text);
            }
            for call in [
                ToolCall::read_file(path.clone()),
                ToolCall::List { path: path.clone() },
                ToolCall::Search { query: "canary".to_owned(), path: path.clone() },
                ToolCall::Write { path: path.clone(), content: "hostile".to_owned() },
                ToolCall::Write { path: format!("{path}/deeper"), content: "hostile".to_owned() },
            ] {
                output.push_str(&tool::perform_tool_call(&workspace, &call).output);
            }
        }
        prop_assert!(!output.contains(CANARY), "{paths:?} told the secret");
        let after = (snapshot(&outside), snapshot(&inside.join(".countersign")));
        prop_assert_eq!(before, after, "{:?}", paths);
        let around: Vec<_> = fs::read_dir(world.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        prop_assert_eq!(around.len(), 2, "{:?} made {:?}", paths, around);
    }
}
