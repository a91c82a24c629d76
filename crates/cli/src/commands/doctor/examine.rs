//! `countersign doctor`: what is set up, which setting came from where, and what is wrong with it.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_core::redact_credentials;
use countersign_core::run::Status;
use countersign_models::{ModelSpec, Provider};
use countersign_postgres::is_address;
use countersign_runtime::folder::Home;
use countersign_runtime::private::is_private;
use countersign_store::{Health, RunFilter, WaitFilter};
use serde_json::{Value, json};

use super::report::Report;
use super::server;
use crate::args::{Doctor, Site};
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, protocol_at, protocol_near, wait};
use crate::output;
use crate::place::Place;
use crate::settings::{FILE, Setting, Settings, env};
use crate::sized::sized;

pub(in crate::commands) fn run(args: &Doctor, json: bool) -> Exit {
    let mut report = Report::default();
    let home = examine(&mut report, &args.site);
    if let Some(place) = home {
        counts(&mut report, &args.site, &place);
    }
    if json {
        output::json(&report.json());
    } else {
        output::data(&report.page());
    }
    if report.problems.is_empty() { Exit::Good } else { Exit::Refused }
}

/// Looks at everything but the runs; gives the database where it can be read.
fn examine(report: &mut Report, site: &Site) -> Option<Place> {
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
    if let Some(home) = &home {
        private(report, home);
    }
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
        let value = shown_value(setting);
        report.settings.push([setting.name.to_owned(), value, setting.origin.clone()]);
    }

    report.section("protocol");
    let found = match settings.protocol.value.as_deref() {
        Some(named) => protocol_at(Path::new(named)),
        None => protocol_near(workspace.as_path()),
    };
    let model = examine_protocol(report, found);
    report.section("models");
    models(report, settings.model.value.as_deref().or(model.as_deref()));

    report.section("store");
    let named = settings.store().and_then(|named| named.map(Place::named).transpose());
    let named = match named {
        Ok(named) => named,
        Err(error) => {
            report.bad(
                "database",
                error.to_string(),
                "Mend the address; docs/reference/postgres.md shows what it may hold.",
            );
            return None;
        }
    };
    let is_named = named.is_some();
    let place = named.or_else(|| home.as_ref().map(|home| Place::File(home.database())));
    match place {
        Some(Place::Server(server)) => {
            let good = server::examine(report, &server, home.as_ref());
            good.then_some(Place::Server(server))
        }
        Some(Place::File(path)) if path.is_file() => {
            examine_store(report, &path).then_some(Place::File(path))
        }
        Some(Place::File(path)) if is_named => {
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

/// Whether others can read what is kept here.
fn private(report: &mut Report, home: &Home) {
    let mut wide: Vec<String> = Vec::new();
    let entries = fs::read_dir(home.folder()).into_iter().flatten().flatten();
    // Whatever lies in a private folder is out of the reach of others.
    if fs::metadata(home.folder()).is_ok_and(|found| !is_private(&found)) {
        let inside = entries.filter(|entry| entry.file_name() != ".gitignore");
        let inside = inside.filter(|entry| entry.metadata().is_ok_and(|found| !is_private(&found)));
        wide = inside.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        wide.sort();
    }
    if !wide.is_empty() {
        let folder = shown(home.folder());
        let told = format!("others on this machine can read {} in `{folder}`", wide.join(", "));
        report.bad("private", told, format!("`chmod -R go= {folder}` makes it yours alone."));
    }
}

/// Loads the protocol; gives the model it names.
fn examine_protocol(report: &mut Report, found: Result<PathBuf, Error>) -> Option<String> {
    let Ok(folder) = found else {
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
    let parsed = named.parse::<ModelSpec>();
    let named = redact_credentials(named);
    let named = named.as_ref();
    match parsed {
        Err(error) => report.bad("model", error.to_string(), "Name one that can be."),
        Ok(ModelSpec::Remote { provider, address, .. }) => {
            let place = address.map_or_else(
                || settings.addresses.of(provider).to_owned(),
                |address| address.to_string(),
            );
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
fn counts(report: &mut Report, site: &Site, place: &Place) {
    let counted = wait(async {
        let Some(house) = House::find(site)? else { return Ok(None) };
        debug_assert_eq!(house.place().to_string(), place.to_string());
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

/// The value of a setting; an address without what is secret in it.
fn shown_value(setting: &Setting) -> String {
    let value = setting.value.clone().unwrap_or_default();
    if setting.name != "store" || !is_address(&value) {
        return redact_credentials(&value).into_owned();
    }
    Place::named(&value)
        .map_or_else(|_| "an address that cannot be read".to_owned(), |place| place.to_string())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
