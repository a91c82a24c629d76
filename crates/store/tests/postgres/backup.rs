//! A dump of the database, restored elsewhere: the same runs, and they go on.

use std::process::{Command, Stdio};

use countersign_store::suite::sample::{self, load_stored_run};
use countersign_store::{ContentStore as _, RunId, RunStore as _, TenantId};
use testkit::PostgresCluster;

use crate::site::{Site, caller, store};

#[tokio::test]
async fn a_restored_dump_has_the_same_runs_and_goes_on() {
    let Some(site) = Site::fresh("a_restored_dump_has_the_same_runs").await else { return };
    let Some(binaries) = PostgresCluster::find_binaries() else {
        testkit::report_not_run("postgres: a_restored_dump", "no `pg_dump` in /usr/lib/postgresql");
        return;
    };
    let before = store(&site.url(), caller());
    let (run, other) = (RunId::local("r"), RunId::new(TenantId::new("other"), "r"));
    before.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    before.append_commit(sample::full_step(&run, 1, "b")).await.unwrap();
    sample::create_run_at_version(&before, &other, 3).await;
    before.put_protocol(&run.tenant, "sha256:p", "text").await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("runs.dump").display().to_string();
    let restored = Site::fresh("a_restored_dump_has_the_same_runs").await.unwrap();
    let mighty = |site: &Site| site.url().replace(&format!("{}@", site.role()), "tester@");
    let run_program = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(binaries.join(name));
        let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let arguments = ["--format=custom", "--schema=countersign", "--file", &dump];
    // A role that the wall stands for is told that its dump would not be whole.
    let (done, why) = run_program("pg_dump", &[&arguments[..], &[&site.url()]].concat());
    assert!(!done && why.contains("row-level security"), "{why}");
    let (done, why) = run_program("pg_dump", &[&arguments[..], &[&mighty(&site)]].concat());
    assert!(done, "{why}");
    let role = format!("--role={}", restored.role());
    let into = format!("--dbname={}", mighty(&restored));
    let (done, why) = run_program("pg_restore", &["--no-owner", &role, &into, &dump]);
    assert!(done, "{why}");

    let after = store(&restored.url(), caller());
    for run in [&run, &other] {
        assert_eq!(load_stored_run(&after, run).await, load_stored_run(&before, run).await);
    }
    assert_eq!(after.find_key_version(&run, "a-key").await.unwrap(), Some(1));
    assert_eq!(
        after.load_protocol(&run.tenant, "sha256:p").await.unwrap().as_deref(),
        Some("text")
    );
    after.append_commit(sample::step(&run, 2)).await.unwrap();
    assert!(after.probe_health().await.unwrap().row_security);
    assert_eq!(before.load_head(&run).await.unwrap().unwrap().version, 2);
}
