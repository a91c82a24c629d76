//! Health check of the server: its version, its guarantees and its latency. It writes nothing, and
//! works on a database that a store would refuse to open.

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

/// The state of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresHealth {
    /// Version of the server software.
    pub version: String,
    /// Schema version of the database; 0 if it has none yet.
    pub schema: u32,
    /// The newest schema version that this program supports.
    pub known_schema: u32,
    /// The role that logged in.
    pub role: String,
    /// Whether row security separates tenants for this role: the role is not a superuser, and every
    /// table with a tenant column has row security.
    pub row_security: bool,
    /// Whether the server is a standby, which cannot write.
    pub standby: bool,
    /// Whether acknowledged commits are on disk (`synchronous_commit` and `fsync` are on).
    pub durable: bool,
    /// Round-trip time of a trivial statement.
    pub latency: Duration,
}

impl PostgresHealth {
    /// Connects to a server and reads its state.
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
            row_security: !above && row.get::<_, i64>(6) == 0,
            standby: row.get(3),
            durable: commit != "off" && fsync == "on",
            latency,
        })
    }
}
