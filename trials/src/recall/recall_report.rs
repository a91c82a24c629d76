//! Prints the results as tables.

use std::io::{self, Write};

use super::recall_tally::{RecallMean, RecallTally};

/// A system and its results.
pub(crate) type RecallRow = (String, RecallTally);

/// Writes all tables of the report.
pub(crate) fn write_tables(
    out: &mut dyn Write,
    budgets: &[u64],
    rows: &[RecallRow],
) -> io::Result<()> {
    write_heading(out, "recall, %", budgets)?;
    for (system, tally) in rows {
        write_row(out, system, tally.all.recall_percentages())?;
    }
    write_heading(out, "every turn inside, %", budgets)?;
    for (system, tally) in rows {
        write_row(out, system, tally.all.complete_percentages())?;
    }
    let categories = rows.first().into_iter().flat_map(|(_, tally)| &tally.by_category);
    for (category, RecallMean { questions, .. }) in categories {
        write_heading(out, &format!("{category} ({questions} questions), recall, %"), budgets)?;
        for (system, tally) in rows {
            write_row(
                out,
                system,
                tally
                    .by_category
                    .get(category)
                    .into_iter()
                    .flat_map(RecallMean::recall_percentages),
            )?;
        }
    }
    if let Some((system, tally)) = rows.first() {
        write_heading(out, &format!("{system} by conversation, recall, %"), budgets)?;
        for (conversation, mean) in &tally.by_conversation {
            write_row(
                out,
                &format!("{conversation} ({})", mean.questions),
                mean.recall_percentages(),
            )?;
        }
    }
    writeln!(out)
}

fn write_heading(out: &mut dyn Write, title: &str, budgets: &[u64]) -> io::Result<()> {
    let columns: Vec<String> = budgets.iter().map(|budget| format!(" {budget} tokens |")).collect();
    writeln!(out, "\n| {title} |{}", columns.concat())?;
    writeln!(out, "|---|{}", "---|".repeat(budgets.len()))
}

fn write_row(out: &mut dyn Write, name: &str, values: impl Iterator<Item = f64>) -> io::Result<()> {
    let values: Vec<String> = values.map(|value| format!(" {value:.1} |")).collect();
    writeln!(out, "| {name} |{}", values.concat())
}
