//! `countersign memory import --from PROGRAM`: imports what another memory or a chat program
//! exported, and reports what was taken and what was not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use countersign_contract::limits::MAX_IMPORT_ERRORS;
use countersign_memory::MemorySubject;
use countersign_memory::foreign::{
    ForeignConversion, ForeignFile, ForeignItem, ForeignOmission, ForeignSource,
    convert_foreign_file,
};
use countersign_memory::store::{ImportTrust, Memory};
use countersign_run::Timestamp;
use serde_json::{Value, json};

use super::foreign_files::read_export_files;
use super::open_memory;
use crate::args::{MemoryImportArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD};

/// The number of records per transaction.
const BATCH_SIZE: usize = 500;

pub(super) fn import_foreign(
    whose: &ScopeArgs,
    args: &MemoryImportArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let name = args.from.as_deref().unwrap_or_default();
    let source = ForeignSource::find(name)
        .ok_or_else(|| CliError::Usage(format!("`--from`: unknown program `{name}`")))?;
    let now = open_memory::resolve_now(whose)?;
    let owner = open_memory::resolve_scope(whose)?.subject();
    let conversion = convert_export(&args.file, source, &owner, now)?;
    let mut report = ForeignImportReport::new(conversion);
    if !args.dry_run && !report.conversion.items.is_empty() {
        let memory = open_memory::open_or_create(whose)?;
        block_on(report.store(&*memory, &owner, now))?;
    }
    if let Some(path) = &args.report {
        let unwritable = |source| CliError::Unwritable { what: path.display().to_string(), source };
        std::fs::write(path, report.to_lines()).map_err(unwritable)?;
    }
    if json {
        output::print_json(&report.to_json(source, args.dry_run));
    } else {
        output::print_message(&report.describe(args.dry_run, args.report.is_some()));
    }
    let nothing = report.conversion.items.is_empty();
    Ok(if report.refused.is_empty() && !nothing { CliExit::Success } else { CliExit::Refused })
}

/// Converts every file of an export. A file of another format ends the import if the user named it;
/// in a folder or an archive it is left out.
fn convert_export(
    path: &Path,
    source: ForeignSource,
    owner: &MemorySubject,
    now: Timestamp,
) -> Result<ForeignConversion, CliError> {
    let mut conversion = ForeignConversion::default();
    let unread = read_export_files(path, source, &mut |file| {
        let foreign = ForeignFile { path: &file.path, bytes: &file.bytes, modified: file.modified };
        match convert_foreign_file(source, foreign, owner, now) {
            Ok(converted) => conversion.append(converted),
            Err(error) if file.is_named => return Err(CliError::Usage(error.to_string())),
            Err(error) => conversion
                .omissions
                .push(ForeignOmission { place: file.path, reason: error.to_string() }),
        }
        Ok(())
    })?;
    conversion.omissions.extend(unread);
    conversion.sort_sessions();
    Ok(conversion)
}

/// What was taken from an export, what was left out, and what the memory refused.
struct ForeignImportReport {
    conversion: ForeignConversion,
    saved: u64,
    /// The index of each refused item, and the reason.
    refused: BTreeMap<usize, String>,
}

impl ForeignImportReport {
    fn new(conversion: ForeignConversion) -> Self {
        Self { conversion, saved: 0, refused: BTreeMap::new() }
    }

    /// Stores the items in batches.
    async fn store(
        &mut self,
        memory: &dyn Memory,
        owner: &MemorySubject,
        now: Timestamp,
    ) -> Result<(), CliError> {
        let mut first = 0;
        for batch in self.conversion.items.chunks(BATCH_SIZE) {
            let lines = batch.iter().map(|item| item.to_line(owner)).collect();
            let imported = memory.import(lines, ImportTrust::Foreign, now).await?;
            self.saved += imported.accepted;
            for (number, reason) in imported.refused {
                let index = usize::try_from(number).unwrap_or_default().saturating_sub(1);
                self.refused.insert(first + index, reason);
            }
            first += batch.len();
            output::print_transient(&format!("  {first} records"));
        }
        output::print_transient("");
        Ok(())
    }

    fn list_taken(&self) -> impl Iterator<Item = &ForeignItem> {
        let items = self.conversion.items.iter().enumerate();
        items.filter(|(index, _)| !self.refused.contains_key(index)).map(|(_, item)| item)
    }

    /// Lists the items that the memory refused: place and reason.
    fn list_refusals(&self) -> impl Iterator<Item = (&str, &str)> {
        let place = |index: usize| self.conversion.items[index].place.as_str();
        self.refused.iter().map(move |(index, reason)| (place(*index), reason.as_str()))
    }

    fn describe(&self, dry_run: bool, reported: bool) -> String {
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        self.list_taken().for_each(|item| *kinds.entry(item.describe().0).or_default() += 1);
        let kinds: Vec<String> =
            kinds.into_iter().map(|(kind, count)| open_memory::pluralize(count, kind)).collect();
        let verb = if dry_run { "would be imported" } else { "imported" };
        let mut text = match &kinds[..] {
            [] => format!("nothing {verb}\n"),
            kinds => format!("{GOOD}{} {verb}{GOOD:#}\n", kinds.join(", ")),
        };
        let most = MAX_IMPORT_ERRORS as usize;
        for (place, reason) in self.list_refusals().take(most) {
            let _ = writeln!(text, "{BAD}refused{BAD:#} {place}: {reason}");
        }
        if self.refused.len() > most {
            let _ = writeln!(text, "{BAD}refused{BAD:#} … and {} more", self.refused.len() - most);
        }
        let omissions = &self.conversion.omissions;
        if !omissions.is_empty() {
            let _ = writeln!(text, "left out: {}", omissions.len());
        }
        for ForeignOmission { place, reason } in omissions.iter().take(most) {
            let _ = writeln!(text, "  {place}: {reason}");
        }
        if omissions.len() > most {
            let hint = if reported { "" } else { "; `--report FILE` lists all of them" };
            let _ = writeln!(text, "  … and {} more{hint}", omissions.len() - most);
        }
        text.trim_end().to_owned()
    }

    fn to_json(&self, source: ForeignSource, dry_run: bool) -> Value {
        json!({
            "from": source.name(),
            "dry_run": dry_run,
            "saved": self.saved,
            "taken": self.list_taken().map(item_to_json).collect::<Vec<_>>(),
            "left_out": self.conversion.omissions.iter().map(omission_to_json).collect::<Vec<_>>(),
            "refused": self.list_refusals().map(refusal_to_json).collect::<Vec<_>>(),
        })
    }

    /// Writes one line of JSON for each part of the export.
    fn to_lines(&self) -> String {
        let taken = self.list_taken().map(item_to_json);
        let refused = self.list_refusals().map(refusal_to_json);
        let left_out = self.conversion.omissions.iter().map(omission_to_json);
        let mut text = String::new();
        for line in taken.chain(refused).chain(left_out) {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

fn item_to_json(item: &ForeignItem) -> Value {
    let (kind, id) = item.describe();
    json!({ "place": item.place, "result": "taken", "kind": kind, "id": id })
}

fn omission_to_json(omission: &ForeignOmission) -> Value {
    json!({ "place": omission.place, "result": "left_out", "message": omission.reason })
}

fn refusal_to_json((place, reason): (&str, &str)) -> Value {
    json!({ "place": place, "result": "refused", "message": reason })
}
