//! Row-level security, the second wall: what a query forgets to say, the transaction says.

use countersign_memory::store::EraseTarget;
use countersign_memory::store::suite::canaries::{CANARIES, plant};
use countersign_memory::store::suite::sample::NOW;
use countersign_memory::store::{MemoryMaintenance as _, MemoryWriter as _};
use countersign_memory::{EmbeddingVector, MemoryScope};
use countersign_store::StoreMaintenance as _;
use countersign_store::{PostgresSettings, PostgresStore, StoreError};
use tokio_postgres::Client;

use crate::site::Site;

/// Two tenants with a row in every table.
async fn filled(site: &Site) -> Vec<String> {
    let memory = site.memory();
    for tenant in ["ours", "theirs"] {
        for user in ["gone", "stays"] {
            let scope = MemoryScope::new(tenant, user, "a", "s", "r").unwrap();
            plant(&memory, &scope).await;
            let vector = EmbeddingVector::from_floats("embedder", &[1.0, 0.5]).unwrap();
            let vectors = vec![(format!("{}-e1", CANARIES[4]), vector)];
            assert_eq!(memory.store_vectors(&scope.subject(), vectors).await.unwrap(), 1);
        }
        let scope = MemoryScope::new(tenant, "gone", "a", "s", "r").unwrap();
        memory.forget(EraseTarget::Subject(scope.subject()), NOW).await.unwrap();
    }
    let tables =
        "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relname LIKE 'memory\\_%'
        AND relname <> 'memory_migrations' AND relnamespace = to_regnamespace('countersign')";
    let rows = site.client().await.query(tables, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn found(client: &Client, setting: &str, table: &str, clause: &str) -> i64 {
    client.batch_execute(&format!("BEGIN; {setting}")).await.unwrap();
    let count = format!("SELECT count(*) FROM countersign.{table} {clause}");
    let rows = client.query_one(&count, &[]).await.unwrap().get(0);
    client.batch_execute("COMMIT").await.unwrap();
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_tenant_finds_nothing() {
    let Some(site) = Site::fresh("a_forged_tenant_finds_nothing").await else { return };
    let tables = filled(&site).await;
    assert_eq!(tables.len(), 17, "{tables:?}");
    let client = site.client().await;
    let ours = "SET LOCAL countersign.tenant = 'ours'";
    for table in &tables {
        let all = found(&client, ours, table, "").await;
        assert!(all > 0, "{table}");
        assert_eq!(found(&client, ours, table, "WHERE tenant = 'ours'").await, all, "{table}");
        assert_eq!(found(&client, ours, table, "WHERE tenant = 'theirs'").await, 0, "{table}");
        assert_eq!(found(&client, ours, table, "WHERE tenant <> 'ours' OR true").await, all);
        assert_eq!(found(&client, "SELECT 1", table, "").await, 0, "{table} without a tenant");
        assert_eq!(found(&client, "SET LOCAL countersign.all_tenants = 'on'", table, "").await, 0);
        let audit = "SET LOCAL countersign.audit = 'on'";
        assert_eq!(found(&client, audit, table, "").await, 2 * all, "{table}");
    }
    // The look at everything cannot write.
    for table in &tables {
        for setting in ["SET LOCAL countersign.audit = 'on'", ours] {
            client.batch_execute(&format!("BEGIN; {setting}")).await.unwrap();
            let spoil = format!("DELETE FROM countersign.{table} WHERE tenant = 'theirs'");
            assert_eq!(client.execute(&spoil, &[]).await.unwrap(), 0, "{table}");
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    }
    let forged = "INSERT INTO countersign.memory_tombstones VALUES ('theirs', 'm', 0)";
    client.batch_execute(&format!("BEGIN; {ours}")).await.unwrap();
    let refused = client.batch_execute(forged).await.unwrap_err();
    assert_eq!(refused.code().unwrap().code(), "42501");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_and_memory_share_a_schema_whoever_comes_first() {
    for memory_first in [true, false] {
        let Some(site) = Site::fresh("runs_and_memory_share_a_schema").await else { return };
        let store = PostgresStore::new(site.server(), PostgresSettings::default());
        if memory_first {
            site.memory().find_scope_violations().await.unwrap();
        }
        store.list_tenants().await.unwrap();
        site.memory().find_scope_violations().await.unwrap();
        assert!(store.probe_health().await.unwrap().row_security);
        let open = "ALTER TABLE countersign.memory_facts NO FORCE ROW LEVEL SECURITY";
        site.client().await.batch_execute(open).await.unwrap();
        assert!(!store.probe_health().await.unwrap().row_security, "a wall of memory counts too");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_of_somebody_else_is_refused() {
    let Some(site) = Site::fresh("a_schema_of_somebody_else_is_refused").await else { return };
    let theirs = "CREATE SCHEMA countersign; CREATE TABLE countersign.notes (text text)";
    site.client().await.batch_execute(theirs).await.unwrap();
    let refused = site.memory().find_scope_violations().await.unwrap_err();
    let foreign = countersign_memory::store::MemoryError::Store(StoreError::ForeignDatabase);
    assert_eq!(refused.to_string(), foreign.to_string());
}
