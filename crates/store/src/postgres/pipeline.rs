//! Sends several statements at once as one transaction for one tenant, in one round trip.
//!
//! Every statement is sent unnamed, with its types, so that it works through a pooler that gives
//! each transaction another session (`PgBouncer` in transaction mode).

use std::pin::Pin;
use std::task::Poll;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// Which rows a transaction may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TenantScope<'a> {
    /// The rows of one tenant.
    Tenant(&'a str),
    /// The run heads of all tenants, so that a worker can look for due runs.
    AllTenants,
    /// Read access to all of memory, to check that it is stored correctly and whether something is
    /// still there.
    Audit,
}

impl TenantScope<'_> {
    /// Returns the `SET LOCAL` statements that apply the scope to the rest of a transaction.
    pub(super) fn to_set_statements(self) -> String {
        match self {
            Self::Tenant(name) => format!(
                "SET LOCAL countersign.tenant = {}; SET LOCAL countersign.audit = 'off'",
                quote_literal(name)
            ),
            Self::AllTenants => "SET LOCAL countersign.all_tenants = 'on'".to_owned(),
            Self::Audit => {
                "SET LOCAL countersign.tenant = ''; SET LOCAL countersign.audit = 'on'".to_owned()
            }
        }
    }
}

/// Whether a transaction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PgAccessMode {
    /// The transaction sees one snapshot and changes nothing.
    ReadOnly,
    /// The transaction may change rows.
    ReadWrite,
}

/// A statement with its parameter values.
pub struct SqlStatement<'a> {
    sql: &'a str,
    values: Vec<(&'a (dyn ToSql + Sync), Type)>,
}

impl<'a> SqlStatement<'a> {
    /// Creates a statement without values.
    #[must_use]
    pub fn new(sql: &'a str) -> Self {
        Self { sql, values: Vec::new() }
    }

    /// Adds the next value, with its type.
    #[must_use]
    pub fn bind(mut self, value: &'a (dyn ToSql + Sync), kind: Type) -> Self {
        self.values.push((value, kind));
        self
    }

    /// Adds the next value, a text.
    #[must_use]
    pub fn bind_text(self, value: &'a (dyn ToSql + Sync)) -> Self {
        self.bind(value, Type::TEXT)
    }

    /// Adds the next value, a 64-bit integer.
    #[must_use]
    pub fn bind_int8(self, value: &'a (dyn ToSql + Sync)) -> Self {
        self.bind(value, Type::INT8)
    }
}

/// Sends several statements at once, in order and after statements without values, and returns the
/// rows of each, or the first error.
pub(super) async fn query_pipelined(
    client: &Client,
    before: Option<&str>,
    calls: &[SqlStatement<'_>],
) -> Result<Vec<Vec<Row>>, Error> {
    let mut asked: Vec<PgRowsFuture<'_>> = Vec::with_capacity(calls.len() + 1);
    if let Some(before) = before {
        asked.push(Box::pin(async { client.batch_execute(before).await.map(|()| Vec::new()) }));
    }
    for call in calls {
        asked.push(Box::pin(client.query_typed(call.sql, &call.values)));
    }
    let mut rows = join_in_order(asked).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(rows.split_off(usize::from(before.is_some())))
}

type PgRowsFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send + 'a>>;

/// Runs statements as one transaction and returns the rows of each.
pub(super) async fn run_transaction(
    client: &Client,
    scope: TenantScope<'_>,
    aim: PgAccessMode,
    calls: &[SqlStatement<'_>],
) -> Result<Vec<Vec<Row>>, Error> {
    let mode = match (aim, calls.len()) {
        (PgAccessMode::ReadWrite, _) => "BEGIN",
        (PgAccessMode::ReadOnly, 1) => "BEGIN READ ONLY",
        (PgAccessMode::ReadOnly, _) => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    };
    let begin = match scope {
        TenantScope::Tenant(name) => {
            format!("{mode}; SET LOCAL countersign.tenant = {}", quote_literal(name))
        }
        other => format!("{mode}; {}", other.to_set_statements()),
    };
    let mut asked: Vec<PgRowsFuture<'_>> = Vec::with_capacity(calls.len() + 2);
    asked.push(Box::pin(async move { client.batch_execute(&begin).await.map(|()| Vec::new()) }));
    for call in calls {
        asked.push(Box::pin(client.query_typed(call.sql, &call.values)));
    }
    asked.push(Box::pin(async { client.batch_execute("COMMIT").await.map(|()| Vec::new()) }));
    let answers = join_in_order(asked).await;
    // The first error is the cause; later ones only say that the transaction has ended.
    let mut rows = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
    rows.pop();
    rows.remove(0);
    Ok(rows)
}

/// Runs one statement, which is its own transaction.
pub(super) async fn run_statement(
    client: &Client,
    call: &SqlStatement<'_>,
) -> Result<Vec<Row>, Error> {
    client.query_typed(call.sql, &call.values).await
}

/// Waits for all futures. They are started in order, and a started statement is sent: dropping this
/// future later leaves no transaction open.
async fn join_in_order(mut asked: Vec<PgRowsFuture<'_>>) -> Vec<Result<Vec<Row>, Error>> {
    let mut answers: Vec<Option<Result<Vec<Row>, Error>>> = asked.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        let mut waiting = false;
        for (future, answer) in asked.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(ended) => *answer = Some(ended),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}

/// Quotes a text as an SQL literal.
fn quote_literal(text: &str) -> String {
    // A literal without backslashes means the same with every server setting.
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quote_literal;

    #[test]
    fn a_literal_ends_where_its_text_ends() {
        assert_eq!(quote_literal("a"), "'a'");
        assert_eq!(quote_literal("a'; DROP"), "'a''; DROP'");
        assert_eq!(quote_literal("a\\'"), "E'a\\\\'''");
    }
}
