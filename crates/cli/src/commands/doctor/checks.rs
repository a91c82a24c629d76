//! The checks of `countersign doctor`, except those of a `PostgreSQL` server.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::redact_credentials;
use countersign_models::{ModelProvider, ModelSpec};
use countersign_postgres::is_address;
use countersign_protocol::Protocol;
use countersign_run::ExecutionStatus;
use countersign_runtime::driver::describe_unused_document;
use countersign_runtime::folder::EngineHome;
use countersign_runtime::private_files::is_private;
use countersign_store::{RunFilter, SqliteHealth, WaitFilter, WaitRow};
use serde_json::{Value, json};

use super::doctor_report::DoctorReport;
use super::mcp_checks;
use super::postgres_checks;
use crate::args::{DoctorArgs, StoreArgs};
use crate::byte_format::format_bytes;
use crate::commands::channel::describe_events;
use crate::context::{
    CliContext, block_on, find_nearest_protocol, load_protocol_folder, resolve_protocol_folder,
};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::settings::{CliSetting, CliSettings, SETTINGS_FILE, env_var};
use crate::store_location::StoreLocation;

pub(in crate::commands) fn run(args: &DoctorArgs, json: bool) -> CliExit {
    let mut report = DoctorReport::default();
    let home = run_checks(&mut report, &args.store_args);
    if let Some(location) = home {
        count_runs(&mut report, &args.store_args, &location);
    }
    if json {
        output::print_json(&report.to_json());
    } else {
        output::print_data(&report.to_text());
    }
    if report.problems.is_empty() { CliExit::Success } else { CliExit::Refused }
}

/// Runs every check except the count of runs; returns the database location if it can be read.
fn run_checks(report: &mut DoctorReport, site: &StoreArgs) -> Option<StoreLocation> {
    let here = Path::new(".");
    report.start_section("program");
    report.add("version", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION"));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    report.add("system", system.clone(), system);

    report.start_section("workspace");
    let home = match EngineHome::find(here) {
        Ok(home) => home,
        Err(error) => {
            report.add_problem(
                "home",
                error.to_string(),
                "Remove or rename it, so that a folder can be created there.",
            );
            None
        }
    };
    let workspace = home.as_ref().map_or_else(
        || here.canonicalize().unwrap_or_default(),
        |home| home.workspace().to_owned(),
    );
    report.add("folder", display_path(&workspace), display_path(&workspace));
    match &home {
        Some(home) => {
            report.add_passed("home", display_path(home.folder()), display_path(home.folder()));
        }
        None => report.add("home", "none yet; `countersign run` creates one", Value::Null),
    }
    check_writable(report, home.as_ref().map_or(workspace.as_path(), EngineHome::folder));
    if let Some(home) = &home {
        check_permissions(report, home);
    }
    let settings = match CliSettings::load(&workspace, site, None) {
        Ok(settings) => settings,
        Err(error) => {
            let text = match &error {
                CliError::InvalidFiles(faults) => {
                    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                }
                other => other.to_string(),
            };
            report.add_problem("settings", text, "Fix the file, or remove it.");
            return None;
        }
    };
    let file = settings.file.as_deref().map(display_path);
    report.add("settings", file.clone().unwrap_or_else(|| format!("no {SETTINGS_FILE}")), file);
    for setting in settings.all() {
        let value = display_setting(setting);
        report.settings.push([setting.name.to_owned(), value, setting.origin.clone()]);
    }

    report.start_section("protocol");
    let found = match settings.protocol.value.as_deref() {
        Some(named) => resolve_protocol_folder(Path::new(named)),
        None => find_nearest_protocol(workspace.as_path()),
    };
    let protocol = check_protocol(report, found);
    let model =
        protocol.as_ref().and_then(|protocol| protocol.resolve_default_model().map(str::to_owned));
    if let Some(protocol) = protocol {
        mcp_checks::check_mcp_servers(report, &protocol, &workspace);
    }
    report.start_section("models");
    check_models(report, settings.model.value.as_deref().or(model.as_deref()));

    check_channels(report, &settings);
    check_store(report, &settings, home.as_ref())
}

/// Checks the database of the runs; returns its location if it can be read.
fn check_store(
    report: &mut DoctorReport,
    settings: &CliSettings,
    home: Option<&EngineHome>,
) -> Option<StoreLocation> {
    report.start_section("store");
    let named =
        settings.resolve_store().and_then(|named| named.map(StoreLocation::parse).transpose());
    let named = match named {
        Ok(named) => named,
        Err(error) => {
            report.add_problem(
                "database",
                error.to_string(),
                "Fix the address; docs/reference/postgres.md describes its format.",
            );
            return None;
        }
    };
    let is_named = named.is_some();
    let location = named.or_else(|| home.map(|home| StoreLocation::File(home.database_path())));
    match location {
        Some(StoreLocation::Server(server)) => {
            let good = postgres_checks::check_server(report, &server, home);
            good.then_some(StoreLocation::Server(server))
        }
        Some(StoreLocation::File(path)) if path.is_file() => {
            check_sqlite_file(report, &path).then_some(StoreLocation::File(path))
        }
        Some(StoreLocation::File(path)) if is_named => {
            let text = format!("no file at `{}`", display_path(&path));
            report.add_problem(
                "database",
                text,
                "Name another with --store, or create this one with `countersign run`.",
            );
            None
        }
        _ => {
            report.add("database", "none yet; `countersign run` creates one", Value::Null);
            None
        }
    }
}

/// Lists the channels; says which secrets are missing, and whether the file is trusted.
fn check_channels(report: &mut DoctorReport, settings: &CliSettings) {
    let set = settings.build_channel_set();
    if set.list_channels().next().is_none() {
        return;
    }
    report.start_section("channels");
    for channel in set.list_channels() {
        let text = format!("{}; on: {}", channel.describe(), describe_events(channel));
        match channel.find_missing_variable() {
            Some(name) => report.add_problem(
                "channel",
                format!("{text}; environment variable `{name}` is not set"),
                "Set the variable for every process that works on runs.",
            ),
            None => report.add("channel", text.clone(), text),
        }
    }
    if !settings.is_file_trusted() {
        report.add_problem(
            "trust",
            "nothing is delivered, because you have not trusted countersign.toml",
            "Review it with `countersign trust`.",
        );
    }
}

/// Checks whether the folder is writable by creating a file.
fn check_writable(report: &mut DoctorReport, folder: &Path) {
    let probe = folder.join(format!(".countersign-doctor-{}", std::process::id()));
    match fs::write(&probe, "") {
        Ok(()) => {
            let _ = fs::remove_file(&probe);
            report.add_passed("writable", "files can be written here", true);
        }
        Err(error) => {
            let text = format!("cannot write to `{}`: {error}", display_path(folder));
            report.add_problem(
                "writable",
                text,
                "Give yourself write permission, or free some disk space.",
            );
        }
    }
}

/// Checks whether other users can read the stored files.
fn check_permissions(report: &mut DoctorReport, home: &EngineHome) {
    let mut wide: Vec<String> = Vec::new();
    let entries = fs::read_dir(home.folder()).into_iter().flatten().flatten();
    // Other users cannot reach the contents of a private folder.
    if fs::metadata(home.folder()).is_ok_and(|found| !is_private(&found)) {
        let inside = entries.filter(|entry| entry.file_name() != ".gitignore");
        let inside = inside.filter(|entry| entry.metadata().is_ok_and(|found| !is_private(&found)));
        wide = inside.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        wide.sort();
    }
    if !wide.is_empty() {
        let folder = display_path(home.folder());
        let text =
            format!("other users of this machine can read {} in `{folder}`", wide.join(", "));
        report.add_problem("private", text, format!("`chmod -R go= {folder}` makes it private."));
    }
}

/// Loads the protocol, and returns it if it is valid.
fn check_protocol(
    report: &mut DoctorReport,
    found: Result<PathBuf, CliError>,
) -> Option<Arc<Protocol>> {
    let Ok(folder) = found else {
        report.add(
            "folder",
            "none here or above; `countersign init` creates one here",
            Value::Null,
        );
        return None;
    };
    report.add("folder", display_path(&folder), display_path(&folder));
    match load_protocol_folder(&folder) {
        Ok((protocol, _)) => {
            let text = format!("{} {}", protocol.name, protocol.version);
            let value = json!({ "name": protocol.name, "version": protocol.version, "digest": protocol.digest });
            report.add_passed("loads", text, value);
            Some(protocol)
        }
        Err(CliError::InvalidFiles(faults)) => {
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            let text = match faults.len() {
                1 => first,
                several => format!("{first}, and {} more", several - 1),
            };
            report.add_problem(
                "loads",
                text,
                "`countersign check` shows every error with its location.",
            );
            None
        }
        Err(other) => {
            report.add_problem("loads", other.to_string(), "`countersign check` shows more.");
            None
        }
    }
}

/// Reports the selected model and the providers that have keys. Never prints a key.
fn check_models(report: &mut DoctorReport, named: Option<&str>) {
    let settings = match countersign_models::ModelSettings::from_env(&env_var) {
        Ok(settings) => settings,
        Err(error) => {
            report.add_problem("keys", error.to_string(), "Correct the variable, or unset it.");
            return;
        }
    };
    let has_key = |provider: ModelProvider| {
        let variable = provider.key_variable();
        env_var(variable).is_some() || env_var(&format!("{variable}_FILE")).is_some()
    };
    let providers: Vec<&str> = ModelProvider::ALL
        .into_iter()
        .filter(|one| has_key(*one))
        .map(ModelProvider::as_str)
        .collect();
    let text = if providers.is_empty() { "none".to_owned() } else { providers.join(", ") };
    report.add("keys for", text, json!(providers));
    let Some(named) = named else {
        report.add(
            "model",
            "none configured; name one with --model, or submit replies yourself",
            Value::Null,
        );
        return;
    };
    let parsed = named.parse::<ModelSpec>();
    let named = redact_credentials(named);
    let named = named.as_ref();
    match parsed {
        Err(error) => report.add_problem("model", error.to_string(), "Name a valid model."),
        Ok(ModelSpec::Remote { provider, address, .. }) => {
            let address_text = address.map_or_else(
                || settings.addresses.for_provider(provider).to_owned(),
                |address| address.to_string(),
            );
            let text = format!("{named}, at {address_text} (not called now)");
            let needs_key = matches!(
                provider,
                ModelProvider::OpenAi | ModelProvider::Anthropic | ModelProvider::Gemini
            );
            let usual = address_text == provider.default_address();
            if needs_key && usual && !has_key(provider) {
                let variable = provider.key_variable();
                report.add_problem(
                    "model",
                    format!("{named} needs a key, but none is set"),
                    format!("Put it into {variable}, or the path of a file with it into {variable}_FILE."),
                );
            } else {
                report.add_passed("model", text, named);
            }
        }
        Ok(ModelSpec::Script(_)) => report.add_passed("model", format!("{named}, a script"), named),
        Ok(ModelSpec::Human) => report.add_passed("model", "a person replies", named),
    }
}

/// Checks the database file; returns `false` if it cannot be read.
fn check_sqlite_file(report: &mut DoctorReport, path: &Path) -> bool {
    report.add("database", display_path(path), display_path(path));
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    let (size, log) = (bytes(path), bytes(&wal));
    let text = format!("{}, write-ahead log {}", format_bytes(size), format_bytes(log));
    report.add("size", text, json!({ "bytes": size, "wal_bytes": log }));
    match SqliteHealth::probe(path) {
        Ok(health) => {
            let text = format!(
                "{}, journal {}, SQLite {}",
                health.schema, health.journal_mode, health.sqlite_version
            );
            let value = json!({ "number": health.schema, "journal": health.journal_mode, "sqlite": health.sqlite_version });
            report.add_passed("schema", text, value);
            if health.integrity_errors.is_empty() {
                report.add_passed("pages", "every page is intact", true);
                return true;
            }
            let text = format!("the database is damaged: {}", health.integrity_errors.join("; "));
            report.add_problem("pages", text, "Make a copy of the file now; restore a backup, or `countersign export` every run that `replay --all --verify` still proves.");
            true
        }
        Err(error) => {
            let why = std::error::Error::source(&error)
                .map_or_else(String::new, |source| format!(": {source}"));
            report.add_problem("schema", format!("{error}{why}"), "Restore a backup, name another database with --store, or use the program version that created it.");
            false
        }
    }
}

/// Counts runs by status, and open waits.
fn count_runs(report: &mut DoctorReport, site: &StoreArgs, location: &StoreLocation) {
    let counted = block_on(async {
        let Some(context) = CliContext::find(site)? else { return Ok(None) };
        debug_assert_eq!(context.location().to_string(), location.to_string());
        let (store, tenant) = (context.engine.store(), context.engine.tenant());
        let mut runs = Vec::new();
        for status in ExecutionStatus::ALL {
            let mut filter = RunFilter::newest(tenant.clone(), usize::MAX);
            filter.status = Some(status.as_str().to_owned());
            runs.push((status.as_str(), store.list_runs(&filter).await?.len()));
        }
        let waits = store.list_waits(&WaitFilter::all(tenant.clone(), usize::MAX)).await?;
        let unused = waits.iter().filter_map(|row| describe_unused(&context, row));
        let unused: Vec<String> = unused.take(MAX_UNUSED_DOCUMENTS).collect();
        Ok(Some((runs, waits.len(), unused)))
    });
    match counted {
        Ok(Some((runs, waits, unused))) => {
            let some: Vec<String> = runs
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(status, count)| format!("{count} {status}"))
                .collect();
            let text = if some.is_empty() { "none".to_owned() } else { some.join(", ") };
            let value: serde_json::Map<String, Value> =
                runs.iter().map(|(status, count)| ((*status).to_owned(), json!(count))).collect();
            report.add("runs", text, Value::Object(value));
            let text = match waits {
                0 => "none open".to_owned(),
                _ => format!("{waits} open; `countersign inbox` shows them"),
            };
            report.add("waits", text, waits);
            for document in unused {
                report.add_problem("document", document, "A run takes only its own documents.");
            }
        }
        Ok(None) => {}
        Err(error) => {
            report.add_problem("runs", error.to_string(), "`countersign list` shows more.");
        }
    }
}

/// Maximum number of reported documents that answer no wait.
const MAX_UNUSED_DOCUMENTS: usize = 10;

/// Describes a file that was put in place for an open wait and does not answer it.
fn describe_unused(context: &CliContext, row: &WaitRow) -> Option<String> {
    let wait = serde_json::from_str(&row.body).ok()?;
    let unused = describe_unused_document(context.engine.workspace()?, &row.run.id, &wait)?;
    Some(format!("{}/{}: {unused}", row.run.id, row.id))
}

/// Returns the value of a setting; URLs are shown without credentials.
fn display_setting(setting: &CliSetting) -> String {
    let value = setting.value.clone().unwrap_or_default();
    if setting.name != "store" || !is_address(&value) {
        return redact_credentials(&value).into_owned();
    }
    StoreLocation::parse(&value)
        .map_or_else(|_| "an invalid address".to_owned(), |location| location.to_string())
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}
