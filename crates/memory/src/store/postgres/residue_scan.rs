//! Scans every column of every memory table for bytes, as the server returns them.
//!
//! The scan does not cover the free space of pages, the write-ahead log, standbys and backups,
//! because no role of this product may read them. See `docs/reference/postgres.md`.

use countersign_store::{SqlStatement, TenantScope};
use tokio_postgres::types::Type;

use super::super::ResidueMatch;
use super::super::needle::list_needle_forms;
use super::super::row_store::MemoryResult;
use super::subject_rows::read_column;
use super::transaction::PgMemoryTransaction;

/// Selects every column that can contain words, of all existing tables and not only the known ones.
const COLUMNS: &str = "SELECT table_name::text, column_name::text, data_type::text
    FROM information_schema.columns
    WHERE table_schema = 'countersign' AND table_name LIKE 'memory\\_%'
        AND data_type IN ('text', 'bytea') ORDER BY 1, 2";

pub(super) fn scan_residue(
    row_store: &PgMemoryTransaction<'_>,
    needles: &[Vec<u8>],
) -> MemoryResult<Vec<ResidueMatch>> {
    let mut whose: Vec<i64> = Vec::new();
    let mut sought: Vec<Vec<u8>> = Vec::new();
    for (needle, bytes) in (0_i64..).zip(needles) {
        for form in list_needle_forms(bytes) {
            whose.push(needle);
            sought.push(form);
        }
    }
    let mut traces = Vec::new();
    for column in &row_store.dialogue.query(TenantScope::Audit, SqlStatement::new(COLUMNS))? {
        let (table, name): (&str, &str) = (read_column(column, 0)?, read_column(column, 1)?);
        let bytes = match read_column(column, 2)? {
            "bytea" => format!("\"{name}\""),
            _ => format!("convert_to(\"{name}\", 'UTF8')"),
        };
        let sql = format!(
            "SELECT needle, min(position(form in {bytes}))::bigint
            FROM countersign.\"{table}\", unnest($1::bigint[], $2::bytea[]) AS sought (needle, form)
            WHERE position(form in {bytes}) > 0 GROUP BY needle ORDER BY needle"
        );
        let call =
            SqlStatement::new(&sql).bind(&whose, Type::INT8_ARRAY).bind(&sought, Type::BYTEA_ARRAY);
        for row in &row_store.dialogue.query(TenantScope::Audit, call)? {
            let (needle, at): (i64, i64) = (read_column(row, 0)?, read_column(row, 1)?);
            let place = format!("countersign.{table}.{name}");
            traces.push(ResidueMatch {
                needle: needle as usize,
                location: place,
                offset: at as u64 - 1,
            });
        }
    }
    Ok(traces)
}
