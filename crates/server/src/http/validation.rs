//! Stateless checks: a reply against a contract, two versions of a contract, and a protocol.
//! Nothing is stored.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::extract::State;
use countersign_contract::contract::{Contract, ContractRegistry, load_contract_with_base};
use countersign_contract::json::RepairLevel;
use countersign_contract::limits::MAX_COMPARISON_STEPS;
use countersign_contract::reply::{FinishReason, IntakeMode, RuleContext};
use countersign_contract::source::SourceFile;
use countersign_protocol::ProtocolBundle;
use countersign_runtime::folder::{MAX_PROTOCOL_BYTES, MAX_PROTOCOL_FILES};
use countersign_schema_tools::{WorkBudget, compare_within};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::extract::{ApiJson, ApiPath};
use super::protocols::with_catalog;
use super::{ApiError, HttpState};
use countersign_view::wire::{AdmissionView, CheckReport, ContractDiffView};

/// A reply to check against a contract.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "{\"verdict\": \"PASS\"}" }))]
pub(crate) struct AdmitRequest {
    /// The reply, as the model wrote it.
    pub(crate) text: String,
    /// The intake mode, instead of the contract's.
    pub(crate) intake: Option<IntakeParam>,
    /// The repair level, instead of the contract's.
    pub(crate) repairs: Option<RepairsParam>,
    /// Why the model stopped. A reply that was cut off (`length`) is never repaired.
    pub(crate) finish: Option<FinishParam>,
    /// The value of `state` in rules.
    pub(crate) state: Option<Value>,
    /// The value of `run` in rules.
    pub(crate) run: Option<Value>,
    /// Whether to return the text that asks the model to retry. Default: false.
    #[serde(default)]
    pub(crate) reask: bool,
}

/// What may surround the JSON object in a reply.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntakeParam {
    /// Only white space.
    Strict,
    /// White space, or one code fence.
    Fenced,
    /// Any prose; the object is searched in it.
    Tolerant,
}

/// The repairs that are allowed.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RepairsParam {
    /// No repairs are made.
    None,
    /// Only repairs that lose nothing.
    Lossless,
    /// Lossless repairs and repairs of syntax.
    Syntactic,
    /// All repairs, including those that guess.
    Guess,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinishParam {
    /// The model completed its reply.
    Stop,
    /// The reply was cut off.
    Length,
}

/// Two contracts to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "old": { "id": "guardian_report" }, "new": { "id": "guardian_report" } }))]
pub(crate) struct ContractDiffRequest {
    /// The old contract.
    old: ContractSelector,
    /// The new contract.
    new: ContractSelector,
    /// Past replies that are tried as counterexamples.
    #[serde(default)]
    examples: Vec<Value>,
}

/// A contract, either by id or as file text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContractSelector {
    /// The id of a contract, or `id@version`.
    id: Option<String>,
    /// The text of a contract file that contains its schema.
    text: Option<String>,
}

/// A protocol as a set of files.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "files": { "index.yaml": "name: own\nversion: 1.0.0\ndefault_workflow: own\n" } }))]
pub(crate) struct CheckProtocolRequest {
    /// File texts by path, as in a protocol folder: `index.yaml`, `workflows/…`, `agents/…`.
    pub(crate) files: BTreeMap<String, String>,
}

/// Check a reply against a contract.
///
/// A refused reply is a normal response with violations, not an error.
#[utoipa::path(post, path = "/v1/contracts/{id}/admit", tag = "contracts", request_body = AdmitRequest,
    params(("id" = String, Path, description = "An id, or `id@version`.")),
    responses((status = 200, body = AdmissionView)))]
pub(crate) async fn admit_reply(
    State(app): State<HttpState>,
    ApiPath(id): ApiPath<String>,
    ApiJson(replied): ApiJson<AdmitRequest>,
) -> Result<Json<AdmissionView>, ApiError> {
    with_catalog(&app, move |catalog| {
        let registry = catalog.load_registry();
        Ok(evaluate_reply(registry.find(&id)?, &replied))
    })
    .await
    .map(Json)
}

fn evaluate_reply(contract: &Contract, replied: &AdmitRequest) -> AdmissionView {
    let AdmitRequest { text, intake, repairs, finish, state, run, reask } = replied;
    let finish = match finish {
        None | Some(FinishParam::Stop) => FinishReason::Stop,
        Some(FinishParam::Length) => FinishReason::Length,
    };
    let mut terms = contract.admission_options(finish);
    if let Some(intake) = intake {
        terms.intake = match intake {
            IntakeParam::Strict => IntakeMode::Strict,
            IntakeParam::Fenced => IntakeMode::Fenced,
            IntakeParam::Tolerant => IntakeMode::Tolerant,
        };
        terms.repairs = terms.intake.default_repairs();
    }
    if let Some(repairs) = repairs {
        terms.repairs = match repairs {
            RepairsParam::None => RepairLevel::None,
            RepairsParam::Lossless => RepairLevel::Lossless,
            RepairsParam::Syntactic => RepairLevel::Syntactic,
            RepairsParam::Guess => RepairLevel::Guess,
        };
    }
    let context = RuleContext { state: state.as_ref(), run: run.as_ref(), new: None };
    let verdict = contract.admit_bytes(text.as_bytes(), terms, &context);
    AdmissionView::from_verdict(
        contract,
        &verdict,
        &contract.list_unchecked_rules(&context),
        *reask,
    )
}

/// Compare two versions of a contract.
///
/// Reports whether the new version is compatible, with a counterexample if it is not.
#[utoipa::path(post, path = "/v1/contracts/diff", tag = "contracts", request_body = ContractDiffRequest,
    responses((status = 200, body = ContractDiffView)))]
pub(crate) async fn diff_contracts(
    State(app): State<HttpState>,
    ApiJson(ContractDiffRequest { old, new, examples }): ApiJson<ContractDiffRequest>,
) -> Result<Json<ContractDiffView>, ApiError> {
    let given_up = Arc::new(AtomicBool::new(false));
    // Dropped together with the request, so that the comparison stops when the client disconnects.
    let _guard = SetOnDrop(Arc::clone(&given_up));
    with_catalog(&app, move |catalog| {
        let registry = catalog.load_registry();
        let (old, new) = (
            load_selected_contract(&registry, "old", old)?,
            load_selected_contract(&registry, "new", new)?,
        );
        let is_cancelled = || given_up.load(Ordering::Relaxed);
        let budget = WorkBudget::new(MAX_COMPARISON_STEPS, &is_cancelled);
        Ok(ContractDiffView::from_comparison(
            &old,
            &new,
            &compare_within(&old, &new, &examples, &budget),
        ))
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

fn load_selected_contract(
    registry: &ContractRegistry,
    which: &str,
    named: ContractSelector,
) -> Result<Arc<Contract>, ApiError> {
    match named {
        ContractSelector { id: Some(id), text: None } => Ok(Arc::clone(registry.find(&id)?)),
        ContractSelector { id: None, text: Some(text) } => {
            let alone = |path: &str| {
                Err(format!("`{path}` is another file, but the request contains only this text"))
            };
            let source = SourceFile::new(format!("{which}.yaml"), text);
            Ok(Arc::new(load_contract_with_base(source, &alone, registry)?))
        }
        _ => Err(ApiError::unprocessable(
            "bad_body",
            format!("`{which}` must have either `id` or `text`"),
        )),
    }
}

/// Check a protocol without storing it.
#[utoipa::path(post, path = "/v1/protocols/check", tag = "protocols", request_body = CheckProtocolRequest,
    responses((status = 200, body = CheckReport)))]
pub(crate) async fn check_protocol_files(
    State(app): State<HttpState>,
    ApiJson(CheckProtocolRequest { files }): ApiJson<CheckProtocolRequest>,
) -> Result<Json<CheckReport>, ApiError> {
    let bytes: usize = files.values().map(String::len).sum();
    if files.len() > MAX_PROTOCOL_FILES || bytes as u64 > MAX_PROTOCOL_BYTES {
        let detail = format!(
            "a protocol can have at most {MAX_PROTOCOL_FILES} files and {MAX_PROTOCOL_BYTES} bytes"
        );
        return Err(ApiError::unprocessable("too_large", detail));
    }
    with_catalog(&app, move |catalog| {
        let count = files.len();
        let (_, findings) = catalog.check_bundle(ProtocolBundle { files });
        Ok(CheckReport::from_diagnostics(String::new(), count, findings))
    })
    .await
    .map(Json)
}
