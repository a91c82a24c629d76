//! The source of kind `sqlite`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_runtime::effect::{BoxFuture, EffectError, EffectErrorKind, Source};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::guard::Deadline;
use super::origin::{Opened, Origin};
use crate::query::{Asked, Bound, Language, Queries};
use crate::settings::{Settings, not_configured};

/// A `SQLite` database that can be asked.
pub(crate) struct Sqlite {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    origin: Origin,
    queries: Queries,
    limit: usize,
    timeout: Duration,
    /// Opened at the first question.
    open: Mutex<Option<Opened>>,
}

impl Sqlite {
    /// Reads the settings. The database is opened when it is asked.
    pub(crate) fn configure(settings: &Settings<'_>) -> Result<Self, EffectError> {
        let inner = Inner {
            name: settings.name.to_owned(),
            origin: Origin::read(settings)?,
            queries: Queries::read(settings, Language::Sql)?,
            limit: settings.count("limit", 50, 500)? as usize,
            timeout: settings.timeout()?,
            open: Mutex::new(None),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) const SETTINGS: &[&str] =
        &["path", "path_env", "script", "queries", "limit", "timeout", "confidence"];
}

impl Source for Sqlite {
    fn retrieve<'a>(&'a self, query: &'a Value) -> BoxFuture<'a, Result<Value, EffectError>> {
        Box::pin(async move {
            let (inner, query) = (Arc::clone(&self.inner), query.clone());
            spawn_blocking(move || inner.answer(&query)).await.unwrap_or_else(|_| {
                let message = "the query was broken off because the runtime is shutting down";
                Err(EffectError::passing(EffectErrorKind::Unavailable, message))
            })
        })
    }
}

impl Inner {
    fn answer(&self, query: &Value) -> Result<Value, EffectError> {
        let asked = Asked::read(&self.name, &self.queries, query)?;
        // A panic in here leaves a connection that is still whole.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = open.take();
        let opened = open.insert(self.origin.open(&self.name, kept)?);
        let (rows, more) = self.rows(&mut opened.db, &asked)?;
        asked.evidence(rows, more)
    }

    fn rows(
        &self,
        db: &mut Connection,
        asked: &Asked<'_>,
    ) -> Result<(Vec<Map<String, Value>>, bool), EffectError> {
        let deadline =
            Deadline::set(db, self.timeout).map_err(|error| self.failed(asked, &error, false))?;
        let outcome = read(db, asked, self.limit);
        match outcome {
            Ok(Read::Rows { rows, more }) => Ok((rows, more)),
            Ok(Read::Writes) => Err(self.misdeclared(asked, "is no statement that only reads")),
            Ok(Read::Twice(column)) => {
                Err(self.misdeclared(asked, &format!("gives the column `{column}` twice")))
            }
            Ok(Read::Unprepared(error)) => Err(self.unprepared(asked, &error, deadline.was_hit())),
            Err(error) => Err(self.failed(asked, &error, deadline.was_hit())),
        }
    }

    fn misdeclared(&self, asked: &Asked<'_>, what: &str) -> EffectError {
        not_configured(&self.name, format!("has a query `{}` that {what}", asked.query.name))
    }

    /// While a statement is prepared no value has been seen: `SQLite`'s words are about the author's.
    fn unprepared(&self, asked: &Asked<'_>, error: &rusqlite::Error, late: bool) -> EffectError {
        match error {
            rusqlite::Error::SqlInputError { msg, .. } => {
                self.misdeclared(asked, &format!("is refused: {msg}"))
            }
            rusqlite::Error::SqliteFailure(code, Some(said)) if code.code == ErrorCode::Unknown => {
                self.misdeclared(asked, &format!("is refused: {said}"))
            }
            _ => self.failed(asked, error, late),
        }
    }

    fn failed(&self, asked: &Asked<'_>, error: &rusqlite::Error, late: bool) -> EffectError {
        let about = format!("source `{}`: its query `{}`", self.name, asked.query.name);
        let code = error.sqlite_error_code();
        match code {
            _ if late => EffectError::passing(
                EffectErrorKind::TimedOut,
                format!("{about} was ended after {:?}, its time limit", self.timeout),
            ),
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
                self.misdeclared(asked, "does more than read, and was refused")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => EffectError::passing(
                EffectErrorKind::Unavailable,
                format!("{about} found the database locked by somebody else"),
            ),
            Some(ErrorCode::TooBig) => EffectError::lasting(
                EffectErrorKind::TooLarge,
                format!("{about} made a value of more than 1 MiB"),
            ),
            _ => {
                EffectError::lasting(EffectErrorKind::Failed, format!("{about} failed ({code:?})"))
            }
        }
    }
}

enum Read {
    Rows {
        rows: Vec<Map<String, Value>>,
        more: bool,
    },
    /// The statement would change something, or gives no rows.
    Writes,
    /// Two columns have one name.
    Twice(String),
    /// It was not taken.
    Unprepared(rusqlite::Error),
}

fn read(db: &Connection, asked: &Asked<'_>, limit: usize) -> rusqlite::Result<Read> {
    let text = asked.query.scan.written(|name| format!(":{name}"));
    let mut statement = match db.prepare(&text) {
        Ok(statement) => statement,
        Err(error) => return Ok(Read::Unprepared(error)),
    };
    if !statement.readonly() || statement.column_count() == 0 {
        return Ok(Read::Writes);
    }
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    if let Some((_, twice)) =
        columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name))
    {
        return Ok(Read::Twice(twice.clone()));
    }
    for (name, value) in &asked.values {
        if let Some(index) = statement.parameter_index(&format!(":{name}"))? {
            statement.raw_bind_parameter(index, value)?;
        }
    }
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if found.len() == limit {
            return Ok(Read::Rows { rows: found, more: true });
        }
        let mut cells = Map::new();
        for (index, column) in columns.iter().enumerate() {
            cells.insert(column.clone(), cell(row.get_ref(index)?));
        }
        found.push(cells);
    }
    Ok(Read::Rows { rows: found, more: false })
}

fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        // Infinity is no JSON, and becomes nothing.
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("[{} bytes]", bytes.len()).into(),
    }
}

impl ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Nothing => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Text(text) | Self::Date(text) => ToSqlOutput::from(text.as_str()),
            Self::Integer(number) => ToSqlOutput::from(*number),
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Boolean(value) => ToSqlOutput::from(*value),
        })
    }
}
