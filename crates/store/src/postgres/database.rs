//! One database on a server: its connections, its schema, and patience with its outages. What every
//! store of ours on `PostgreSQL` stands on; knows no table but the one that counts the schema's steps.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_postgres::{Outage, Pool, Server};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::Row;

use super::migrate::{PostgresSchema, migrate};
use super::pipeline::{Aim, Call, Scope, run, run_alone};
use super::settings::PostgresSettings;
use crate::StoreError;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A database that is reached when it is asked.
#[derive(Debug)]
pub struct PostgresDatabase {
    pool: Pool,
    settings: PostgresSettings,
    schema: PostgresSchema,
    /// The schema that was found, once it was looked at.
    ready: OnceCell<u32>,
}

impl PostgresDatabase {
    /// A database. Nothing is reached yet: its schema is brought forward before the first question.
    #[must_use]
    pub fn new(server: Server, settings: PostgresSettings, schema: PostgresSchema) -> Self {
        let pool = Pool::new(server, settings.connections);
        Self { pool, settings, schema, ready: OnceCell::new() }
    }

    /// Brings the schema forward and gives the one that is there; done once.
    ///
    /// A server that nobody has reached yet and that is not there is told at once: its address may be
    /// wrong. One that is there and not ready is waited for.
    pub async fn ready(&self) -> Result<u32, StoreError> {
        self.ready.get_or_try_init(|| self.migrated()).await.copied()
    }

    async fn migrated(&self) -> Result<u32, StoreError> {
        let mut patience = self.patience();
        loop {
            let answer = migrate(self.pool.server(), self.schema).await;
            let outage = match &answer {
                Err(StoreError::Unavailable { source }) => source.downcast_ref::<Outage>().copied(),
                _ => None,
            };
            match outage {
                Some(outage @ (Outage::StartingUp | Outage::TooManyConnections | Outage::Cut))
                    if patience.pause(outage).await => {}
                _ => return answer,
            }
        }
    }

    /// Answers questions from one consistent view; asked again for a while where that may help.
    pub async fn look(
        &self,
        scope: Scope<'_>,
        calls: &[Call<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.insisting(scope, Aim::Look, calls).await
    }

    /// Changes what may be changed twice with the same end; tried again for a while where that may help.
    pub async fn change(
        &self,
        scope: Scope<'_>,
        calls: &[Call<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.insisting(scope, Aim::Change, calls).await
    }

    async fn insisting(
        &self,
        scope: Scope<'_>,
        aim: Aim,
        calls: &[Call<'_>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.ready().await?;
        let mut patience = self.patience();
        loop {
            match self.attempt(scope, aim, calls).await {
                Ok(rows) => return Ok(rows),
                Err(outage) if outage.passes() && patience.pause(outage).await => {}
                Err(outage) => return Err(outage.into()),
            }
        }
    }

    async fn attempt(
        &self,
        scope: Scope<'_>,
        aim: Aim,
        calls: &[Call<'_>],
    ) -> Result<Vec<Vec<Row>>, Outage> {
        let client = self.pool.lend().await?;
        let answer =
            match timeout(self.settings.answer_within, run(&client, scope, aim, calls)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => Outage::of(&error),
                Err(_) => Outage::Unreached,
            };
        self.after(answer, client);
        Err(answer)
    }

    /// Has several calls kept as one transaction, once. `calls` set their tenant themselves.
    pub(super) async fn keep(&self, calls: &[Call<'_>]) -> Result<Vec<Vec<Row>>, Outage> {
        let client = self.pool.lend().await?;
        let kept = async {
            match calls {
                // Alone, a call is its own transaction.
                [one] => run_alone(&client, one).await.map(|rows| vec![rows]),
                several => run(&client, Scope::Tenant(""), Aim::Change, several).await,
            }
        };
        let answer = match timeout(self.settings.answer_within, kept).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) => Outage::of(&error),
            Err(_) => Outage::Unreached,
        };
        self.after(answer, client);
        Err(answer)
    }

    pub(super) fn after(&self, outage: Outage, client: countersign_postgres::Lent<'_>) {
        if outage.ends_connection() {
            client.discard();
            self.pool.forget();
        }
    }

    pub(super) fn patience(&self) -> Patience {
        Patience { until: Instant::now() + self.settings.patience, next: Duration::ZERO }
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.pool.server()
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(super) fn settings(&self) -> &PostgresSettings {
        &self.settings
    }
}

/// How long something is still tried.
pub(super) struct Patience {
    until: Instant,
    next: Duration,
}

impl Patience {
    /// Waits a while, or says that it has been long enough.
    pub(super) async fn pause(&mut self, outage: Outage) -> bool {
        let now = Instant::now();
        if now >= self.until {
            return false;
        }
        // A connection that was cut while nobody used it says nothing about the server.
        if !(self.next.is_zero() && outage == Outage::Cut) {
            let pause = jittered(self.next.max(Duration::from_millis(40)));
            tokio::time::sleep(pause.min(self.until - now)).await;
        }
        self.next = (self.next.max(Duration::from_millis(40)) * 2).min(LONGEST_PAUSE);
        true
    }
}

/// Between half of a while and all of it, so that many who were cut off do not come back at once.
fn jittered(pause: Duration) -> Duration {
    let chance = RandomState::new().hash_one(0_u8) % 1024;
    pause / 2 + pause.mul_f64(chance as f64 / 2048.0)
}

/// A database that several share.
pub(super) type Shared = Arc<PostgresDatabase>;
