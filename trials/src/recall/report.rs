//! The tables, as text.

use std::io::{self, Write};

use super::tally::{Mean, Tally};

/// A system and how it fared.
pub(crate) type Row = (String, Tally);

/// What the categories are called.
const CATEGORIES: [(u8, &str); 5] =
    [(1, "multi-hop"), (2, "temporal"), (3, "open"), (4, "single-hop"), (5, "without an answer")];

/// All tables.
pub(crate) fn tables(out: &mut dyn Write, budgets: &[u64], rows: &[Row]) -> io::Result<()> {
    heading(out, "recall, %", budgets)?;
    for (system, tally) in rows {
        line(out, system, tally.all.recall())?;
    }
    heading(out, "every turn inside, %", budgets)?;
    for (system, tally) in rows {
        line(out, system, tally.all.whole())?;
    }
    for (category, name) in CATEGORIES {
        let asked = |(_, tally): &Row| tally.by_category.get(&category).map(|mean| mean.questions);
        let Some(questions) = rows.first().and_then(asked) else { continue };
        heading(out, &format!("{name} ({questions} questions), recall, %"), budgets)?;
        for (system, tally) in rows {
            line(out, system, tally.by_category.get(&category).into_iter().flat_map(Mean::recall))?;
        }
    }
    if let Some((system, tally)) = rows.first() {
        heading(out, &format!("{system} by conversation, recall, %"), budgets)?;
        for (conversation, mean) in &tally.by_conversation {
            line(out, &format!("{conversation} ({})", mean.questions), mean.recall())?;
        }
    }
    writeln!(out)
}

fn heading(out: &mut dyn Write, title: &str, budgets: &[u64]) -> io::Result<()> {
    let columns: Vec<String> = budgets.iter().map(|budget| format!(" {budget} tokens |")).collect();
    writeln!(out, "\n| {title} |{}", columns.concat())?;
    writeln!(out, "|---|{}", "---|".repeat(budgets.len()))
}

fn line(out: &mut dyn Write, name: &str, values: impl Iterator<Item = f64>) -> io::Result<()> {
    let values: Vec<String> = values.map(|value| format!(" {value:.1} |")).collect();
    writeln!(out, "| {name} |{}", values.concat())
}
