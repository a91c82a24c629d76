//! The proof of a run as it is sent: what held, or where it does not.

use std::time::Instant;

use countersign_core::patch::Patch;
use countersign_core::run::VerificationError;
use countersign_runtime::engine::{Engine, EngineError};
use countersign_runtime::integrity::{IntegrityError, verify_stored_run};
use countersign_store::StoreError;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::show::truncate_line;

/// Whether a run is what its log says.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VerificationView {
    /// The run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Whether everything agrees.
    pub good: bool,
    /// How many events were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// How many inputs were decided again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<u64>,
    /// The last hash: keep it elsewhere, and nobody can exchange the whole history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How fast that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_per_second: Option<u64>,
    /// The first place that does not agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Proves all that is kept of a run.
pub async fn verify_and_report(
    engine: &Engine,
    run: &str,
) -> Result<VerificationView, EngineError> {
    let began = Instant::now();
    let proved = match verify_stored_run(engine, run).await {
        Ok(proved) => proved.map_err(|flaw| describe_flaw(&flaw)),
        // A log that cannot be read, or a protocol that cannot decide again: that is an answer too.
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
        good: false,
        events: None,
        versions: None,
        hash: None,
        seconds: None,
        events_per_second: None,
        fault: None,
    };
    Ok(match proved {
        Ok(proof) => VerificationView {
            good: true,
            events: Some(proof.events),
            versions: Some(proof.versions),
            hash: Some(proof.hash),
            seconds: Some(seconds),
            events_per_second: Some((proof.events as f64 / seconds.max(1e-6)) as u64),
            ..nothing
        },
        Err(fault) => VerificationView { fault: Some(fault), ..nothing },
    })
}

/// A fault in words. Where a decision comes out otherwise, only what differs is shown, not two whole events.
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
    let places = patch.ops.iter().map(|op| {
        let at = op.path().as_str();
        let side = |value: &Value| {
            let found = value.pointer(at).map(Value::to_string);
            found.map_or_else(|| "nothing".to_owned(), |found| truncate_line(&found, 100))
        };
        format!("  {at}: decided again {}, in the log {}", side(&ours), side(&theirs))
    });
    format!(
        "version {version}, event {seq}: deciding again does not give what the log has\n{}",
        places.collect::<Vec<_>>().join("\n")
    )
}
