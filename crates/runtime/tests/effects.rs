//! Effects: what is done once, what is done again, and what is refused.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::PathBuf;

use countersign_protocol::{DurationMillis, ProgramDefinition, ProtocolPolicy};
use countersign_run::EffectCall;
use countersign_runtime::effect::{
    EffectContext, EffectError, EffectErrorKind, EffectJournal, RetrieverRegistry, perform_effect,
};
use countersign_runtime::workspace::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

struct EffectRig {
    folder: TempDir,
    policy: ProtocolPolicy,
    workspace: Workspace,
    journal: EffectJournal,
}

/// A workspace in which one program is allowed: a line of shell.
fn open_rig(script: &str) -> EffectRig {
    let folder = tempfile::tempdir().unwrap();
    let mut policy = ProtocolPolicy::default();
    let command = ["/bin/sh", "-c", script, "sh"].map(str::to_owned).to_vec();
    let timeout = DurationMillis { millis: 60_000 };
    let environment = vec!["CARGO_MANIFEST_DIR".to_owned(), "NOT_SET_ANYWHERE".to_owned()];
    policy.programs.insert("it".to_owned(), ProgramDefinition { command, timeout, environment });
    let workspace = Workspace::open(folder.path()).unwrap();
    let journal = EffectJournal::open(&folder.path().join(".countersign/effects")).unwrap();
    EffectRig { folder, policy, workspace, journal }
}

impl EffectRig {
    async fn perform(&self, id: &str, order: &EffectCall) -> Result<Value, EffectError> {
        let sources = RetrieverRegistry::default();
        let Self { policy, workspace, journal, .. } = self;
        perform_effect(order, id, EffectContext { policy, workspace, sources: &sources, journal })
            .await
    }

    async fn run(&self, id: &str) -> Result<Value, EffectError> {
        self.perform(id, &run(&[], None)).await
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn entries(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.folder.path().join(".countersign/effects")).unwrap();
        folder.map(|entry| entry.unwrap().path()).collect()
    }
}

fn run(args: &[&str], input: Option<Value>) -> EffectCall {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    EffectCall::Run { program: "it".to_owned(), args, input }
}

fn write(path: &str, content: &str) -> EffectCall {
    EffectCall::Write {
        path: path.to_owned(),
        content: content.to_owned(),
        once: false,
        format: None,
    }
}

fn write_once(path: &str, content: &str) -> EffectCall {
    EffectCall::Write {
        path: path.to_owned(),
        content: content.to_owned(),
        once: true,
        format: None,
    }
}

fn copy(from: &str, to: &str) -> EffectCall {
    EffectCall::Copy { from: from.to_owned(), to: to.to_owned(), once: false, digest: None }
}

#[tokio::test]
async fn a_write_gives_the_same_result_each_time() {
    let rig = open_rig("");
    let first = rig.perform("r/1/0", &write("out/a.txt", "hello")).await.unwrap();
    assert_eq!(
        first,
        json!({
            "path": "out/a.txt",
            "bytes": 5,
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        })
    );
    assert_eq!(rig.perform("r/1/0", &write("out/a.txt", "hello")).await.unwrap(), first);
    assert_eq!(rig.file("out/a.txt"), "hello");
}

#[tokio::test]
async fn a_write_once_never_takes_the_place_of_something_else() {
    let rig = open_rig("");
    let order = write_once("out/v1.md", "one");
    let first = rig.perform("r/1/0", &order).await.unwrap();
    assert_eq!(first["bytes"], 3);
    // A crash repeats it, under this id or, where the run begins anew, another.
    assert_eq!(rig.perform("r/1/0", &order).await.unwrap(), first);
    assert_eq!(rig.perform("r/2/0", &order).await.unwrap(), first);
    for other in ["two", "on", "one more", ""] {
        let error = rig.perform("r/3/0", &write_once("out/v1.md", other)).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (EffectErrorKind::Exists, false), "{other}");
        assert_eq!(error.kind.as_str(), "exists");
    }
    assert_eq!(rig.file("out/v1.md"), "one");
    let left: Vec<_> = fs::read_dir(rig.folder.path().join("out")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");
    // A name that is a link, even one that leads nowhere, is taken too.
    std::os::unix::fs::symlink("nowhere", rig.folder.path().join("out/link.md")).unwrap();
    assert!(rig.perform("r/4/0", &write_once("out/link.md", "x")).await.is_err());
    assert!(!rig.folder.path().join("out/nowhere").exists());
    let error = rig.perform("r/5/0", &write_once("out", "x")).await.unwrap_err();
    assert_eq!(error.kind, EffectErrorKind::Invalid);
}

#[tokio::test]
async fn of_many_who_write_once_one_is_taken() {
    let rig = open_rig("");
    let orders: Vec<EffectCall> = (0..8).map(|n| write_once("out.md", &format!("{n}"))).collect();
    let mut tasks = tokio::task::JoinSet::new();
    for order in orders {
        let (workspace, EffectCall::Write { path, content, .. }) = (rig.workspace.clone(), order)
        else {
            unreachable!("they are writes")
        };
        tasks.spawn_blocking(move || workspace.write_once(&path, content.as_bytes()).is_ok());
    }
    let taken = tasks.join_all().await.into_iter().filter(|taken| *taken).count();
    assert_eq!(taken, 1);
    assert_eq!(rig.file("out.md").len(), 1);
}

#[tokio::test]
async fn a_copy_holds_the_same_and_stays_inside() {
    let rig = open_rig("");
    fs::create_dir(rig.folder.path().join("in")).unwrap();
    fs::write(rig.folder.path().join("in/a.bin"), [0_u8, 159, 146, 150]).unwrap();
    let order = copy("in/a.bin", "kept/deep/b.bin");
    let first = rig.perform("r/1/0", &order).await.unwrap();
    assert_eq!((&first["path"], &first["bytes"]), (&json!("kept/deep/b.bin"), &json!(4)));
    assert_eq!(rig.perform("r/1/0", &order).await.unwrap(), first);
    let copied = fs::read(rig.folder.path().join("kept/deep/b.bin")).unwrap();
    assert_eq!(copied, [0, 159, 146, 150]);
    std::os::unix::fs::symlink("/etc/hostname", rig.folder.path().join("out")).unwrap();
    for (from, to) in [
        ("in/none", "x"),
        ("../a", "x"),
        ("/etc/hostname", "x"),
        ("out", "x"),
        ("in", "x"),
        ("in/a.bin", "../x"),
        ("in/a.bin", ".countersign/effects/x"),
    ] {
        let error = rig.perform("r/2/0", &copy(from, to)).await.unwrap_err();
        assert!(!error.retryable && error.kind == EffectErrorKind::Invalid, "{from} {to}: {error}");
    }
}

#[tokio::test]
async fn a_copy_once_never_takes_the_place_of_something_else() {
    let rig = open_rig("");
    for (id, path, content) in [("r/1/0", "a.md", "one"), ("r/1/1", "b.md", "two")] {
        rig.perform(id, &write(path, content)).await.unwrap();
    }
    let once = |from: &str| EffectCall::Copy {
        from: from.into(),
        to: "kept.md".into(),
        once: true,
        digest: None,
    };
    let first = rig.perform("r/2/0", &once("a.md")).await.unwrap();
    assert_eq!(rig.perform("r/2/0", &once("a.md")).await.unwrap(), first, "its own bytes again");
    let error = rig.perform("r/3/0", &once("b.md")).await.unwrap_err();
    assert_eq!(error.kind.as_str(), "exists");
    assert_eq!(fs::read_to_string(rig.folder.path().join("kept.md")).unwrap(), "one");
}

/// What was approved is copied, and nothing that took its place.
#[tokio::test]
async fn a_copy_of_another_content_than_the_approved_one_is_not_made() {
    let rig = open_rig("");
    let source = rig.folder.path().join("a.md");
    fs::write(&source, "hello").unwrap();
    let approved = EffectCall::Copy {
        from: "a.md".into(),
        to: "kept.md".into(),
        once: false,
        digest: Some(
            "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".into(),
        ),
    };
    fs::write(&source, "mine").unwrap();
    let error = rig.perform("r/1/0", &approved).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::Changed, false));
    assert!(error.message.contains("`a.md` changed since the copy was requested"), "{error}");
    assert!(!rig.folder.path().join("kept.md").exists());
    fs::write(&source, "hello").unwrap();
    let first = rig.perform("r/1/0", &approved).await.unwrap();
    // A crash repeats a copy that was made, also if the file has changed since.
    fs::write(&source, "mine").unwrap();
    assert_eq!(rig.perform("r/1/0", &approved).await.unwrap(), first);
    assert_eq!(rig.file("kept.md"), "hello");
}

#[tokio::test]
async fn a_write_that_leads_out_is_invalid() {
    let rig = open_rig("");
    for path in ["../x", "/tmp/x", ".countersign/effects/x.json", ".git/hooks/post-commit"] {
        let error = rig.perform("r/1/0", &write(path, "x")).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (EffectErrorKind::Invalid, false), "{path}");
    }
}

#[tokio::test]
async fn a_program_gets_json_and_an_almost_empty_environment() {
    let rig = open_rig(r#"cat; printf '|%s|%s|' "$1" "$2"; pwd; env | sort"#);
    let order = run(&["a b", "$(touch shell)"], Some(json!({"k": [1, "ü"]})));
    let result = rig.perform("r/7/2", &order).await.unwrap();
    let stdout = result["stdout"].as_str().unwrap();
    let folder = rig.folder.path().canonicalize().unwrap();
    let head = format!("{{\"k\":[1,\"ü\"]}}|a b|$(touch shell)|{}\n", folder.display());
    let environment = stdout.strip_prefix(&head).unwrap();
    // The shell itself adds these three.
    let names: Vec<_> = environment
        .lines()
        .filter_map(|line| line.split('=').next())
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    assert_eq!(names, ["CARGO_MANIFEST_DIR", "COUNTERSIGN_ACTION_ID"]);
    assert!(environment.contains("COUNTERSIGN_ACTION_ID=r/7/2\n"));
    assert!(!folder.join("shell").exists(), "no shell looks at arguments");
    assert_eq!((&result["code"], result.get("json")), (&json!(0), None));
}

#[tokio::test]
async fn output_that_is_json_comes_as_json() {
    let rig = open_rig(r#"echo '{"ok": [true]}'; echo talk >&2"#);
    let result = rig.run("r/1/0").await.unwrap();
    assert_eq!(
        result,
        json!({"code": 0, "stdout": "{\"ok\": [true]}\n", "stderr": "talk\n", "json": {"ok": [true]}})
    );
}

#[tokio::test]
async fn output_that_would_lose_something_stays_text() {
    let rig = open_rig(r#"echo '{"a": 1, "a": 2}'"#);
    let result = rig.run("r/1/0").await.unwrap();
    assert_eq!(
        (result.get("json"), result["stdout"].as_str()),
        (None, Some("{\"a\": 1, \"a\": 2}\n"))
    );
}

#[tokio::test]
async fn a_finished_program_is_not_run_again() {
    let rig = open_rig("echo x >> count; wc -l < count");
    let first = rig.run("r/1/0").await.unwrap();
    let again = rig.run("r/1/0").await.unwrap();
    assert_eq!(first, again);
    assert_eq!(rig.file("count"), "x\n");
    rig.run("r/1/1").await.unwrap();
    assert_eq!(rig.file("count"), "x\nx\n", "another action is another run");
    assert_eq!(rig.entries().len(), 2);
    rig.journal.remove_entry("r/1/0").unwrap();
    rig.journal.remove_entry("r/1/0").unwrap();
    assert_eq!(rig.entries().len(), 1);
}

#[tokio::test]
async fn a_program_whose_end_nobody_saw_is_run_again() {
    let rig = open_rig("echo $COUNTERSIGN_ACTION_ID >> count");
    // The crash came between these two.
    rig.journal.record_start("r/1/0", &run(&[], None)).unwrap();
    rig.run("r/1/0").await.unwrap();
    assert_eq!(rig.file("count"), "r/1/0\n");
    // And here after the end was noted: a journal opened anew knows it.
    let reopened = EffectJournal::open(&rig.folder.path().join(".countersign/effects")).unwrap();
    assert!(reopened.load_result("r/1/0", &run(&[], None)).unwrap().is_some());
}

#[tokio::test]
async fn it_is_noted_before_it_is_done() {
    let rig = open_rig("cat .countersign/effects/*.json");
    let result = rig.run("r/1/0").await.unwrap();
    assert_eq!(
        (&result["json"]["id"], &result["json"]["state"]),
        (&json!("r/1/0"), &json!("started"))
    );
}

#[tokio::test]
async fn a_failure_is_no_result_and_may_be_tried_again() {
    let rig = open_rig("echo x >> count; echo why >&2; test $(wc -l < count) -gt 1 || exit 3");
    let error = rig.run("r/1/0").await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::Failed, false));
    assert_eq!(error.to_string(), "program `it` ended with code 3");
    assert_eq!(error.detail, Some(json!({"code": 3, "stdout": "", "stderr": "why\n"})));
    rig.run("r/1/0").await.unwrap();
}

#[tokio::test]
async fn an_id_means_one_order() {
    let rig = open_rig("echo x >> count");
    rig.run("r/1/0").await.unwrap();
    let other = run(&["other"], None);
    let error = rig.perform("r/1/0", &other).await.unwrap_err();
    assert_eq!(error.kind, EffectErrorKind::Conflict);
    assert_eq!(error.to_string(), "action `r/1/0` was already started with a different effect");
    assert_eq!(rig.file("count"), "x\n");
}

#[tokio::test]
async fn ids_that_look_alike_are_kept_apart() {
    let rig = open_rig("echo \"$COUNTERSIGN_ACTION_ID\" >> count");
    let long = "x".repeat(300);
    for id in ["a/1", "a_1", "A/1", "../../../etc/a", &long, &format!("{long}y")] {
        rig.run(id).await.unwrap();
        rig.run(id).await.unwrap();
    }
    assert_eq!(rig.file("count").lines().count(), 6);
    assert_eq!(rig.entries().len(), 6);
}

#[tokio::test]
async fn an_entry_that_was_changed_by_hand_stops_the_effect() {
    let rig = open_rig("echo x >> count");
    rig.run("r/1/0").await.unwrap();
    fs::write(&rig.entries()[0], "{").unwrap();
    let error = rig.run("r/1/0").await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::Conflict, false));
    assert_eq!(rig.file("count"), "x\n");
}

#[tokio::test]
async fn only_declared_programs_run() {
    let mut rig = open_rig("");
    let order = EffectCall::Run { program: "other".to_owned(), args: vec![], input: None };
    let error = rig.perform("r/1/0", &order).await.unwrap_err();
    assert_eq!(error.kind, EffectErrorKind::NotAllowed);
    assert_eq!(error.to_string(), "the policy declares no program `other`");
    let program = rig.policy.programs.get_mut("it").unwrap();
    program.command = vec!["no-such-program-anywhere".to_owned()];
    let error = rig.run("r/1/1").await.unwrap_err();
    assert_eq!(error.kind, EffectErrorKind::NotConfigured);
    assert_eq!(
        error.to_string(),
        "program `it`: program `no-such-program-anywhere` does not exist or is not executable"
    );
    rig.policy.programs.get_mut("it").unwrap().command.clear();
    let error = rig.run("r/1/2").await.unwrap_err();
    assert_eq!(error.to_string(), "program `it`: the command is empty; expected a program");
}

#[tokio::test]
async fn long_output_is_cut_and_never_blocks() {
    let script =
        "head -c 3000000 /dev/zero | tr '\\0' 1; head -c 100000 /dev/zero | tr '\\0' e >&2";
    let mut rig = open_rig(script);
    rig.policy.programs.get_mut("it").unwrap().environment.push("PATH".to_owned());
    let result = rig.run("r/1/0").await.unwrap();
    assert_eq!(result["stdout"].as_str().unwrap().len(), 1024 * 1024);
    assert_eq!(result["stderr"].as_str().unwrap().len(), 16 * 1024);
    assert_eq!(result["truncated"], json!(true));
    assert_eq!(result.get("json"), None, "half a number is not a number");
}

#[tokio::test]
async fn a_program_need_not_read_its_input() {
    let rig = open_rig("exec 0<&-; echo done");
    let order = run(&[], Some(json!("x".repeat(1_000_000))));
    let result = rig.perform("r/1/0", &order).await.unwrap();
    assert_eq!(result["stdout"], json!("done\n"));
}
