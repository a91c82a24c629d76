//! The source of kind `sqlite`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_runtime::effect::{EffectError, EffectErrorKind, RetrieverFuture, SourceRetriever};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::guard::QueryDeadline;
use super::origin::{OpenedDatabase, SqliteOrigin};
use crate::query::{DeclaredQueries, ParamValue, QueryCall, QueryLanguage};
use crate::settings::{SourceSettings, source_config_error};

/// A `SQLite` database that can be queried.
pub(crate) struct SqliteSource {
    inner: Arc<SqliteSourceInner>,
}

struct SqliteSourceInner {
    name: String,
    origin: SqliteOrigin,
    queries: DeclaredQueries,
    limit: usize,
    timeout: Duration,
    /// The open database; the first query opens it.
    open: Mutex<Option<OpenedDatabase>>,
}

impl SqliteSource {
    /// Reads the settings. The first query opens the database.
    pub(crate) fn from_settings(settings: &SourceSettings<'_>) -> Result<Self, EffectError> {
        let inner = SqliteSourceInner {
            name: settings.name.to_owned(),
            origin: SqliteOrigin::from_settings(settings)?,
            queries: DeclaredQueries::from_settings(settings, QueryLanguage::Sql)?,
            limit: settings.get_count("limit", 50, 500)? as usize,
            timeout: settings.get_timeout()?,
            open: Mutex::new(None),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) const SETTINGS: &[&str] =
        &["path", "path_env", "script", "queries", "limit", "timeout", "confidence"];
}

impl SourceRetriever for SqliteSource {
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>> {
        Box::pin(async move {
            let (inner, query) = (Arc::clone(&self.inner), query.clone());
            spawn_blocking(move || inner.run_query(&query)).await.unwrap_or_else(|_| {
                let message = "the query was cancelled because the runtime is shutting down";
                Err(EffectError::new_transient(EffectErrorKind::Unavailable, message))
            })
        })
    }
}

impl SqliteSourceInner {
    fn run_query(&self, query: &Value) -> Result<Value, EffectError> {
        let call = QueryCall::parse(&self.name, &self.queries, query)?;
        // A panic in here leaves the connection usable.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = open.take();
        let opened = open.insert(self.origin.open(&self.name, kept)?);
        let (rows, more) = self.read_rows(&mut opened.db, &call)?;
        call.build_evidence(rows, more)
    }

    fn read_rows(
        &self,
        db: &mut Connection,
        call: &QueryCall<'_>,
    ) -> Result<(Vec<Map<String, Value>>, bool), EffectError> {
        let deadline = QueryDeadline::install(db, self.timeout)
            .map_err(|error| self.query_error(call, &error, false))?;
        let outcome = execute_query(db, call, self.limit);
        match outcome {
            Ok(SqliteReadOutcome::Rows { rows, more }) => Ok((rows, more)),
            Ok(SqliteReadOutcome::NotReadOnly) => {
                Err(self.declaration_error(call, "is not a read-only statement"))
            }
            Ok(SqliteReadOutcome::DuplicateColumn(column)) => {
                Err(self.declaration_error(call, &format!("returns the column `{column}` twice")))
            }
            Ok(SqliteReadOutcome::PrepareFailed(error)) => {
                Err(self.prepare_error(call, &error, deadline.was_hit()))
            }
            Err(error) => Err(self.query_error(call, &error, deadline.was_hit())),
        }
    }

    fn declaration_error(&self, call: &QueryCall<'_>, what: &str) -> EffectError {
        source_config_error(&self.name, format!("has a query `{}` that {what}", call.query.name))
    }

    /// No value is bound while a statement is prepared, so the message of `SQLite` quotes only the
    /// author's text.
    fn prepare_error(
        &self,
        call: &QueryCall<'_>,
        error: &rusqlite::Error,
        late: bool,
    ) -> EffectError {
        match error {
            rusqlite::Error::SqlInputError { msg, .. } => {
                self.declaration_error(call, &format!("is refused: {msg}"))
            }
            rusqlite::Error::SqliteFailure(code, Some(said)) if code.code == ErrorCode::Unknown => {
                self.declaration_error(call, &format!("is refused: {said}"))
            }
            _ => self.query_error(call, error, late),
        }
    }

    fn query_error(
        &self,
        call: &QueryCall<'_>,
        error: &rusqlite::Error,
        late: bool,
    ) -> EffectError {
        let label = format!("source `{}`: its query `{}`", self.name, call.query.name);
        let code = error.sqlite_error_code();
        match code {
            _ if late => EffectError::new_transient(
                EffectErrorKind::TimedOut,
                format!("{label} was stopped after its time limit of {:?}", self.timeout),
            ),
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
                self.declaration_error(call, "does more than read, and was refused")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                EffectError::new_transient(
                    EffectErrorKind::Unavailable,
                    format!("{label} found the database locked by another process"),
                )
            }
            Some(ErrorCode::TooBig) => EffectError::new_permanent(
                EffectErrorKind::TooLarge,
                format!("{label} returned a value of more than 1 MiB"),
            ),
            _ => EffectError::new_permanent(
                EffectErrorKind::Failed,
                format!("{label} failed ({code:?})"),
            ),
        }
    }
}

enum SqliteReadOutcome {
    Rows {
        rows: Vec<Map<String, Value>>,
        more: bool,
    },
    /// The statement would write, or returns no rows.
    NotReadOnly,
    /// Two columns have the same name.
    DuplicateColumn(String),
    /// `SQLite` refused the statement.
    PrepareFailed(rusqlite::Error),
}

fn execute_query(
    db: &Connection,
    call: &QueryCall<'_>,
    limit: usize,
) -> rusqlite::Result<SqliteReadOutcome> {
    let text = call.query.template.render(|name| format!(":{name}"));
    let mut statement = match db.prepare(&text) {
        Ok(statement) => statement,
        Err(error) => return Ok(SqliteReadOutcome::PrepareFailed(error)),
    };
    if !statement.readonly() || statement.column_count() == 0 {
        return Ok(SqliteReadOutcome::NotReadOnly);
    }
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    if let Some((_, twice)) =
        columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name))
    {
        return Ok(SqliteReadOutcome::DuplicateColumn(twice.clone()));
    }
    for (name, value) in &call.values {
        if let Some(index) = statement.parameter_index(&format!(":{name}"))? {
            statement.raw_bind_parameter(index, value)?;
        }
    }
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if found.len() == limit {
            return Ok(SqliteReadOutcome::Rows { rows: found, more: true });
        }
        let mut cells = Map::new();
        for (index, column) in columns.iter().enumerate() {
            cells.insert(column.clone(), cell_to_json(row.get_ref(index)?));
        }
        found.push(cells);
    }
    Ok(SqliteReadOutcome::Rows { rows: found, more: false })
}

fn cell_to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        // JSON has no infinity, so it becomes null.
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("[{} bytes]", bytes.len()).into(),
    }
}

impl ToSql for ParamValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Text(text) | Self::Date(text) => ToSqlOutput::from(text.as_str()),
            Self::Integer(number) => ToSqlOutput::from(*number),
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Boolean(value) => ToSqlOutput::from(*value),
        })
    }
}
