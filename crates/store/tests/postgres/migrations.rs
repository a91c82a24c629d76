//! The schema goes forward under a lock, and beside programs that know less.

use countersign_store::RunStore as _;
use countersign_store::suite::sample;
use countersign_store::{
    PostgresDatabase, PostgresMigration, PostgresSchema, PostgresSettings, PostgresStore, RunId,
    StoreError,
};

use crate::site::{Site, caller, server, store};

const NOTES: PostgresMigration = PostgresMigration {
    number: 1,
    name: "notes",
    compatible_from: 1,
    sql: "CREATE TABLE notes_test.notes (text text);",
};
const COLOURS: PostgresMigration = PostgresMigration {
    number: 2,
    name: "colours",
    compatible_from: 1,
    sql: "ALTER TABLE notes_test.notes ADD COLUMN colour text;",
};
const BROKEN: PostgresMigration = PostgresMigration {
    number: 2,
    name: "broken",
    compatible_from: 1,
    sql: "CREATE TABLE notes_test.half (x int); INSERT INTO notes_test.nowhere VALUES (1);",
};

async fn ready(site: &Site, steps: &'static [PostgresMigration]) -> Result<u32, StoreError> {
    let schema =
        PostgresSchema { name: "notes_test", migrations_table: "migrations", migrations: steps };
    PostgresDatabase::new(server(&site.url()), PostgresSettings::default(), schema)
        .ensure_migrated()
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_migrate_at_once_end_well() {
    let Some(site) = Site::fresh("many_who_migrate_at_once_end_well").await else { return };
    let url = site.url();
    let opening = (0..8).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { PostgresStore::open(server(&url), caller()).await.map(|_| ()) })
    });
    for opened in opening.collect::<Vec<_>>() {
        opened.await.unwrap().unwrap();
    }
    let steps = "SELECT count(*) FROM countersign.migrations";
    let steps: i64 = site.client().await.query_one(steps, &[]).await.unwrap().get(0);
    let health = store(&url, caller()).probe_health().await.unwrap();
    assert_eq!(i64::from(health.schema), steps);
    assert_eq!(health.schema, health.known_schema);
}

#[tokio::test]
async fn a_schema_goes_forward_and_a_step_that_fails_leaves_nothing() {
    let Some(site) = Site::fresh("a_schema_goes_forward").await else { return };
    assert_eq!(ready(&site, &[NOTES]).await.unwrap(), 1);
    ready(&site, &[NOTES, BROKEN]).await.unwrap_err();
    assert_eq!(ready(&site, &[NOTES]).await.unwrap(), 1);
    assert_eq!(ready(&site, &[NOTES, COLOURS]).await.unwrap(), 2);
    let colour = "SELECT colour, to_regclass('notes_test.half')::text FROM
        (SELECT) AS one LEFT JOIN notes_test.notes ON true";
    let row = site.client().await.query_one(colour, &[]).await.unwrap();
    assert_eq!(row.get::<_, Option<String>>(1), None);
}

#[tokio::test]
async fn an_older_program_goes_on_where_the_change_allows_it() {
    let Some(site) = Site::fresh("an_older_program_goes_on").await else { return };
    let run = RunId::local("r");
    let known = {
        let store = store(&site.url(), caller());
        sample::create_run_at_version(&store, &run, 1).await;
        store.probe_health().await.unwrap().known_schema
    };
    let client = site.client().await;
    let later = format!(
        "INSERT INTO countersign.migrations VALUES ({}, 'later', {known}, 'x', now());
         ALTER TABLE countersign.runs ADD COLUMN colour text;",
        known + 1
    );
    client.batch_execute(&later).await.unwrap();
    let beside = store(&site.url(), caller());
    beside.append_commit(sample::step(&run, 1)).await.unwrap();
    assert_eq!(beside.load_head(&run).await.unwrap().unwrap().version, 2);
    assert_eq!(beside.probe_health().await.unwrap().schema, known + 1);

    let breaking = format!(
        "UPDATE countersign.migrations SET compatible_from = {0} WHERE number = {0}",
        known + 1
    );
    client.batch_execute(&breaking).await.unwrap();
    let refused = store(&site.url(), caller()).load_head(&run).await.unwrap_err();
    let told = format!(
        "the database has schema {}; this program supports schemas up to {known}",
        known + 1
    );
    assert_eq!(refused.to_string(), told);
}

#[tokio::test]
async fn what_is_not_ours_is_told_and_left_alone() {
    let Some(site) = Site::fresh("what_is_not_ours_is_told_and_left_alone").await else { return };
    let client = site.client().await;
    client
        .batch_execute("CREATE SCHEMA countersign; CREATE TABLE countersign.t (x int)")
        .await
        .unwrap();
    let refused = PostgresStore::open(server(&site.url()), caller()).await;
    assert!(matches!(refused, Err(StoreError::ForeignDatabase)), "{refused:?}");
    client.batch_execute("DROP TABLE countersign.t").await.unwrap();
    // An empty schema that somebody made for us is ours.
    PostgresStore::open(server(&site.url()), caller()).await.unwrap();
    client.batch_execute("UPDATE countersign.migrations SET checksum = 'x'").await.unwrap();
    let refused = PostgresStore::open(server(&site.url()), caller()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the database is damaged: schema migration 1 differs from migration `runs` of this program"
    );
}

#[tokio::test]
async fn a_role_that_may_not_change_the_schema_uses_one_that_is_there() {
    let Some(site) = Site::fresh("a_role_that_may_not_change_the_schema").await else { return };
    let admin = site.admin().await;
    let refusing = format!("ALTER DATABASE {} OWNER TO tester", site.name());
    admin.batch_execute(&refusing).await.unwrap();
    let refused = PostgresStore::open(server(&site.url()), caller()).await.unwrap_err();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(cause, "the role lacks a required privilege in this database");
    let mighty = site.url().replace(&format!("{}@", site.role()), "tester@");
    PostgresStore::open(server(&mighty), caller()).await.unwrap();
    let grant = format!(
        "GRANT USAGE ON SCHEMA countersign TO {0};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA countersign TO {0}",
        site.role()
    );
    admin.batch_execute(&grant).await.unwrap();
    let store = store(&site.url(), caller());
    sample::create_run_at_version(&store, &RunId::local("r"), 3).await;
    assert!(store.probe_health().await.unwrap().row_security);
}
