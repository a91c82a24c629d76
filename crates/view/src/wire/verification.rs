//! The result of verifying a run, as the API sends it.

use std::time::Instant;

use countersign_contract::patch::Patch;
use countersign_run::VerificationError;
use countersign_runtime::engine::{Engine, EngineError};
use countersign_runtime::integrity::{IntegrityError, verify_stored_run};
use countersign_store::StoreError;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::show::truncate_line;

/// Whether the stored run agrees with its log.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VerificationView {
    /// The id of the run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Whether everything agrees.
    pub verified: bool,
    /// The number of events that were read. Absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// The number of inputs that were decided again. Absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<u64>,
    /// The last hash of the log. Store it elsewhere to detect a replacement of the whole history.
    /// Absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The duration of the verification, in seconds. Absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The number of events verified per second. Absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_per_second: Option<u64>,
    /// The first location that does not agree. Absent if everything agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Verifies everything that the store has of a run.
pub async fn verify_and_report(
    engine: &Engine,
    run: &str,
) -> Result<VerificationView, EngineError> {
    let began = Instant::now();
    let proved = match verify_stored_run(engine, run).await {
        Ok(proved) => proved.map_err(|flaw| describe_flaw(&flaw)),
        // A log that cannot be read, or a protocol that cannot decide again, is a failed
        // verification and not an error of the request.
        Err(
            error @ (EngineError::ProtocolUnavailable { .. }
            | EngineError::Corrupt { .. }
            | EngineError::Store(StoreError::Corrupt { .. })),
        ) => Err(error.to_string()),
        Err(other) => return Err(other),
    };
    let seconds = began.elapsed().as_secs_f64();
    let run = run.to_owned();
    let nothing = VerificationView {
        run,
        verified: false,
        events: None,
        versions: None,
        hash: None,
        seconds: None,
        events_per_second: None,
        failure: None,
    };
    Ok(match proved {
        Ok(proof) => VerificationView {
            verified: true,
            events: Some(proof.events),
            versions: Some(proof.versions),
            hash: Some(proof.hash),
            seconds: Some(seconds),
            events_per_second: Some((proof.events as f64 / seconds.max(1e-6)) as u64),
            ..nothing
        },
        Err(fault) => VerificationView { failure: Some(fault), ..nothing },
    })
}

/// Describes a failure. If a decision differs, shows only the differences instead of two whole
/// events.
fn describe_flaw(flaw: &IntegrityError) -> String {
    let IntegrityError::Log(VerificationError::Differs {
        version,
        seq,
        decided: again,
        recorded: kept,
    }) = flaw
    else {
        return flaw.to_string();
    };
    let Ok(ours) = serde_json::from_str::<Value>(again) else { return flaw.to_string() };
    let Ok(theirs) = serde_json::from_str::<Value>(kept) else {
        let kind = ours["event"].as_str().unwrap_or_default();
        return format!("version {version}: the log ends before event {seq} (`{kind}`)");
    };
    let patch = Patch::diff(&ours, &theirs);
    let pointers = patch.ops.iter().map(|op| {
        let at = op.path().as_str();
        let side = |value: &Value| {
            let found = value.pointer(at).map(Value::to_string);
            found.map_or_else(|| "nothing".to_owned(), |found| truncate_line(&found, 100))
        };
        format!("  {at}: replayed {}, in the log {}", side(&ours), side(&theirs))
    });
    format!(
        "version {version}, event {seq}: replaying the input does not give the event in the log\n{}",
        pointers.collect::<Vec<_>>().join("\n")
    )
}
