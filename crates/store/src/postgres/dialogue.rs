//! A transaction in which one question follows from the answer before: for work that is written as a plain
//! function. It has a thread of its own that may wait, and is done again for a while where that may help.
//!
//! A commit whose answer was lost is looked up by the number of its transaction: it is done again only where the
//! server says that it was not kept.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use countersign_postgres::{Lent, Outage};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::{Client, Row};

use super::database::PostgresDatabase;
use super::pipeline::{Call, Scope, ask};
use crate::StoreError;

/// What a dialogue is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It sees one moment and changes nothing.
    Look,
    /// It changes something. Each question sees what others have committed before it is asked.
    Change,
    /// The same, and all of it is undone: to tell what would be changed.
    Rehearse,
}

/// How long somebody else's lock is waited for.
const LOCKED_FOR: &str = "10s";

/// Questions within one transaction.
pub struct Dialogue<'c> {
    client: &'c Client,
    runtime: &'c Handle,
    within: Duration,
    outage: Cell<Option<Outage>>,
    /// What the transaction was told that it may see.
    scope: RefCell<String>,
}

impl Dialogue<'_> {
    /// The rows that answer a question.
    pub fn ask(&self, scope: Scope<'_>, call: Call<'_>) -> Result<Vec<Row>, StoreError> {
        Ok(self.ask_all(scope, &[call])?.pop().unwrap_or_default())
    }

    /// The rows that answer each of several questions: one round trip.
    pub fn ask_all(
        &self,
        scope: Scope<'_>,
        calls: &[Call<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        if let Some(outage) = self.outage.get() {
            return Err(outage.into());
        }
        let told = scope.told();
        let before = (*self.scope.borrow() != told).then_some(told.as_str());
        let answers = self.waited(ask(self.client, before, calls))?;
        if before.is_some() {
            *self.scope.borrow_mut() = told;
        }
        Ok(answers)
    }

    fn waited<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Outage> {
        let answer = self.runtime.block_on(async { timeout(self.within, answer).await });
        let outage = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => Outage::of(&error),
            Err(_) => Outage::Unreached,
        };
        self.outage.set(Some(outage));
        Err(outage)
    }

    /// Begins, and gives the number of the transaction where it may change something.
    fn begin(&self, purpose: Purpose) -> Result<Option<String>, Outage> {
        if purpose == Purpose::Look {
            self.waited(
                self.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
            )?;
            return Ok(None);
        }
        let begin = format!("BEGIN; SET LOCAL lock_timeout = '{LOCKED_FOR}'");
        let number = Call::new("SELECT pg_current_xact_id()::text");
        let rows = self.waited(ask(self.client, Some(&begin), &[number]))?;
        Ok(rows.first().and_then(|rows| rows.first()).map(|row| row.get(0)))
    }
}

/// What came of one attempt.
enum Attempt<T, E> {
    /// It was answered, or refused by the work itself.
    Done(Result<T, E>),
    /// The server did not do it; what the work said of it.
    Failed(Outage, E),
    /// Whether it was kept is not known: what it would answer, and the number of its transaction.
    Doubtful(Outage, T, String),
}

impl PostgresDatabase {
    /// Does work as one transaction. An error of the work undoes it.
    ///
    /// Must be called inside a tokio runtime. What was begun goes on where nobody waits for it any more.
    pub async fn converse<T, E>(
        self: &Arc<Self>,
        purpose: Purpose,
        work: impl Fn(&Dialogue<'_>) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.ready().await?;
        let work = Arc::new(work);
        let mut patience = self.patience();
        loop {
            let (database, work, runtime) =
                (Arc::clone(self), Arc::clone(&work), Handle::current());
            let attempt =
                tokio::task::spawn_blocking(move || database.attempted(&runtime, purpose, &*work));
            let attempt = attempt.await.map_err(|_| StoreError::Closed)?;
            let (outage, error) = match attempt {
                Attempt::Done(answer) => return answer,
                Attempt::Failed(outage, error) => (outage, error),
                Attempt::Doubtful(outage, answer, number) => {
                    if self.was_kept(&number).await? {
                        return Ok(answer);
                    }
                    (outage, StoreError::from(outage).into())
                }
            };
            if !(outage.passes() && patience.pause(outage).await) {
                return Err(error);
            }
        }
    }

    fn attempted<T, E: From<StoreError>>(
        &self,
        runtime: &Handle,
        purpose: Purpose,
        work: &impl Fn(&Dialogue<'_>) -> Result<T, E>,
    ) -> Attempt<T, E> {
        let failed = |outage: Outage| Attempt::Failed(outage, StoreError::from(outage).into());
        let client = match runtime.block_on(self.pool().lend()) {
            Ok(client) => client,
            Err(outage) => return failed(outage),
        };
        let within = self.settings().answer_within;
        let (outage, scope) = (Cell::new(None), RefCell::default());
        let dialogue = Dialogue { client: &client, runtime, within, outage, scope };
        let number = match dialogue.begin(purpose) {
            Ok(number) => number,
            Err(outage) => {
                self.end(outage, client, runtime);
                return failed(outage);
            }
        };
        let answer = work(&dialogue);
        if let Some(outage) = dialogue.outage.get() {
            self.end(outage, client, runtime);
            return match answer {
                Ok(_) => failed(outage),
                Err(error) => Attempt::Failed(outage, error),
            };
        }
        let end = if answer.is_ok() && purpose == Purpose::Change { "COMMIT" } else { "ROLLBACK" };
        let Err(outage) = dialogue.waited(client.batch_execute(end)) else {
            return Attempt::Done(answer);
        };
        self.end(outage, client, runtime);
        match (answer, number) {
            (Ok(answer), Some(number)) if outage.leaves_doubt() && end == "COMMIT" => {
                Attempt::Doubtful(outage, answer, number)
            }
            (Ok(_), _) if end == "COMMIT" => failed(outage),
            // Nothing was to be kept.
            (answer, _) => Attempt::Done(answer),
        }
    }

    /// Leaves no transaction open behind an outage.
    fn end(&self, outage: Outage, client: Lent<'_>, runtime: &Handle) {
        if !outage.ends_connection() {
            let undone = runtime.block_on(async {
                timeout(Duration::from_secs(1), client.batch_execute("ROLLBACK")).await
            });
            if !matches!(undone, Ok(Ok(()))) {
                return client.discard();
            }
        }
        self.after(outage, client);
    }

    /// Whether a transaction whose end was not told was committed. One that is under way is waited for.
    async fn was_kept(&self, number: &str) -> Result<bool, StoreError> {
        let mut patience = self.patience();
        let status = "SELECT pg_xact_status($1::text::xid8)";
        loop {
            let asked = async {
                let client = self.pool().lend().await?;
                let call = [Call::new(status).text(&number)];
                match timeout(self.settings().answer_within, ask(&client, None, &call)).await {
                    Ok(Ok(rows)) => Ok(rows),
                    Ok(Err(error)) => Err(Outage::of(&error)),
                    Err(_) => Err(Outage::Unreached),
                }
            };
            let outage = match asked.await {
                Ok(rows) => {
                    let row = rows.first().and_then(|rows| rows.first());
                    match row.and_then(|row| row.get::<_, Option<String>>(0)).as_deref() {
                        Some("committed") => return Ok(true),
                        Some("aborted") => return Ok(false),
                        _ => Outage::InTheWay,
                    }
                }
                Err(outage) => outage,
            };
            if !(outage.passes() && patience.pause(outage).await) {
                return Err(Outage::Cut.into());
            }
        }
    }
}
