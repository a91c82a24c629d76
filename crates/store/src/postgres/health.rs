//! A look at the server itself: who it is, what it promises, how far away. Writes nothing, and works on
//! a database that a store would refuse to open.

use std::time::{Duration, Instant};

use countersign_postgres::{PgError, PgServer};

use super::migrate::{RUNS_SCHEMA, read_schema_version};
use crate::StoreError;

const HEALTH_QUERY: &str = "SELECT current_setting('server_version'), current_user::text,
    (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
    pg_is_in_recovery(), current_setting('synchronous_commit'), current_setting('fsync'),
    (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('countersign')
        AND relkind = 'r' AND NOT (relrowsecurity AND relforcerowsecurity)
        AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'tenant'))";

/// What a server is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresHealth {
    /// The version of the server.
    pub version: String,
    /// The schema of the database; 0 where it has none yet.
    pub schema: u32,
    /// The newest schema that this program knows.
    pub known_schema: u32,
    /// The role that logged in.
    pub role: String,
    /// Whether the second wall between tenants stands for this role: it is no superuser, and every table
    /// that names tenants is walled.
    pub walled: bool,
    /// Whether it is a standby, which cannot write.
    pub standby: bool,
    /// Whether what is acknowledged is on its disk.
    pub durable: bool,
    /// How long an answer takes.
    pub latency: Duration,
}

impl PostgresHealth {
    /// Looks at a server.
    pub async fn probe(server: &PgServer) -> Result<Self, StoreError> {
        let client = server.connect().await?;
        let unavailable =
            |error: tokio_postgres::Error| StoreError::from(PgError::from_client_error(&error));
        let row = client.query_typed_one(HEALTH_QUERY, &[]).await.map_err(unavailable)?;
        let schema = read_schema_version(&client, RUNS_SCHEMA).await?;
        let begun = Instant::now();
        client.batch_execute("SELECT 1").await.map_err(unavailable)?;
        let latency = begun.elapsed();
        let above: bool = row.get(2);
        let (commit, fsync): (String, String) = (row.get(4), row.get(5));
        Ok(Self {
            version: row.get(0),
            schema,
            known_schema: RUNS_SCHEMA.migrations.last().map_or(0, |step| step.number),
            role: row.get(1),
            walled: !above && row.get::<_, i64>(6) == 0,
            standby: row.get(3),
            durable: commit != "off" && fsync == "on",
            latency,
        })
    }
}
