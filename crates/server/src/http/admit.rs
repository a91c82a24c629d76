//! One reply against one contract, one version of a contract against another, one protocol by itself: nothing is
//! kept of any of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::extract::State;
use countersign_core::contract::{Contract, Registry, WorkBudget, compare_within, load_upon};
use countersign_core::json::RepairLevel;
use countersign_core::limits::MAX_COMPARISON_STEPS;
use countersign_core::protocol::Bundle;
use countersign_core::reply::{Context, Finish, Intake};
use countersign_core::spec::Source;
use countersign_runtime::folder::{MOST_BYTES, MOST_FILES};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::extract::{At, Body};
use super::protocols::of_files;
use super::{ApiError, App};
use crate::wire::{Admission, Comparison, Findings};

/// A reply, and what it is held against beside the contract.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "{\"verdict\": \"PASS\"}" }))]
pub(crate) struct Replied {
    /// The reply, as the model gave it.
    pub(crate) text: String,
    /// What may stand around the object, instead of the contract's own word.
    pub(crate) intake: Option<IntakeWord>,
    /// Which repairs may be made, instead of the contract's own word.
    pub(crate) repairs: Option<RepairsWord>,
    /// Why the model stopped; one that was cut off (`length`) is never mended.
    pub(crate) finish: Option<FinishWord>,
    /// What rules see as `state`.
    pub(crate) state: Option<Value>,
    /// What rules see as `run`.
    pub(crate) run: Option<Value>,
    /// Whether the text that asks the model again is wanted.
    #[serde(default)]
    pub(crate) reask: bool,
}

/// What may stand around the object.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntakeWord {
    /// One JSON object and white space.
    Strict,
    /// That, or one code fence around it.
    Fenced,
    /// The object is looked for in prose.
    Tolerant,
}

/// Which repairs may be made.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RepairsWord {
    /// None.
    None,
    /// Those that lose nothing.
    Lossless,
    /// Also those of syntax.
    Syntactic,
    /// Also guesses.
    Guess,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinishWord {
    /// It was done.
    Stop,
    /// It was cut off.
    Length,
}

/// Two contracts.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "old": { "id": "guardian_report" }, "new": { "id": "guardian_report" } }))]
pub(crate) struct Two {
    /// The contract before.
    old: Named,
    /// The contract after.
    new: Named,
    /// Past replies to look for a proof among.
    #[serde(default)]
    examples: Vec<Value>,
}

/// A contract by id, or as the text of its file. One of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// An id, or `id@version`.
    id: Option<String>,
    /// A contract file; its schema stands in it.
    text: Option<String>,
}

/// A protocol as files.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "files": { "index.yaml": "name: own\nversion: 1.0.0\ndefault_workflow: own\n" } }))]
pub(crate) struct Files {
    /// Text by path, as in a protocol folder: `index.yaml`, `workflows/…`, `agents/…`.
    pub(crate) files: BTreeMap<String, String>,
}

/// Holds one reply against one contract. A reply that is refused is an answer, not an error.
#[utoipa::path(post, path = "/v1/contracts/{id}/admit", tag = "contracts", request_body = Replied,
    params(("id" = String, Path, description = "An id, or `id@version`.")),
    responses((status = 200, body = Admission)))]
pub(crate) async fn admit(
    State(app): State<App>,
    At(id): At<String>,
    Body(replied): Body<Replied>,
) -> Result<Json<Admission>, ApiError> {
    of_files(&app, move |catalog| {
        let registry = catalog.registry();
        Ok(admitted(registry.find(&id)?, &replied))
    })
    .await
    .map(Json)
}

fn admitted(contract: &Contract, replied: &Replied) -> Admission {
    let Replied { text, intake, repairs, finish, state, run, reask } = replied;
    let finish = match finish {
        None | Some(FinishWord::Stop) => Finish::Stop,
        Some(FinishWord::Length) => Finish::Length,
    };
    let mut terms = contract.terms(finish);
    if let Some(intake) = intake {
        terms.intake = match intake {
            IntakeWord::Strict => Intake::Strict,
            IntakeWord::Fenced => Intake::Fenced,
            IntakeWord::Tolerant => Intake::Tolerant,
        };
        terms.repairs = terms.intake.default_repairs();
    }
    if let Some(repairs) = repairs {
        terms.repairs = match repairs {
            RepairsWord::None => RepairLevel::None,
            RepairsWord::Lossless => RepairLevel::Lossless,
            RepairsWord::Syntactic => RepairLevel::Syntactic,
            RepairsWord::Guess => RepairLevel::Guess,
        };
    }
    let context = Context { state: state.as_ref(), run: run.as_ref(), new: None };
    let verdict = contract.admit_bytes(text.as_bytes(), terms, &context);
    Admission::of(contract, &verdict, &contract.unchecked(&context), *reask)
}

/// Says whether a new version of a contract is compatible, with a value that proves it when it is not.
#[utoipa::path(post, path = "/v1/contracts/diff", tag = "contracts", request_body = Two,
    responses((status = 200, body = Comparison)))]
pub(crate) async fn diff(
    State(app): State<App>,
    Body(Two { old, new, examples }): Body<Two>,
) -> Result<Json<Comparison>, ApiError> {
    let given_up = Arc::new(AtomicBool::new(false));
    // Dropped with the request: the comparison stops when nobody waits for it.
    let _guard = SetOnDrop(Arc::clone(&given_up));
    of_files(&app, move |catalog| {
        let registry = catalog.registry();
        let (old, new) = (found(&registry, "old", old)?, found(&registry, "new", new)?);
        let is_cancelled = || given_up.load(Ordering::Relaxed);
        let budget = WorkBudget::new(MAX_COMPARISON_STEPS, &is_cancelled);
        Ok(Comparison::of(&old, &new, &compare_within(&old, &new, &examples, &budget)))
    })
    .await
    .map(Json)
}

/// Sets a flag when it is dropped.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn found(registry: &Registry, which: &str, named: Named) -> Result<Arc<Contract>, ApiError> {
    match named {
        Named { id: Some(id), text: None } => Ok(Arc::clone(registry.find(&id)?)),
        Named { id: None, text: Some(text) } => {
            let alone =
                |path: &str| Err(format!("`{path}` is another file, and only this text came"));
            let source = Source::new(format!("{which}.yaml"), text);
            Ok(Arc::new(load_upon(source, &alone, registry)?))
        }
        _ => Err(ApiError::wrong("bad_body", format!("`{which}` must have either `id` or `text`"))),
    }
}

/// Looks for faults in a protocol, without keeping anything of it.
#[utoipa::path(post, path = "/v1/protocols/check", tag = "protocols", request_body = Files,
    responses((status = 200, body = Findings)))]
pub(crate) async fn check(
    State(app): State<App>,
    Body(Files { files }): Body<Files>,
) -> Result<Json<Findings>, ApiError> {
    let bytes: usize = files.values().map(String::len).sum();
    if files.len() > MOST_FILES || bytes as u64 > MOST_BYTES {
        let detail = format!("a protocol has at most {MOST_FILES} files and {MOST_BYTES} bytes");
        return Err(ApiError::wrong("too_large", detail));
    }
    of_files(&app, move |catalog| {
        let count = files.len();
        let (_, findings) = catalog.looked_over(Bundle { files });
        Ok(Findings::of(String::new(), count, findings))
    })
    .await
    .map(Json)
}
