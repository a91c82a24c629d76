//! Looking for bytes in every column of every table of memory, as the server gives them.
//!
//! *Not looked into*, because no role of ours may: the free space of pages, the write-ahead log, standbys,
//! backups. docs/reference/postgres.md says what becomes of those.

use countersign_store::{Call, Scope as Sight};
use tokio_postgres::types::Type;

use super::super::Trace;
use super::super::needle::forms;
use super::super::shelves::Answer;
use super::shelf::get;
use super::shelves::Sql;

/// Every column that can hold words, of tables that are there and not only of those that we know.
const COLUMNS: &str = "SELECT table_name::text, column_name::text, data_type::text
    FROM information_schema.columns
    WHERE table_schema = 'countersign' AND table_name LIKE 'memory\\_%'
        AND data_type IN ('text', 'bytea') ORDER BY 1, 2";

pub(super) fn traces(shelves: &Sql<'_>, needles: &[Vec<u8>]) -> Answer<Vec<Trace>> {
    let mut whose: Vec<i64> = Vec::new();
    let mut sought: Vec<Vec<u8>> = Vec::new();
    for (needle, bytes) in (0_i64..).zip(needles) {
        for form in forms(bytes) {
            whose.push(needle);
            sought.push(form);
        }
    }
    let mut traces = Vec::new();
    for column in &shelves.dialogue.ask(Sight::Audit, Call::new(COLUMNS))? {
        let (table, name): (&str, &str) = (get(column, 0)?, get(column, 1)?);
        let bytes = match get(column, 2)? {
            "bytea" => format!("\"{name}\""),
            _ => format!("convert_to(\"{name}\", 'UTF8')"),
        };
        let sql = format!(
            "SELECT needle, min(position(form in {bytes}))::bigint
            FROM countersign.\"{table}\", unnest($1::bigint[], $2::bytea[]) AS sought (needle, form)
            WHERE position(form in {bytes}) > 0 GROUP BY needle ORDER BY needle"
        );
        let call = Call::new(&sql).with(&whose, Type::INT8_ARRAY).with(&sought, Type::BYTEA_ARRAY);
        for row in &shelves.dialogue.ask(Sight::Audit, call)? {
            let (needle, at): (i64, i64) = (get(row, 0)?, get(row, 1)?);
            let place = format!("countersign.{table}.{name}");
            traces.push(Trace { needle: needle as usize, place, offset: at as u64 - 1 });
        }
    }
    Ok(traces)
}
