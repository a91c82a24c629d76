//! The checks of `countersign doctor` for a `PostgreSQL` server.

use countersign_postgres::PgServer;
use countersign_runtime::folder::EngineHome;
use countersign_store::{PostgresHealth, StoreError};
use serde_json::json;

use super::doctor_report::DoctorReport;
use crate::context::block_on;

/// Checks a server; returns `false` if its data cannot be read.
pub(super) fn check_server(
    report: &mut DoctorReport,
    server: &PgServer,
    home: Option<&EngineHome>,
) -> bool {
    report.add("database", server.to_string(), server.to_string());
    let health = match block_on(async { Ok(PostgresHealth::probe(server).await?) }) {
        Ok(health) => health,
        Err(crate::exit::CliError::Store(error)) => {
            report.add_problem(
                "server",
                format_store_error(&error),
                "docs/reference/postgres.md explains each error and what to do.",
            );
            return false;
        }
        Err(error) => {
            report.add_problem("server", error.to_string(), "Try again.");
            return false;
        }
    };
    let millis = health.latency.as_secs_f64() * 1000.0;
    let encrypted = if server.is_encrypted() { "encrypted" } else { "not encrypted" };
    let line = format!("PostgreSQL {}, {encrypted}, answers in {millis:.1} ms", health.version);
    let value = json!({ "version": health.version, "encrypted": server.is_encrypted(), "latency_ms": millis });
    report.add_passed("server", line, value);
    check_schema_version(report, &health);
    let wall = if health.row_security {
        "row-level security separates tenants"
    } else {
        "it is a superuser or bypasses row-level security: only the queries separate tenants"
    };
    let value = json!({ "name": health.role, "row_security": health.row_security });
    report.add("role", format!("{}; {wall}", health.role), value);
    if health.standby {
        report.add_problem(
            "writes",
            "the server is a standby and cannot write",
            "Name the primary, or several hosts with `target_session_attrs=read-write`.",
        );
    } else if health.durable {
        report.add_passed("writes", "acknowledged writes are on disk", true);
    } else {
        report.add_problem(
            "writes",
            "the server acknowledges writes before they are on disk",
            "Set `fsync` and `synchronous_commit` to `on` for this database.",
        );
    }
    let mut text = "stored in the same database".to_owned();
    let local = home.map(EngineHome::memory_path).filter(|file| file.is_file());
    let local = local.map(|file| file.display().to_string());
    if let Some(file) = &local {
        text.push_str(&format!(
            "; `{file}` is not used: move its content with `memory export --store` and `memory import`"
        ));
    }
    report.add("memory", text, json!({ "location": "server", "unused_local_file": local }));
    true
}

fn check_schema_version(report: &mut DoctorReport, health: &PostgresHealth) {
    let (found, known) = (health.schema, health.known_schema);
    let value = json!({ "number": found, "supported": known });
    match found {
        0 => report.add("schema", "none yet; the first run creates it", value),
        _ if found == known => report.add_passed("schema", found.to_string(), value),
        _ if found < known => {
            report.add(
                "schema",
                format!("{found}; the next command upgrades it to {known}"),
                value,
            );
        }
        _ => {
            let text =
                format!("{found}, from a newer version of the program; this one supports {known}");
            report.add("schema", text, value);
        }
    }
}

fn format_store_error(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
