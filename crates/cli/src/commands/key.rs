//! `countersign key create|list|revoke`: manages the API keys of the server.

use std::path::Path;

use countersign_protocol::parse_duration;
use countersign_run::Timestamp;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::EngineHome;
use countersign_server::access::{AccessRole, ApiKey, Keyring, KeyringError, NewApiKey};
use serde_json::{Value, json};

use crate::args::{KeyArgs, KeyCommand};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};
use crate::table::render_table;
use crate::time_format::{format_timestamp, format_until};

pub(super) fn run(args: &KeyArgs, json: bool) -> Result<CliExit, CliError> {
    let now = SystemClock.now();
    match &args.command {
        KeyCommand::Create { tenant, role, user, groups, expires } => {
            let role: AccessRole = role.parse().map_err(usage_error)?;
            let expires_at = expires.as_deref().map(|text| parse_expiry(text, now)).transpose()?;
            let (tenant, user, groups) = (tenant.clone(), user.clone(), groups.clone());
            create_key(NewApiKey { tenant, role, user, groups, expires_at }, now, json)
        }
        KeyCommand::List => list_keys(now, json),
        KeyCommand::Revoke { id } => revoke_key(id, now, json),
    }
}

fn create_key(new: NewApiKey, now: Timestamp, json: bool) -> Result<CliExit, CliError> {
    let home = EngineHome::find_or_create(Path::new("."))?;
    let (key, secret) = open_keyring(&home).create(new, now).map_err(to_cli_error)?;
    if json {
        let mut listed = key_to_json(&key, now);
        listed["key"] = secret.reveal().into();
        output::print_json(&listed);
        return Ok(CliExit::Success);
    }
    output::print_data(&format!("{}\n", secret.reveal()));
    output::print_message(&format!(
        "{GOOD}created{GOOD:#} key {HEADING}{}{HEADING:#}: {} of tenant {}, acting as {}{}",
        key.id,
        key.role,
        key.tenant,
        key.user,
        key.expires_at.map_or_else(String::new, |at| format!(", expires {}", format_timestamp(at))),
    ));
    output::print_message(
        "The key is shown only once; only its hash is stored. Send it as `Authorization: Bearer KEY`.",
    );
    Ok(CliExit::Success)
}

fn list_keys(now: Timestamp, json: bool) -> Result<CliExit, CliError> {
    let keys = match EngineHome::find(Path::new("."))? {
        Some(home) => open_keyring(&home).load_keys().map_err(to_cli_error)?.to_vec(),
        None => Vec::new(),
    };
    if json {
        output::print_json(&keys.iter().map(|key| key_to_json(key, now)).collect());
        return Ok(CliExit::Success);
    }
    if keys.is_empty() {
        output::print_message(
            "there are no keys; create one with `countersign key create --tenant default --role operator`",
        );
        return Ok(CliExit::Success);
    }
    let rows: Vec<[String; 6]> = keys.iter().map(|key| format_row(key, now)).collect();
    output::print_data(&render_table(["KEY", "TENANT", "ROLE", "USER", "CREATED", "STATE"], &rows));
    Ok(CliExit::Success)
}

fn revoke_key(id: &str, now: Timestamp, json: bool) -> Result<CliExit, CliError> {
    let home = EngineHome::find(Path::new("."))?;
    let home = home.ok_or_else(|| to_cli_error(KeyringError::UnknownKey(id.to_owned())))?;
    let key = open_keyring(&home).revoke(id, now).map_err(to_cli_error)?;
    if json {
        output::print_json(&key_to_json(&key, now));
    } else {
        output::print_message(&format!("{GOOD}revoked{GOOD:#}: key {id} no longer gives access"));
    }
    Ok(CliExit::Success)
}

fn open_keyring(home: &EngineHome) -> Keyring {
    Keyring::open(home.folder().join("keys.json"))
}

fn format_row(key: &ApiKey, now: Timestamp) -> [String; 6] {
    let state = match (key.inactive_reason(now), key.expires_at) {
        (Some(why), _) => format!("{BAD}{why}{BAD:#}"),
        (None, Some(at)) => format!("expires {}", format_until(now, at)),
        (None, None) => "active".to_owned(),
    };
    let id = format!("{HEADING}{}{HEADING:#}", key.id);
    let (tenant, user) = (key.tenant.clone(), key.user.clone());
    [id, tenant, key.role.to_string(), user, format_timestamp(key.created_at), state]
}

/// Returns a key as JSON, without its hash.
fn key_to_json(key: &ApiKey, now: Timestamp) -> Value {
    json!({
        "id": key.id,
        "tenant": key.tenant,
        "role": key.role,
        "user": key.user,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "state": key.inactive_reason(now).unwrap_or("active"),
    })
}

fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    let length = parse_duration(text).filter(|duration| duration.millis > 0);
    let length = length.ok_or_else(|| {
        CliError::Usage(format!(
            "`--expires` must be a duration such as `90d` or `12h`, found `{text}`"
        ))
    })?;
    Ok(now.plus_millis(length.millis))
}

fn to_cli_error(error: KeyringError) -> CliError {
    match error {
        KeyringError::Io { path, source } => {
            CliError::Unreadable { what: path.display().to_string(), source }
        }
        other => usage_error(other),
    }
}

fn usage_error(error: impl std::error::Error) -> CliError {
    CliError::Usage(error.to_string())
}
