//! The source of kind `postgres`.

use std::time::Duration;

use countersign_runtime::effect::{EffectError, EffectErrorKind, RetrieverFuture, SourceRetriever};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Transaction};

use super::cell::{cell_to_json, format_placeholder};
use super::server::PostgresSourceServer;
use crate::query::{DeclaredQueries, QueryCall, QueryLanguage};
use crate::settings::{SourceSettings, source_config_error};

/// Number of rows per fetch, so that a large result is noticed before all of it has arrived.
const FETCH_SIZE: i32 = 20;

/// Maximum number of characters fetched of one cell.
const MAX_CELL_CHARS: usize = 32 * 1024;

/// Maximum number of bytes fetched by one query.
const MAX_FETCH_BYTES: usize = 1024 * 1024;

/// How long to wait for a reply after the server's own time limit.
const TIMEOUT_GRACE: Duration = Duration::from_secs(2);

/// A `PostgreSQL` database that can be queried.
pub(crate) struct PostgresSource {
    name: String,
    server: PostgresSourceServer,
    queries: DeclaredQueries,
    limit: usize,
    timeout: Duration,
    /// An idle connection. A connection that broke, or was interrupted in the middle of a query, is
    /// not kept.
    idle: Mutex<Option<Client>>,
}

type FetchedRows = (Vec<Map<String, Value>>, bool);

/// What went wrong during a query: an error of the client library, or our own.
enum PostgresFetchError {
    Client(tokio_postgres::Error),
    Effect(EffectError),
}

impl From<tokio_postgres::Error> for PostgresFetchError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Client(error)
    }
}

impl PostgresSource {
    /// Reads the settings. The first query connects to the server.
    pub(crate) fn from_settings(settings: &SourceSettings<'_>) -> Result<Self, EffectError> {
        Ok(Self {
            name: settings.name.to_owned(),
            queries: DeclaredQueries::from_settings(settings, QueryLanguage::Sql)?,
            limit: settings.get_count("limit", 50, 500)? as usize,
            timeout: settings.get_timeout()?,
            server: PostgresSourceServer::from_settings(settings)?,
            idle: Mutex::new(None),
        })
    }

    pub(crate) const SETTINGS: &[&str] =
        &["url_env", "ca", "ca_env", "queries", "limit", "timeout", "confidence"];

    async fn run_query(&self, query: &Value) -> Result<Value, EffectError> {
        let call = QueryCall::parse(&self.name, &self.queries, query)?;
        let kept = self.idle.lock().await.take().filter(|client| !client.is_closed());
        let mut client = match kept {
            Some(client) => client,
            None => self.server.connect().await?,
        };
        let rows = timeout(self.timeout + TIMEOUT_GRACE, self.read_rows(&mut client, &call)).await;
        let (rows, more) = match rows {
            Ok(Ok(rows)) => {
                *self.idle.lock().await = Some(client);
                rows
            }
            Ok(Err(PostgresFetchError::Effect(error))) => return Err(error),
            Ok(Err(PostgresFetchError::Client(error))) => {
                return Err(self.query_error(&call, &error));
            }
            Err(_) => return Err(self.timeout_error(&call)),
        };
        call.build_evidence(rows, more)
    }

    async fn read_rows(
        &self,
        client: &mut Client,
        call: &QueryCall<'_>,
    ) -> Result<FetchedRows, PostgresFetchError> {
        let asking = client.build_transaction().read_only(true).start().await?;
        let limit = self.timeout.as_millis();
        asking.batch_execute(&format!("SET LOCAL statement_timeout = {limit}")).await?;
        let rows = self.fetch_rows(&asking, call).await?;
        asking.rollback().await?;
        Ok(rows)
    }

    async fn fetch_rows(
        &self,
        asking: &Transaction<'_>,
        call: &QueryCall<'_>,
    ) -> Result<FetchedRows, PostgresFetchError> {
        let names = call.query.template.param_names();
        let inner = call.query.template.render(|name| {
            let number = names.iter().position(|known| *known == name).unwrap_or_default() + 1;
            format_placeholder(number, call.query.params[name].kind)
        });
        let described = asking.prepare(&inner).await?;
        let columns: Vec<(String, Type)> = described
            .columns()
            .iter()
            .map(|column| (column.name().to_owned(), column.type_().clone()))
            .collect();
        if let Some(fault) = self.check_columns(call, &columns) {
            return Err(PostgresFetchError::Effect(fault));
        }
        // As a subquery, the statement can only read: there, `PostgreSQL` accepts neither a second
        // statement nor one that writes.
        let inside: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        let cut = MAX_CELL_CHARS + 1;
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
                PostgresFetchError::Effect(
                    self.declaration_error(call, "is not a read-only statement"),
                )
            } else {
                PostgresFetchError::Client(error)
            }
        })?;
        let values: Vec<&(dyn ToSql + Sync)> =
            names.iter().map(|name| &call.values[*name] as &(dyn ToSql + Sync)).collect();
        let portal = asking.bind(&statement, &values).await?;
        let (mut found, mut bytes) = (Vec::new(), 0);
        loop {
            let some = asking.query_portal(&portal, FETCH_SIZE).await?;
            let ended = some.len() < FETCH_SIZE as usize;
            for row in some {
                if found.len() == self.limit || bytes > MAX_FETCH_BYTES {
                    return Ok((found, true));
                }
                let mut cells = Map::new();
                for (at, (name, kind)) in columns.iter().enumerate() {
                    let text: Option<&str> = row.try_get(at)?;
                    bytes += text.map_or(0, str::len);
                    if text.is_some_and(|text| text.chars().count() > MAX_CELL_CHARS) {
                        return Err(PostgresFetchError::Effect(self.cell_size_error(call, name)));
                    }
                    cells.insert(name.clone(), cell_to_json(text, kind));
                }
                found.push(cells);
            }
            if ended {
                return Ok((found, false));
            }
        }
    }

    fn check_columns(
        &self,
        call: &QueryCall<'_>,
        columns: &[(String, Type)],
    ) -> Option<EffectError> {
        if columns.is_empty() {
            return Some(self.declaration_error(call, "is not a read-only statement"));
        }
        let twice = columns
            .iter()
            .enumerate()
            .find(|(at, (name, _))| columns[..*at].iter().any(|(before, _)| before == name));
        twice.map(|(_, (name, _))| {
            self.declaration_error(call, &format!("returns the column `{name}` twice"))
        })
    }

    fn declaration_error(&self, call: &QueryCall<'_>, what: &str) -> EffectError {
        source_config_error(&self.name, format!("has a query `{}` that {what}", call.query.name))
    }

    fn describe_query(&self, call: &QueryCall<'_>) -> String {
        format!("source `{}`: its query `{}`", self.name, call.query.name)
    }

    fn cell_size_error(&self, call: &QueryCall<'_>, column: &str) -> EffectError {
        let label = self.describe_query(call);
        let message =
            format!("{label} returned a `{column}` of more than {MAX_CELL_CHARS} characters");
        EffectError::new_permanent(EffectErrorKind::TooLarge, message)
    }

    fn timeout_error(&self, call: &QueryCall<'_>) -> EffectError {
        let label = self.describe_query(call);
        let message = format!("{label} was stopped after its time limit of {:?}", self.timeout);
        EffectError::new_transient(EffectErrorKind::TimedOut, message)
    }

    fn query_error(&self, call: &QueryCall<'_>, error: &tokio_postgres::Error) -> EffectError {
        let label = self.describe_query(call);
        let Some(fault) = error.as_db_error() else {
            let message = format!("{label} lost the connection to its server");
            return EffectError::new_transient(EffectErrorKind::Unavailable, message);
        };
        match fault.code().code() {
            "57014" => self.timeout_error(call),
            "25006" => self.declaration_error(call, "does more than read, and was refused"),
            "42501" => {
                self.declaration_error(call, "reads data that its server does not allow it to read")
            }
            // The statement itself is wrong: the message quotes the author's text, never a value.
            code if code.starts_with("42") => {
                self.declaration_error(call, &format!("is refused: {}", fault.message()))
            }
            // The server is out of resources, shutting down, or rolled the transaction back.
            code if code.starts_with("53") || code.starts_with("57") || code.starts_with("40") => {
                let message = format!("{label} got no answer from its server ({code})");
                EffectError::new_transient(EffectErrorKind::Unavailable, message)
            }
            code => EffectError::new_permanent(
                EffectErrorKind::Failed,
                format!("{label} failed ({code})"),
            ),
        }
    }
}

impl SourceRetriever for PostgresSource {
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>> {
        Box::pin(self.run_query(query))
    }
}
