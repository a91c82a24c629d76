//! A transaction in which one query depends on the result of the one before, for work that is
//! written as a plain function. It runs in a thread of its own that may block, and is retried for a
//! while after transient failures.
//!
//! If the reply to a commit is lost, the transaction's status is looked up by its id: the work runs
//! again only if the server says that the transaction was not committed.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use countersign_postgres::{PgError, PooledClient};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::{Client, Row};

use super::database::PostgresDatabase;
use super::pipeline::{SqlStatement, TenantScope, query_pipelined};
use crate::StoreError;

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgTransactionMode {
    /// It sees one snapshot and changes nothing.
    ReadOnly,
    /// It may change rows. Each query sees what others committed before the query started.
    ReadWrite,
    /// Like `ReadWrite`, but everything is rolled back: shows what would change.
    DryRun,
}

/// How long to wait for a lock that another session holds.
const LOCK_TIMEOUT: &str = "10s";

/// Runs queries within one transaction.
pub struct PgTransaction<'c> {
    client: &'c Client,
    runtime: &'c Handle,
    query_timeout: Duration,
    error: Cell<Option<PgError>>,
    /// The tenant scope that is set in the transaction.
    scope: RefCell<String>,
}

impl PgTransaction<'_> {
    /// Runs a query and returns its rows.
    pub fn query(
        &self,
        scope: TenantScope<'_>,
        call: SqlStatement<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.query_all(scope, &[call])?.pop().unwrap_or_default())
    }

    /// Runs several queries in one round trip and returns the rows of each.
    pub fn query_all(
        &self,
        scope: TenantScope<'_>,
        calls: &[SqlStatement<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        if let Some(outage) = self.error.get() {
            return Err(outage.into());
        }
        let told = scope.to_set_statements();
        let before = (*self.scope.borrow() != told).then_some(told.as_str());
        let answers = self.block_on_reply(query_pipelined(self.client, before, calls))?;
        if before.is_some() {
            *self.scope.borrow_mut() = told;
        }
        Ok(answers)
    }

    fn block_on_reply<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, PgError> {
        let answer = self.runtime.block_on(async { timeout(self.query_timeout, answer).await });
        let outage = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => PgError::from_client_error(&error),
            Err(_) => PgError::Unresponsive,
        };
        self.error.set(Some(outage));
        Err(outage)
    }

    /// Starts the transaction; returns its id if it may change rows.
    fn begin(&self, purpose: PgTransactionMode) -> Result<Option<String>, PgError> {
        if purpose == PgTransactionMode::ReadOnly {
            self.block_on_reply(
                self.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
            )?;
            return Ok(None);
        }
        let begin = format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'");
        let number = SqlStatement::new("SELECT pg_current_xact_id()::text");
        let rows = self.block_on_reply(query_pipelined(self.client, Some(&begin), &[number]))?;
        Ok(rows.first().and_then(|rows| rows.first()).map(|row| row.get(0)))
    }
}

/// The result of one attempt.
enum PgTransactionAttempt<T, E> {
    /// The work completed, or returned its own error.
    Done(Result<T, E>),
    /// The server failed; holds the error that the work returned for it.
    Failed(PgError, E),
    /// It is not known whether the transaction was committed; holds the result that the work would
    /// return and the transaction's id.
    InDoubt(PgError, T, String),
}

impl PostgresDatabase {
    /// Runs work as one transaction. An error of the work rolls it back.
    ///
    /// Call this inside a tokio runtime. Work that was started continues even if the caller drops
    /// the future.
    pub async fn run_transaction<T, E>(
        self: &Arc<Self>,
        purpose: PgTransactionMode,
        work: impl Fn(&PgTransaction<'_>) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.ensure_migrated().await?;
        let work = Arc::new(work);
        let mut patience = self.new_retry_window();
        loop {
            let (database, work, runtime) =
                (Arc::clone(self), Arc::clone(&work), Handle::current());
            let attempt = tokio::task::spawn_blocking(move || {
                database.attempt_transaction(&runtime, purpose, &*work)
            });
            let attempt = attempt.await.map_err(|_| StoreError::Closed)?;
            let (outage, error) = match attempt {
                PgTransactionAttempt::Done(answer) => return answer,
                PgTransactionAttempt::Failed(outage, error) => (outage, error),
                PgTransactionAttempt::InDoubt(outage, answer, number) => {
                    if self.was_committed(&number).await? {
                        return Ok(answer);
                    }
                    (outage, StoreError::from(outage).into())
                }
            };
            if !(outage.is_transient() && patience.wait_before_retry(outage).await) {
                return Err(error);
            }
        }
    }

    fn attempt_transaction<T, E: From<StoreError>>(
        &self,
        runtime: &Handle,
        purpose: PgTransactionMode,
        work: &impl Fn(&PgTransaction<'_>) -> Result<T, E>,
    ) -> PgTransactionAttempt<T, E> {
        let failed =
            |outage: PgError| PgTransactionAttempt::Failed(outage, StoreError::from(outage).into());
        let client = match runtime.block_on(self.pool().acquire()) {
            Ok(client) => client,
            Err(outage) => return failed(outage),
        };
        let within = self.settings().query_timeout;
        let (outage, scope) = (Cell::new(None), RefCell::default());
        let dialogue =
            PgTransaction { client: &client, runtime, query_timeout: within, error: outage, scope };
        let number = match dialogue.begin(purpose) {
            Ok(number) => number,
            Err(outage) => {
                self.abort_transaction(outage, client, runtime);
                return failed(outage);
            }
        };
        let answer = work(&dialogue);
        if let Some(outage) = dialogue.error.get() {
            self.abort_transaction(outage, client, runtime);
            return match answer {
                Ok(_) => failed(outage),
                Err(error) => PgTransactionAttempt::Failed(outage, error),
            };
        }
        let end = if answer.is_ok() && purpose == PgTransactionMode::ReadWrite {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        let Err(outage) = dialogue.block_on_reply(client.batch_execute(end)) else {
            return PgTransactionAttempt::Done(answer);
        };
        self.abort_transaction(outage, client, runtime);
        match (answer, number) {
            (Ok(answer), Some(number)) if outage.is_outcome_unknown() && end == "COMMIT" => {
                PgTransactionAttempt::InDoubt(outage, answer, number)
            }
            (Ok(_), _) if end == "COMMIT" => failed(outage),
            // There was nothing to commit.
            (answer, _) => PgTransactionAttempt::Done(answer),
        }
    }

    /// Makes sure that no transaction stays open after a failure.
    fn abort_transaction(&self, outage: PgError, client: PooledClient<'_>, runtime: &Handle) {
        if !outage.is_connection_broken() {
            let undone = runtime.block_on(async {
                timeout(Duration::from_secs(1), client.batch_execute("ROLLBACK")).await
            });
            if !matches!(undone, Ok(Ok(()))) {
                return client.discard();
            }
        }
        self.discard_if_broken(outage, client);
    }

    /// Whether a transaction with a lost reply was committed. Waits if the transaction is still in
    /// progress.
    async fn was_committed(&self, number: &str) -> Result<bool, StoreError> {
        let mut patience = self.new_retry_window();
        let status = "SELECT pg_xact_status($1::text::xid8)";
        loop {
            let asked = async {
                let client = self.pool().acquire().await?;
                let call = [SqlStatement::new(status).bind_text(&number)];
                match timeout(self.settings().query_timeout, query_pipelined(&client, None, &call))
                    .await
                {
                    Ok(Ok(rows)) => Ok(rows),
                    Ok(Err(error)) => Err(PgError::from_client_error(&error)),
                    Err(_) => Err(PgError::Unresponsive),
                }
            };
            let outage = match asked.await {
                Ok(rows) => {
                    let row = rows.first().and_then(|rows| rows.first());
                    match row.and_then(|row| row.get::<_, Option<String>>(0)).as_deref() {
                        Some("committed") => return Ok(true),
                        Some("aborted") => return Ok(false),
                        _ => PgError::SerializationFailure,
                    }
                }
                Err(outage) => outage,
            };
            if !(outage.is_transient() && patience.wait_before_retry(outage).await) {
                return Err(PgError::ConnectionLost.into());
            }
        }
    }
}
