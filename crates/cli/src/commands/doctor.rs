//! `countersign doctor`: what is set up, which setting came from where, and what is wrong with it.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_core::run::Status;
use countersign_models::{ModelSpec, Provider};
use countersign_runtime::folder::Home;
use countersign_store::{Health, RunFilter, WaitFilter};
use serde_json::{Value, json};

use crate::args::{Doctor, Site};
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, protocol_at, wait};
use crate::output;
use crate::settings::{FILE, Settings, env};
use crate::show::{BAD, DIM, GOOD, HEADING};
use crate::table::table;

pub(super) fn run(args: &Doctor, json: bool) -> Exit {
    let mut report = Report::default();
    let home = examine(&mut report, &args.site);
    if let Some(database) = home {
        counts(&mut report, &args.site, &database);
    }
    if json {
        output::json(&report.json());
    } else {
        output::data(&report.page());
    }
    if report.problems.is_empty() { Exit::Good } else { Exit::Refused }
}

/// What was found.
#[derive(Default)]
struct Report {
    sections: Vec<(&'static str, Vec<Fact>)>,
    settings: Vec<[String; 3]>,
    /// What is wrong, and the way out.
    problems: Vec<(String, String)>,
}

/// One thing that was looked at.
struct Fact {
    name: &'static str,
    told: String,
    /// Good, bad, or neither.
    good: Option<bool>,
    value: Value,
}

impl Report {
    fn add(&mut self, name: &'static str, told: impl Into<String>, value: impl Into<Value>) {
        self.push(Fact { name, told: told.into(), good: None, value: value.into() });
    }

    fn good(&mut self, name: &'static str, told: impl Into<String>, value: impl Into<Value>) {
        self.push(Fact { name, told: told.into(), good: Some(true), value: value.into() });
    }

    fn bad(&mut self, name: &'static str, told: impl Into<String>, way_out: impl Into<String>) {
        let told = told.into();
        self.problems.push((told.clone(), way_out.into()));
        self.push(Fact { name, value: told.clone().into(), told, good: Some(false) });
    }

    fn push(&mut self, fact: Fact) {
        if let Some((_, facts)) = self.sections.last_mut() {
            facts.push(fact);
        }
    }

    fn section(&mut self, name: &'static str) {
        self.sections.push((name, Vec::new()));
    }

    fn json(&self) -> Value {
        let mut whole = json!({ "good": self.problems.is_empty() });
        for (name, facts) in &self.sections {
            let mut section = json!({});
            for fact in facts {
                section[fact.name.replace(' ', "_")] = fact.value.clone();
            }
            whole[*name] = section;
        }
        let settings = self.settings.iter().map(|[name, value, origin]| {
            let value = Some(value).filter(|value| !value.is_empty());
            json!({ "name": name, "value": value, "origin": origin })
        });
        whole["settings"] = settings.collect();
        let problems = self.problems.iter();
        whole["problems"] =
            problems.map(|(what, way_out)| json!({ "what": what, "way_out": way_out })).collect();
        whole
    }

    fn page(&self) -> String {
        let mut page = String::new();
        for (name, facts) in &self.sections {
            page.push_str(&format!("{HEADING}{name}{HEADING:#}\n"));
            for fact in facts {
                let mark = match fact.good {
                    Some(true) => format!("{GOOD}✓{GOOD:#}"),
                    Some(false) => format!("{BAD}✗{BAD:#}"),
                    None => " ".to_owned(),
                };
                page.push_str(&format!("{mark} {DIM}{:<12}{DIM:#}{}\n", fact.name, fact.told));
            }
            page.push('\n');
        }
        let rows: Vec<[String; 3]> = self
            .settings
            .iter()
            .map(|[name, value, origin]| {
                let value = if value.is_empty() { "–".to_owned() } else { value.clone() };
                [name.clone(), value, origin.clone()]
            })
            .collect();
        if !rows.is_empty() {
            page.push_str(&table(["SETTING", "VALUE", "FROM"], &rows));
            page.push('\n');
        }
        if self.problems.is_empty() {
            page.push_str(&format!("{GOOD}Nothing is wrong.{GOOD:#}\n"));
        }
        for (what, way_out) in &self.problems {
            page.push_str(&format!("{BAD}problem{BAD:#}: {what}\n  {way_out}\n"));
        }
        page
    }
}

/// Looks at everything but the runs; gives the database where it can be read.
fn examine(report: &mut Report, site: &Site) -> Option<PathBuf> {
    let here = Path::new(".");
    report.section("program");
    report.add("version", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION"));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    report.add("system", system.clone(), system);

    report.section("workspace");
    let home = match Home::find(here) {
        Ok(home) => home,
        Err(error) => {
            report.bad(
                "home",
                error.to_string(),
                "Remove or rename it, so that a folder can be there.",
            );
            None
        }
    };
    let workspace = home.as_ref().map_or_else(
        || here.canonicalize().unwrap_or_default(),
        |home| home.workspace().to_owned(),
    );
    report.add("folder", shown(&workspace), shown(&workspace));
    match &home {
        Some(home) => report.good("home", shown(home.folder()), shown(home.folder())),
        None => report.add("home", "none yet; `countersign run` makes one", Value::Null),
    }
    writable(report, home.as_ref().map_or(workspace.as_path(), Home::folder));
    let settings = match Settings::read(&workspace, site, None) {
        Ok(settings) => settings,
        Err(error) => {
            let told = match &error {
                Error::Author(faults) => {
                    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                }
                other => other.to_string(),
            };
            report.bad("settings", told, "Mend the file, or remove it.");
            return None;
        }
    };
    let file = settings.file.as_deref().map(shown);
    report.add("settings", file.clone().unwrap_or_else(|| format!("no {FILE}")), file);
    for setting in settings.all() {
        let value = setting.value.clone().unwrap_or_default();
        report.settings.push([setting.name.to_owned(), value, setting.origin.clone()]);
    }

    report.section("protocol");
    let start = settings.protocol.value.as_deref().map_or(workspace.as_path(), Path::new);
    let model = examine_protocol(report, start);
    report.section("models");
    models(report, settings.model.value.as_deref().or(model.as_deref()));

    report.section("store");
    let named = settings.store.value.as_ref().map(PathBuf::from);
    let path = named.clone().or_else(|| home.as_ref().map(Home::database));
    match path {
        Some(path) if path.is_file() => examine_store(report, &path).then_some(path),
        Some(path) if named.is_some() => {
            let told = format!("no file at `{}`", shown(&path));
            report.bad(
                "database",
                told,
                "Name another with --store; `countersign run` would make this one.",
            );
            None
        }
        _ => {
            report.add("database", "none yet; `countersign run` makes one", Value::Null);
            None
        }
    }
}

/// Whether files can be made, tried with one.
fn writable(report: &mut Report, folder: &Path) {
    let probe = folder.join(format!(".countersign-doctor-{}", std::process::id()));
    match fs::write(&probe, "") {
        Ok(()) => {
            let _ = fs::remove_file(&probe);
            report.good("writable", "files can be written here", true);
        }
        Err(error) => {
            let told = format!("nothing can be written to `{}`: {error}", shown(folder));
            report.bad("writable", told, "Give yourself the right to write there, or make room.");
        }
    }
}

/// Loads the protocol; gives the model it names.
fn examine_protocol(report: &mut Report, start: &Path) -> Option<String> {
    let Ok(folder) = protocol_at(start) else {
        report.add("folder", "none here or above; `countersign init` puts one here", Value::Null);
        return None;
    };
    report.add("folder", shown(&folder), shown(&folder));
    match protocol(&folder) {
        Ok((protocol, _)) => {
            let told = format!("{} {}", protocol.name, protocol.version);
            let value = json!({ "name": protocol.name, "version": protocol.version, "digest": protocol.digest });
            report.good("loads", told, value);
            protocol.default_model.clone()
        }
        Err(Error::Author(faults)) => {
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            let told = match faults.len() {
                1 => first,
                several => format!("{first}, and {} more", several - 1),
            };
            report.bad("loads", told, "`countersign check` shows every fault beside its place.");
            None
        }
        Err(other) => {
            report.bad("loads", other.to_string(), "`countersign check` says more.");
            None
        }
    }
}

/// Which model is meant, and for which providers there are keys. Keys themselves are never told.
fn models(report: &mut Report, named: Option<&str>) {
    let settings = match countersign_models::Settings::from_env(&env) {
        Ok(settings) => settings,
        Err(error) => {
            report.bad("keys", error.to_string(), "Set the variable right, or unset it.");
            return;
        }
    };
    let has_key = |provider: Provider| {
        let variable = provider.key_variable();
        env(variable).is_some() || env(&format!("{variable}_FILE")).is_some()
    };
    let providers: Vec<&str> =
        Provider::ALL.into_iter().filter(|one| has_key(*one)).map(Provider::as_str).collect();
    let told = if providers.is_empty() { "none".to_owned() } else { providers.join(", ") };
    report.add("keys for", told, json!(providers));
    let Some(named) = named else {
        report.add(
            "model",
            "none is named; name one with --model, or hand replies in",
            Value::Null,
        );
        return;
    };
    match named.parse::<ModelSpec>() {
        Err(error) => report.bad("model", error.to_string(), "Name one that can be."),
        Ok(ModelSpec::Remote { provider, address, .. }) => {
            let place = address.unwrap_or_else(|| settings.addresses.of(provider).to_owned());
            let told = format!("{named}, at {place} (not called now)");
            let needs_key =
                matches!(provider, Provider::OpenAi | Provider::Anthropic | Provider::Gemini);
            let usual = place == provider.address();
            if needs_key && usual && !has_key(provider) {
                let variable = provider.key_variable();
                report.bad(
                    "model",
                    format!("{named} needs a key, and there is none"),
                    format!("Put it into {variable}, or a file with it into {variable}_FILE."),
                );
            } else {
                report.good("model", told, named);
            }
        }
        Ok(ModelSpec::Script(_)) => report.good("model", format!("{named}, a script"), named),
        Ok(ModelSpec::Human) => report.good("model", "a person plays it", named),
    }
}

/// Looks at the file of the database; false where it cannot be read.
fn examine_store(report: &mut Report, path: &Path) -> bool {
    report.add("database", shown(path), shown(path));
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    let (size, log) = (bytes(path), bytes(&wal));
    let told = format!("{}, write-ahead log {}", sized(size), sized(log));
    report.add("size", told, json!({ "bytes": size, "wal_bytes": log }));
    match Health::of(path) {
        Ok(health) => {
            let told =
                format!("{}, journal {}, SQLite {}", health.schema, health.journal, health.engine);
            let value = json!({ "number": health.schema, "journal": health.journal, "sqlite": health.engine });
            report.good("schema", told, value);
            if health.faults.is_empty() {
                report.good("pages", "every page is sound", true);
                return true;
            }
            let told = format!("the database is damaged: {}", health.faults.join("; "));
            report.bad("pages", told, "Copy the file away now; restore a backup, or `countersign export` every run that `replay --all --verify` still proves.");
            true
        }
        Err(error) => {
            let why = std::error::Error::source(&error)
                .map_or_else(String::new, |source| format!(": {source}"));
            report.bad("schema", format!("{error}{why}"), "Restore a backup, name another database with --store, or use the program that made it.");
            false
        }
    }
}

/// Runs by status, and what waits.
fn counts(report: &mut Report, site: &Site, database: &Path) {
    let counted = wait(async {
        let Some(house) = House::find(site)? else { return Ok(None) };
        debug_assert_eq!(house.database(), database);
        let (store, tenant) = (house.engine.store(), house.engine.tenant());
        let mut runs = Vec::new();
        for status in Status::ALL {
            let mut filter = RunFilter::newest(tenant.clone(), usize::MAX);
            filter.status = Some(status.as_str().to_owned());
            runs.push((status.as_str(), store.runs(&filter).await?.len()));
        }
        let waits = store.waits(&WaitFilter::all(tenant.clone(), usize::MAX)).await?.len();
        Ok(Some((runs, waits)))
    });
    match counted {
        Ok(Some((runs, waits))) => {
            let some: Vec<String> = runs
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(status, count)| format!("{count} {status}"))
                .collect();
            let told = if some.is_empty() { "none".to_owned() } else { some.join(", ") };
            let value: serde_json::Map<String, Value> =
                runs.iter().map(|(status, count)| ((*status).to_owned(), json!(count))).collect();
            report.add("runs", told, Value::Object(value));
            let told = match waits {
                0 => "nothing waits for anybody".to_owned(),
                _ => format!("{waits} open; `countersign inbox` shows them"),
            };
            report.add("waits", told, waits);
        }
        Ok(None) => {}
        Err(error) => report.bad("runs", error.to_string(), "`countersign list` says more."),
    }
}

fn sized(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", bytes / 1_024),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
