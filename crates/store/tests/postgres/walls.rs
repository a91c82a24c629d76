//! Row-level security, the second wall: what a query forgets to say, the transaction says.

use countersign_store::suite::sample;
use countersign_store::{ContentStore as _, PostgresStore, RunId, RunStore as _, TenantId};
use tokio_postgres::Client;

use crate::site::{Site, caller, server};

const TABLES: [&str; 8] =
    ["runs", "log", "snapshots", "actions", "waits", "keys", "blobs", "protocols"];

async fn filled(site: &Site) -> Client {
    let store = PostgresStore::open(server(&site.url()), caller()).await.unwrap();
    for tenant in ["ours", "theirs"] {
        let tenant = TenantId::new(tenant);
        let run = RunId::new(tenant.clone(), "r");
        store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
        store.put_protocol(&tenant, "sha256:p", "text").await.unwrap();
    }
    site.client().await
}

/// How many rows of a table a transaction finds that is for this tenant.
async fn found(client: &Client, setting: &str, table: &str, clause: &str) -> i64 {
    client.batch_execute("BEGIN").await.unwrap();
    client.batch_execute(setting).await.unwrap();
    let count = format!("SELECT count(*) FROM countersign.{table} {clause}");
    let rows = client.query_one(&count, &[]).await.unwrap().get(0);
    client.batch_execute("COMMIT").await.unwrap();
    rows
}

#[tokio::test]
async fn a_forged_tenant_finds_nothing() {
    let Some(site) = Site::fresh("a_forged_tenant_finds_nothing").await else { return };
    let client = filled(&site).await;
    let ours = "SET LOCAL countersign.tenant = 'ours'";
    for table in TABLES {
        let all = found(&client, ours, table, "").await;
        assert!(all > 0, "{table}");
        assert_eq!(found(&client, ours, table, "WHERE tenant = 'ours'").await, all);
        // Whatever the query asks for.
        assert_eq!(found(&client, ours, table, "WHERE tenant = 'theirs'").await, 0, "{table}");
        assert_eq!(found(&client, ours, table, "WHERE tenant <> 'ours' OR true").await, all);
    }
    let forged = "INSERT INTO countersign.protocols VALUES ('theirs', 'd', 't')";
    client.batch_execute("BEGIN; SET LOCAL countersign.tenant = 'ours'").await.unwrap();
    let refused = client.batch_execute(forged).await.unwrap_err();
    assert_eq!(refused.code().unwrap().code(), "42501");
    client.batch_execute("ROLLBACK").await.unwrap();
    client.batch_execute("BEGIN; SET LOCAL countersign.tenant = 'ours'").await.unwrap();
    for table in TABLES {
        let spoil = format!("DELETE FROM countersign.{table} WHERE tenant = 'theirs'");
        assert_eq!(client.execute(&spoil, &[]).await.unwrap(), 0, "{table}");
    }
    client.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn without_a_tenant_nothing_is_found() {
    let Some(site) = Site::fresh("without_a_tenant_nothing_is_found").await else { return };
    let client = filled(&site).await;
    for table in TABLES {
        let count = format!("SELECT count(*) FROM countersign.{table}");
        let rows: i64 = client.query_one(&count, &[]).await.unwrap().get(0);
        assert_eq!(rows, 0, "{table}");
        assert_eq!(found(&client, "SET LOCAL countersign.tenant = ''", table, "").await, 0);
    }
    // What a transaction said is forgotten with it.
    assert!(found(&client, "SET LOCAL countersign.tenant = 'ours'", "log", "").await > 0);
    let rows: i64 =
        client.query_one("SELECT count(*) FROM countersign.log", &[]).await.unwrap().get(0);
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn the_look_across_tenants_sees_heads_only() {
    let Some(site) = Site::fresh("the_look_across_tenants_sees_heads_only").await else { return };
    let client = filled(&site).await;
    for table in TABLES {
        let rows = found(&client, "SET LOCAL countersign.all_tenants = 'on'", table, "").await;
        assert_eq!(rows, if table == "runs" { 2 } else { 0 }, "{table}");
    }
}

#[tokio::test]
async fn health_tells_whether_the_wall_stands() {
    let Some(site) = Site::fresh("health_tells_whether_the_wall_stands").await else { return };
    filled(&site).await;
    let of =
        async |url: &str| PostgresStore::new(server(url), caller()).probe_health().await.unwrap();
    let health = of(&site.url()).await;
    assert!(health.row_security && !health.standby, "{health:?}");
    assert_eq!(health.role, site.role());
    let mighty = of(&site.url().replace(&format!("{}@", site.role()), "tester@")).await;
    assert!(!mighty.row_security, "{mighty:?}");
}
