//! What the server says it has scanned.

use std::collections::BTreeMap;

use tokio_postgres::Client;

/// Scans of one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Scans {
    pub(super) whole: i64,
    pub(super) by_index: i64,
    pub(super) rows_by_index: i64,
}

/// The counters of every table, as far as connections that ended have told them.
pub(super) async fn scans(
    client: &Client,
) -> Result<BTreeMap<String, Scans>, tokio_postgres::Error> {
    let rows = client
        .query(
            "SELECT relname::text, seq_scan, coalesce(idx_scan, 0), coalesce(idx_tup_fetch, 0)
            FROM pg_stat_user_tables WHERE schemaname = 'countersign'",
            &[],
        )
        .await?;
    let read = |row: tokio_postgres::Row| {
        let scans = Scans { whole: row.get(1), by_index: row.get(2), rows_by_index: row.get(3) };
        (row.get(0), scans)
    };
    Ok(rows.into_iter().map(read).collect())
}

impl Scans {
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            whole: self.whole - before.whole,
            by_index: self.by_index - before.by_index,
            rows_by_index: self.rows_by_index - before.rows_by_index,
        }
    }
}
