//! A transaction in which one question follows from the answer before: for work that is written as a plain
//! function. It has a thread of its own that may wait, and is done again for a while where that may help.
//!
//! A commit whose answer was lost is looked up by the number of its transaction: it is done again only where the
//! server says that it was not kept.

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

/// What a dialogue is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgTransactionMode {
    /// It sees one moment and changes nothing.
    ReadOnly,
    /// It changes something. Each question sees what others have committed before it is asked.
    ReadWrite,
    /// The same, and all of it is undone: to tell what would be changed.
    DryRun,
}

/// How long somebody else's lock is waited for.
const LOCK_TIMEOUT: &str = "10s";

/// Questions within one transaction.
pub struct PgTransaction<'c> {
    client: &'c Client,
    runtime: &'c Handle,
    query_timeout: Duration,
    error: Cell<Option<PgError>>,
    /// What the transaction was told that it may see.
    scope: RefCell<String>,
}

impl PgTransaction<'_> {
    /// The rows that answer a question.
    pub fn query(
        &self,
        scope: TenantScope<'_>,
        call: SqlStatement<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.query_all(scope, &[call])?.pop().unwrap_or_default())
    }

    /// The rows that answer each of several questions: one round trip.
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

    /// Begins, and gives the number of the transaction where it may change something.
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

/// What came of one attempt.
enum PgTransactionAttempt<T, E> {
    /// It was answered, or refused by the work itself.
    Done(Result<T, E>),
    /// The server did not do it; what the work said of it.
    Failed(PgError, E),
    /// Whether it was kept is not known: what it would answer, and the number of its transaction.
    InDoubt(PgError, T, String),
}

impl PostgresDatabase {
    /// Does work as one transaction. An error of the work undoes it.
    ///
    /// Must be called inside a tokio runtime. What was begun goes on where nobody waits for it any more.
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
            // Nothing was to be kept.
            (answer, _) => PgTransactionAttempt::Done(answer),
        }
    }

    /// Leaves no transaction open behind an outage.
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

    /// Whether a transaction whose end was not told was committed. One that is under way is waited for.
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
