//! `countersign key create|list|revoke`: the keys of the server.

use std::path::Path;

use countersign_core::protocol::parse_duration;
use countersign_core::run::Time;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::Home;
use countersign_server::access::{Key as Kept, Keyring, KeyringError, NewKey, Role};
use serde_json::{Value, json};

use crate::args::{Key, KeyCommand};
use crate::elapsed::{moment, until};
use crate::exit::{Error, Exit};
use crate::output;
use crate::show::{BAD, GOOD, HEADING};
use crate::table::table;

pub(super) fn run(args: &Key, json: bool) -> Result<Exit, Error> {
    let now = SystemClock.now();
    match &args.command {
        KeyCommand::Create { tenant, role, user, expires } => {
            let role: Role = role.parse().map_err(usage)?;
            let expires_at = expires.as_deref().map(|text| after(text, now)).transpose()?;
            let (tenant, user) = (tenant.clone(), user.clone());
            create(NewKey { tenant, role, user, expires_at }, now, json)
        }
        KeyCommand::List => list(now, json),
        KeyCommand::Revoke { id } => revoke(id, now, json),
    }
}

fn create(new: NewKey, now: Time, json: bool) -> Result<Exit, Error> {
    let home = Home::find_or_create(Path::new("."))?;
    let (key, secret) = ring(&home).create(new, now).map_err(told)?;
    if json {
        let mut listed = listed(&key, now);
        listed["key"] = secret.reveal().into();
        output::json(&listed);
        return Ok(Exit::Good);
    }
    output::data(&format!("{}\n", secret.reveal()));
    output::talk(&format!(
        "{GOOD}made{GOOD:#} key {HEADING}{}{HEADING:#}: {} of tenant {}, acting as {}{}",
        key.id,
        key.role,
        key.tenant,
        key.user,
        key.expires_at.map_or_else(String::new, |at| format!(", until {}", moment(at))),
    ));
    output::talk(
        "It is shown this once, and only its hash is kept. It is sent as `Authorization: Bearer KEY`.",
    );
    Ok(Exit::Good)
}

fn list(now: Time, json: bool) -> Result<Exit, Error> {
    let keys = match Home::find(Path::new("."))? {
        Some(home) => ring(&home).keys().map_err(told)?.to_vec(),
        None => Vec::new(),
    };
    if json {
        output::json(&keys.iter().map(|key| listed(key, now)).collect());
        return Ok(Exit::Good);
    }
    if keys.is_empty() {
        output::talk(
            "there is no key; `countersign key create --tenant local --role operator` makes one",
        );
        return Ok(Exit::Good);
    }
    let rows: Vec<[String; 6]> = keys.iter().map(|key| row(key, now)).collect();
    output::data(&table(["KEY", "TENANT", "ROLE", "USER", "MADE", "STATE"], &rows));
    Ok(Exit::Good)
}

fn revoke(id: &str, now: Time, json: bool) -> Result<Exit, Error> {
    let home = Home::find(Path::new("."))?;
    let home = home.ok_or_else(|| told(KeyringError::Unknown(id.to_owned())))?;
    let key = ring(&home).revoke(id, now).map_err(told)?;
    if json {
        output::json(&listed(&key, now));
    } else {
        output::talk(&format!("{GOOD}taken back{GOOD:#}: key {id} opens nothing any more"));
    }
    Ok(Exit::Good)
}

fn ring(home: &Home) -> Keyring {
    Keyring::at(home.folder().join("keys.json"))
}

fn row(key: &Kept, now: Time) -> [String; 6] {
    let state = match (key.dead(now), key.expires_at) {
        (Some(why), _) => format!("{BAD}{why}{BAD:#}"),
        (None, Some(at)) => format!("ends {}", until(now, at)),
        (None, None) => "alive".to_owned(),
    };
    let id = format!("{HEADING}{}{HEADING:#}", key.id);
    let (tenant, user) = (key.tenant.clone(), key.user.clone());
    [id, tenant, key.role.to_string(), user, moment(key.created_at), state]
}

/// A key for programs; never its hash.
fn listed(key: &Kept, now: Time) -> Value {
    json!({
        "id": key.id,
        "tenant": key.tenant,
        "role": key.role,
        "user": key.user,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "state": key.dead(now).unwrap_or("alive"),
    })
}

fn after(text: &str, now: Time) -> Result<Time, Error> {
    let length = parse_duration(text).filter(|duration| duration.millis > 0);
    let length = length.ok_or_else(|| {
        Error::Usage(format!("`--expires` must be a time such as `90d` or `12h`, found `{text}`"))
    })?;
    Ok(now.after(length.millis))
}

fn told(error: KeyringError) -> Error {
    match error {
        KeyringError::Io { path, source } => {
            Error::Unreadable { what: path.display().to_string(), source }
        }
        other => usage(other),
    }
}

fn usage(error: impl std::error::Error) -> Error {
    Error::Usage(error.to_string())
}
