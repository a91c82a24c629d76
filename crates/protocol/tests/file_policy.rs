//! Which files runs reach: hidden and reserved names, other spellings of them, and what an owner shows.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_protocol::{FileAccess, FilePolicy, PathPattern};

fn names(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

#[track_caller]
fn check(show: &[&str], path: &str, expected: FileAccess) {
    let show = show.iter().map(|text| PathPattern::parse(text).unwrap()).collect();
    assert_eq!(FilePolicy { show }.classify(&names(path)), expected, "{path}");
}

#[test]
fn dot_files_and_scripts_of_replies_are_hidden_wherever_they_lie() {
    for path in [
        ".env",
        ".env.local",
        "a/.env",
        ".mcp.json",
        ".claude/settings.json",
        ".cursor/x",
        ".envrc",
        ".gitignore",
        ".github/workflows/ci.yml",
        ".opencode",
        ".opencode/agents/a",
        "replies.yaml",
        "a/replies.yaml",
        ".x/visible",
    ] {
        check(&[], path, FileAccess::Hidden);
    }
    for path in ["a", "a/b.md", "env", "replies.yaml.md", "git/config", "a..b"] {
        check(&[], path, FileAccess::Reachable);
    }
}

#[test]
fn other_spellings_are_the_same_name() {
    for path in [".ENV", ".Env", "Replies.YAML", "replie\u{17f}.yaml", "replies.yaml.", ".env "] {
        check(&[], path, FileAccess::Hidden);
    }
    for path in [".GIT/x", ".g\u{200c}it/x", ".git.", ".git::$INDEX_ALLOCATION", "COUNTERSIGN.toml"]
    {
        check(&[], path, FileAccess::Reserved);
    }
}

#[test]
fn nothing_shows_what_is_reserved() {
    let all = ["**", ".*", ".*/**", ".opencode/**", ".opencode/protocol/**", "**/.git"];
    for path in [
        ".countersign",
        ".countersign/countersign.db",
        "a/.countersign-1.tmp",
        ".git/hooks/x",
        "countersign.toml",
        ".opencode/protocol",
        ".opencode/protocol/index.yaml",
        "sub/.OpenCode/Protocol/x",
    ] {
        check(&all, path, FileAccess::Reserved);
    }
    check(&all, ".opencode/agents/a.md", FileAccess::Reachable);
}

#[test]
fn the_owner_shows_what_is_named_and_what_lies_below() {
    let show = [".github/**", ".env.example", "**/.keep", ".config/*.toml"];
    for path in [
        ".github",
        ".github/workflows/ci.yml",
        ".GitHub/x",
        ".env.example",
        ".keep",
        "a/b/.keep",
        ".config/a.toml",
    ] {
        check(&show, path, FileAccess::Reachable);
    }
    // A folder on the way is passed, and a file of that name is not opened.
    check(&show, ".config", FileAccess::ListOnly);
    check(&[".github/**/.keep"], ".github/workflows/ci.yml", FileAccess::ListOnly);
    check(&[".env/example"], ".env", FileAccess::ListOnly);
    for path in [
        ".github/.env",
        ".env",
        ".env.example2",
        ".config/a.json",
        ".config/.a.toml",
        ".x/.keep",
        ".github/replies.yaml",
        ".git-credentials",
    ] {
        check(&show, path, FileAccess::Hidden);
    }
    check(&[".github"], ".github/workflows/ci.yml", FileAccess::Reachable);
    check(&["*"], ".env", FileAccess::Hidden);
    check(&["*.yaml"], "replies.yaml", FileAccess::Hidden);
    check(&["replies.yaml"], "replies.yaml", FileAccess::Reachable);
    check(&[".env*"], ".env.local", FileAccess::Reachable);
}

#[test]
fn more_patterns_than_the_limit_are_a_fault() {
    use countersign_contract::contract::ContractRegistry;
    use countersign_contract::limits::MAX_SHOWN_PATHS;
    use countersign_protocol::{ProtocolBundle, load_protocol};
    let codes = |count: usize| {
        let show: Vec<String> = (0..count).map(|number| format!(".a{number}")).collect();
        let show = show.join(", ");
        let index = format!(
            "name: t\nversion: 1.0.0\ndefault_workflow: main\npolicy: {{ files: {{ show: [{show}] }} }}\n"
        );
        let mut bundle = ProtocolBundle::default();
        bundle.files.insert("index.yaml".into(), index);
        let workflow = "id: main\nphases: [{ id: a }]\ntransitions: []\n";
        bundle.files.insert("workflows/main.yaml".into(), workflow.into());
        let faults = load_protocol(bundle, &ContractRegistry::default()).err().unwrap_or_default();
        faults.into_iter().map(|fault| fault.code).collect::<Vec<_>>()
    };
    assert!(!codes(MAX_SHOWN_PATHS).contains(&"max_items".to_owned()));
    assert_eq!(codes(MAX_SHOWN_PATHS + 1), ["max_items"]);
}

#[test]
fn a_pattern_names_what_it_matches_and_no_folder_on_the_way() {
    let show = vec![PathPattern::parse("**/.env.example").unwrap()];
    let policy = FilePolicy { show };
    assert!(policy.shows_path(&names("a/.env.example")));
    assert!(!policy.shows_path(&names("check.sh")));
    assert!(!policy.shows_path(&names("a/check.sh")));
}
