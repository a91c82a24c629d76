//! One database on a server: its connections, its schema, and retries after outages. Every
//! `PostgreSQL` store is built on this; it knows no table except the one that records schema
//! migrations.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_postgres::{PgError, PgPool, PgServer};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::Row;

use super::migrate::{PostgresSchema, migrate};
use super::pipeline::{PgAccessMode, SqlStatement, TenantScope, run_statement, run_transaction};
use super::settings::PostgresSettings;
use crate::StoreError;

/// The longest pause between two attempts.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// A database that connects on demand.
#[derive(Debug)]
pub struct PostgresDatabase {
    pool: PgPool,
    settings: PostgresSettings,
    schema: PostgresSchema,
    /// The schema version that was found, once it was read.
    schema_version: OnceCell<u32>,
}

impl PostgresDatabase {
    /// Creates a database without connecting. The first query migrates the schema before it runs.
    #[must_use]
    pub fn new(server: PgServer, settings: PostgresSettings, schema: PostgresSchema) -> Self {
        let pool = PgPool::new(server, settings.connections);
        Self { pool, settings, schema, schema_version: OnceCell::new() }
    }

    /// Migrates the schema once and returns its version.
    ///
    /// If the server has never been reached and does not exist, this fails at once, because its
    /// address may be wrong. If the server exists and is not ready, this waits for it.
    pub async fn ensure_migrated(&self) -> Result<u32, StoreError> {
        self.schema_version.get_or_try_init(|| self.migrate_with_retry()).await.copied()
    }

    async fn migrate_with_retry(&self) -> Result<u32, StoreError> {
        let mut patience = self.new_retry_window();
        loop {
            let answer = migrate(self.pool.server(), self.schema).await;
            let outage = match &answer {
                Err(StoreError::Unavailable { source }) => {
                    source.downcast_ref::<PgError>().copied()
                }
                _ => None,
            };
            match outage {
                Some(
                    outage @ (PgError::StartingUp
                    | PgError::TooManyConnections
                    | PgError::ConnectionLost),
                ) if patience.wait_before_retry(outage).await => {}
                _ => return answer,
            }
        }
    }

    /// Runs queries in one consistent snapshot; retries transient failures for a while.
    pub async fn query_all(
        &self,
        scope: TenantScope<'_>,
        calls: &[SqlStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.run_with_retry(scope, PgAccessMode::ReadOnly, calls).await
    }

    /// Runs idempotent changes; retries transient failures for a while.
    pub async fn execute_all(
        &self,
        scope: TenantScope<'_>,
        calls: &[SqlStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.run_with_retry(scope, PgAccessMode::ReadWrite, calls).await
    }

    async fn run_with_retry(
        &self,
        scope: TenantScope<'_>,
        aim: PgAccessMode,
        calls: &[SqlStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.ensure_migrated().await?;
        let mut patience = self.new_retry_window();
        loop {
            match self.run_once(scope, aim, calls).await {
                Ok(rows) => return Ok(rows),
                Err(outage)
                    if outage.is_transient() && patience.wait_before_retry(outage).await => {}
                Err(outage) => return Err(outage.into()),
            }
        }
    }

    async fn run_once(
        &self,
        scope: TenantScope<'_>,
        aim: PgAccessMode,
        calls: &[SqlStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, PgError> {
        let client = self.pool.acquire().await?;
        let answer =
            match timeout(self.settings.query_timeout, run_transaction(&client, scope, aim, calls))
                .await
            {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => PgError::from_client_error(&error),
                Err(_) => PgError::Unresponsive,
            };
        self.discard_if_broken(answer, client);
        Err(answer)
    }

    /// Runs several statements as one transaction, without a retry. `calls` set their tenant
    /// themselves.
    pub(super) async fn commit_once(
        &self,
        calls: &[SqlStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, PgError> {
        let client = self.pool.acquire().await?;
        let kept = async {
            match calls {
                // A single statement is its own transaction.
                [one] => run_statement(&client, one).await.map(|rows| vec![rows]),
                several => {
                    run_transaction(
                        &client,
                        TenantScope::Tenant(""),
                        PgAccessMode::ReadWrite,
                        several,
                    )
                    .await
                }
            }
        };
        let answer = match timeout(self.settings.query_timeout, kept).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) => PgError::from_client_error(&error),
            Err(_) => PgError::Unresponsive,
        };
        self.discard_if_broken(answer, client);
        Err(answer)
    }

    pub(super) fn discard_if_broken(
        &self,
        outage: PgError,
        client: countersign_postgres::PooledClient<'_>,
    ) {
        if outage.is_connection_broken() {
            client.discard();
            self.pool.close_idle();
        }
    }

    pub(super) fn new_retry_window(&self) -> PgRetryWindow {
        PgRetryWindow {
            deadline: Instant::now() + self.settings.retry_for,
            next_pause: Duration::ZERO,
        }
    }

    /// Returns the server of this database.
    #[must_use]
    pub fn server(&self) -> &PgServer {
        self.pool.server()
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(super) fn settings(&self) -> &PostgresSettings {
        &self.settings
    }
}

/// The time window in which a call is retried.
pub(super) struct PgRetryWindow {
    deadline: Instant,
    next_pause: Duration,
}

impl PgRetryWindow {
    /// Waits before the next attempt; returns `false` if the window has ended.
    pub(super) async fn wait_before_retry(&mut self, outage: PgError) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        // A connection that closed while it was idle says nothing about the server, so the first
        // retry is immediate.
        if !(self.next_pause.is_zero() && outage == PgError::ConnectionLost) {
            let pause = add_jitter(self.next_pause.max(Duration::from_millis(40)));
            tokio::time::sleep(pause.min(self.deadline - now)).await;
        }
        self.next_pause = (self.next_pause.max(Duration::from_millis(40)) * 2).min(MAX_RETRY_PAUSE);
        true
    }
}

/// Returns between half of a pause and all of it, so that many disconnected clients do not come
/// back at once.
fn add_jitter(pause: Duration) -> Duration {
    let chance = RandomState::new().hash_one(0_u8) % 1024;
    pause / 2 + pause.mul_f64(chance as f64 / 2048.0)
}

/// A database that several owners share.
pub(super) type SharedPgDatabase = Arc<PostgresDatabase>;
