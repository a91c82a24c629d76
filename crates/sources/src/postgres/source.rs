//! The source of kind `postgres`.

use std::time::Duration;

use countersign_runtime::effect::{BoxFuture, EffectError, EffectErrorKind, Source};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Transaction};

use super::cell::{cell, placeholder};
use super::server::Server;
use crate::query::{Asked, Language, Queries};
use crate::settings::{Settings, not_configured};

/// How many rows are fetched at a time, so that a wide answer is noticed before it is all here.
const AT_A_TIME: i32 = 20;

/// How much of one cell is fetched, in characters.
const LONGEST_CELL: usize = 32 * 1024;

/// How much is fetched altogether.
const MOST_BYTES: usize = 1024 * 1024;

/// How long after the server's own limit we still wait for its word.
const GRACE: Duration = Duration::from_secs(2);

/// A `PostgreSQL` database that can be asked.
pub(crate) struct Postgres {
    name: String,
    server: Server,
    queries: Queries,
    limit: usize,
    timeout: Duration,
    /// A connection that nobody uses. One that broke, or that was left in the middle, is not put back.
    idle: Mutex<Option<Client>>,
}

type Rows = (Vec<Map<String, Value>>, bool);

/// What went wrong while asking: the client's word, or ours.
enum Fault {
    Client(tokio_postgres::Error),
    Ours(EffectError),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Client(error)
    }
}

impl Postgres {
    /// Reads the settings. The server is reached when it is asked.
    pub(crate) fn configure(settings: &Settings<'_>) -> Result<Self, EffectError> {
        Ok(Self {
            name: settings.name.to_owned(),
            queries: Queries::read(settings, Language::Sql)?,
            limit: settings.count("limit", 50, 500)? as usize,
            timeout: settings.timeout()?,
            server: Server::read(settings)?,
            idle: Mutex::new(None),
        })
    }

    pub(crate) const SETTINGS: &[&str] =
        &["url_env", "ca", "ca_env", "queries", "limit", "timeout", "confidence"];

    async fn answer(&self, query: &Value) -> Result<Value, EffectError> {
        let asked = Asked::read(&self.name, &self.queries, query)?;
        let kept = self.idle.lock().await.take().filter(|client| !client.is_closed());
        let mut client = match kept {
            Some(client) => client,
            None => self.server.connect().await?,
        };
        let rows = timeout(self.timeout + GRACE, self.rows(&mut client, &asked)).await;
        let (rows, more) = match rows {
            Ok(Ok(rows)) => {
                *self.idle.lock().await = Some(client);
                rows
            }
            Ok(Err(Fault::Ours(error))) => return Err(error),
            Ok(Err(Fault::Client(error))) => return Err(self.failed(&asked, &error)),
            Err(_) => return Err(self.late(&asked)),
        };
        asked.evidence(rows, more)
    }

    async fn rows(&self, client: &mut Client, asked: &Asked<'_>) -> Result<Rows, Fault> {
        let asking = client.build_transaction().read_only(true).start().await?;
        let limit = self.timeout.as_millis();
        asking.batch_execute(&format!("SET LOCAL statement_timeout = {limit}")).await?;
        let rows = self.fetch(&asking, asked).await?;
        asking.rollback().await?;
        Ok(rows)
    }

    async fn fetch(&self, asking: &Transaction<'_>, asked: &Asked<'_>) -> Result<Rows, Fault> {
        let names = asked.query.scan.params();
        let inner = asked.query.scan.written(|name| {
            let number = names.iter().position(|known| *known == name).unwrap_or_default() + 1;
            placeholder(number, asked.query.params[name].kind)
        });
        let described = asking.prepare(&inner).await?;
        let columns: Vec<(String, Type)> = described
            .columns()
            .iter()
            .map(|column| (column.name().to_owned(), column.type_().clone()))
            .collect();
        if let Some(fault) = self.unfit(asked, &columns) {
            return Err(Fault::Ours(fault));
        }
        // As the inner part of another statement it can only be one that reads: PostgreSQL takes
        // neither a second statement nor one that writes there.
        let inside: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        let cut = LONGEST_CELL + 1;
        let outside: Vec<String> =
            inside.iter().map(|column| format!("left(q.{column}::text, {cut})")).collect();
        let wrapped = format!(
            "SELECT {} FROM (\n{inner}\n) AS q({}) LIMIT {}",
            outside.join(", "),
            inside.join(", "),
            self.limit + 1
        );
        let statement = asking.prepare(&wrapped).await.map_err(|error| {
            if error.code() == Some(&SqlState::SYNTAX_ERROR)
                || error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED)
            {
                Fault::Ours(self.misdeclared(asked, "is no statement that only reads"))
            } else {
                Fault::Client(error)
            }
        })?;
        let values: Vec<&(dyn ToSql + Sync)> =
            names.iter().map(|name| &asked.values[*name] as &(dyn ToSql + Sync)).collect();
        let portal = asking.bind(&statement, &values).await?;
        let (mut found, mut bytes) = (Vec::new(), 0);
        loop {
            let some = asking.query_portal(&portal, AT_A_TIME).await?;
            let ended = some.len() < AT_A_TIME as usize;
            for row in some {
                if found.len() == self.limit || bytes > MOST_BYTES {
                    return Ok((found, true));
                }
                let mut cells = Map::new();
                for (at, (name, kind)) in columns.iter().enumerate() {
                    let text: Option<&str> = row.try_get(at)?;
                    bytes += text.map_or(0, str::len);
                    if text.is_some_and(|text| text.chars().count() > LONGEST_CELL) {
                        return Err(Fault::Ours(self.too_long(asked, name)));
                    }
                    cells.insert(name.clone(), cell(text, kind));
                }
                found.push(cells);
            }
            if ended {
                return Ok((found, false));
            }
        }
    }

    fn unfit(&self, asked: &Asked<'_>, columns: &[(String, Type)]) -> Option<EffectError> {
        if columns.is_empty() {
            return Some(self.misdeclared(asked, "is no statement that only reads"));
        }
        let twice = columns
            .iter()
            .enumerate()
            .find(|(at, (name, _))| columns[..*at].iter().any(|(before, _)| before == name));
        twice.map(|(_, (name, _))| {
            self.misdeclared(asked, &format!("gives the column `{name}` twice"))
        })
    }

    fn misdeclared(&self, asked: &Asked<'_>, what: &str) -> EffectError {
        not_configured(&self.name, format!("has a query `{}` that {what}", asked.query.name))
    }

    fn about(&self, asked: &Asked<'_>) -> String {
        format!("source `{}`: its query `{}`", self.name, asked.query.name)
    }

    fn too_long(&self, asked: &Asked<'_>, column: &str) -> EffectError {
        let about = self.about(asked);
        let message = format!("{about} gave a `{column}` of more than {LONGEST_CELL} characters");
        EffectError::lasting(EffectErrorKind::TooLarge, message)
    }

    fn late(&self, asked: &Asked<'_>) -> EffectError {
        let about = self.about(asked);
        let message = format!("{about} was ended after {:?}, its time limit", self.timeout);
        EffectError::passing(EffectErrorKind::TimedOut, message)
    }

    fn failed(&self, asked: &Asked<'_>, error: &tokio_postgres::Error) -> EffectError {
        let about = self.about(asked);
        let Some(fault) = error.as_db_error() else {
            let message = format!("{about} lost its server");
            return EffectError::passing(EffectErrorKind::Unavailable, message);
        };
        match fault.code().code() {
            "57014" => self.late(asked),
            "25006" => self.misdeclared(asked, "does more than read, and was refused"),
            "42501" => self.misdeclared(asked, "reads what its server does not let it read"),
            // What is wrong with the statement itself: the author's words, never a value.
            code if code.starts_with("42") => {
                self.misdeclared(asked, &format!("is refused: {}", fault.message()))
            }
            // The server is full, or going down.
            code if code.starts_with("53") || code.starts_with("57") || code.starts_with("40") => {
                let message = format!("{about} was not answered by its server ({code})");
                EffectError::passing(EffectErrorKind::Unavailable, message)
            }
            code => {
                EffectError::lasting(EffectErrorKind::Failed, format!("{about} failed ({code})"))
            }
        }
    }
}

impl Source for Postgres {
    fn retrieve<'a>(&'a self, query: &'a Value) -> BoxFuture<'a, Result<Value, EffectError>> {
        Box::pin(self.answer(query))
    }
}
