//! Maps every error to the response that the client gets: RFC 9457 problem details with a stable
//! code.
//!
//! The detail text never contains secrets or model output; data for programs is in separate
//! members.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_contract::contract::ContractRegistryError;
use countersign_contract::reply::Violation;
use countersign_contract::source::Diagnostic;
use countersign_memory::store::MemoryError;
use countersign_run::InputRejection;
use countersign_runtime::engine::{DocumentAnswerError, EngineError};
use countersign_runtime::memory_context::ContextError;
use countersign_runtime::workspace::WorkspaceError;
use countersign_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{HostError, KeyringError};
use crate::app_state::TenantRuntimeError;
use countersign_view::protocol_catalog::CatalogError;
use countersign_view::wire::DiagnosticView;

/// The media type of problem details.
pub(super) const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

/// An error response (RFC 9457 problem details).
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProblemDetails {
    /// A URN that identifies the kind of problem: `urn:countersign:problem:` followed by the code.
    #[schema(example = "urn:countersign:problem:unknown_run")]
    pub r#type: String,
    /// The reason phrase of the status.
    #[schema(example = "Not Found")]
    pub title: String,
    /// The HTTP status code of the response.
    #[schema(example = 404)]
    pub status: u16,
    /// What happened, in one sentence.
    #[schema(example = "no run `k7mw2p`")]
    pub detail: String,
    /// A stable code for programs.
    #[schema(example = "unknown_run")]
    pub code: String,
    /// Everything that is wrong with a submitted value. Absent if there are no violations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub violations: Vec<Violation>,
    /// Every error in submitted files, or in the protocol files of the server. Absent if there are
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticView>,
    /// The current version of the run, if the request expected another one. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// An error of the API, with its problem details and headers.
#[derive(Debug, Clone)]
pub struct ApiError {
    problem: Box<ProblemDetails>,
    retry_after: Option<u64>,
    allow: Option<String>,
}

impl ApiError {
    /// Creates an error with a status, a stable code and a sentence.
    #[must_use]
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let problem = ProblemDetails {
            r#type: format!("urn:countersign:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            violations: Vec::new(),
            diagnostics: Vec::new(),
            version: None,
        };
        Self { problem: Box::new(problem), retry_after: None, allow: None }
    }

    /// Status 400: the request is malformed.
    #[must_use]
    pub fn bad_request(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// Status 404: the requested resource does not exist.
    #[must_use]
    pub fn not_found(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// Status 403: the caller may not do this.
    #[must_use]
    pub fn forbidden(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, detail)
    }

    /// Status 422: the request is well-formed, but it cannot be carried out.
    #[must_use]
    pub fn unprocessable(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    /// Status 503: a dependency is temporarily unavailable. Asks the client to retry after one
    /// second.
    #[must_use]
    pub fn unavailable(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).with_retry_after(1)
    }

    /// Status 500: the server failed.
    #[must_use]
    pub fn internal(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code, detail)
    }

    /// Sets the `Retry-After` header, in seconds.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Sets the `Allow` header to the methods that the path supports.
    #[must_use]
    pub fn with_allow(mut self, methods: String) -> Self {
        self.allow = Some(methods);
        self
    }

    /// The problem details that are sent.
    #[must_use]
    pub fn problem(&self) -> &ProblemDetails {
        &self.problem
    }

    fn with_diagnostics(mut self, faults: &[Diagnostic]) -> Self {
        self.problem.diagnostics = faults.iter().map(DiagnosticView::from).collect();
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.problem.status)
            .expect("the status comes from a valid `StatusCode`");
        let body = serde_json::to_vec(&self.problem).expect("problem details serialize to JSON");
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_MEDIA_TYPE));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(allow) = self.allow.and_then(|methods| methods.parse().ok()) {
            headers.insert(header::ALLOW, allow);
        }
        response
    }
}

impl From<InputRejection> for ApiError {
    fn from(rejection: InputRejection) -> Self {
        let status = match &rejection {
            InputRejection::NotAssignee { .. }
            | InputRejection::NotDistinct { .. }
            | InputRejection::NotVerified { .. } => StatusCode::FORBIDDEN,
            InputRejection::UnknownWait { .. } => StatusCode::NOT_FOUND,
            InputRejection::WrongKind { .. }
            | InputRejection::SubjectRequired { .. }
            | InputRejection::NoteRequired { .. }
            | InputRejection::AnswerMismatch { .. }
            | InputRejection::TooDeep { .. }
            | InputRejection::TooLarge { .. }
            | InputRejection::CannotStart { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        };
        let mut api_error = Self::new(status, rejection.code(), rejection.to_string());
        api_error.problem.violations = rejection.violations().to_vec();
        api_error
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let detail = error.to_string();
        match error {
            EngineError::Rejected(rejection) => rejection.into(),
            EngineError::RunNotFound { version: None, .. } => {
                Self::not_found("unknown_run", detail)
            }
            EngineError::RunNotFound { .. } => Self::not_found("unknown_version", detail),
            EngineError::Store(error) => error.into(),
            EngineError::InvalidProtocol(faults) => {
                Self::unprocessable("invalid_protocol", detail).with_diagnostics(&faults)
            }
            EngineError::VersionMismatch { found, .. } => {
                let mut api_error =
                    Self::new(StatusCode::PRECONDITION_FAILED, "version_mismatch", detail);
                api_error.problem.version = Some(found);
                api_error
            }
            EngineError::CredentialsInAddress => Self::unprocessable("credentials", detail),
            EngineError::ModelUnavailable { .. } => Self::unprocessable("no_model", detail),
            EngineError::KeyReused { .. } => Self::unprocessable("key_reused", detail),
            EngineError::Contended { .. } => Self::unavailable("contended", detail),
            EngineError::Corrupt { .. } => Self::internal("damaged", detail),
            EngineError::RunPruned { .. } => Self::new(StatusCode::GONE, "pruned", detail),
            EngineError::ProtocolUnavailable { .. } => Self::internal("protocol_unusable", detail),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        match error {
            StoreError::NotFound { run } => {
                Self::not_found("unknown_run", format!("no run `{}`", run.id))
            }
            StoreError::Conflict { .. } | StoreError::Fenced { .. } => {
                Self::new(StatusCode::CONFLICT, "conflict", detail)
            }
            StoreError::DuplicateKey { .. } => {
                Self::new(StatusCode::CONFLICT, "key_reused", detail)
            }
            StoreError::Malformed { .. } => Self::unprocessable("malformed", detail),
            StoreError::Corrupt { .. } => Self::internal("damaged", detail),
            StoreError::FileReplaced { .. } => Self::unavailable("store_replaced", detail),
            StoreError::LowDiskSpace { .. } => Self::unavailable("low_space", detail),
            StoreError::DiskFull => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "store_full", detail)
            }
            _ => Self::unavailable("store_unavailable", detail),
        }
    }
}

impl From<CatalogError> for ApiError {
    fn from(error: CatalogError) -> Self {
        let detail = error.to_string();
        match error {
            CatalogError::UnknownProtocol { .. } => Self::not_found("unknown_protocol", detail),
            CatalogError::NoProtocolFolder => Self::unprocessable("no_protocol", detail),
            CatalogError::UnknownAgent(_) => Self::not_found("unknown_agent", detail),
            CatalogError::UnknownSkill(_) => Self::not_found("unknown_skill", detail),
            CatalogError::NoWorkflow(_) => Self::not_found("unknown_workflow", detail),
            CatalogError::InvalidFiles(faults) => {
                Self::unprocessable("invalid_protocol", detail).with_diagnostics(&faults)
            }
            CatalogError::NoModel { .. } => Self::unprocessable(
                "no_model",
                format!("{detail}; set `model`, for example to `openai:NAME` or `human`"),
            ),
            CatalogError::Folder(_) | CatalogError::WriteData { .. } => {
                Self::internal("folder", detail)
            }
        }
    }
}

impl From<ContractRegistryError> for ApiError {
    fn from(error: ContractRegistryError) -> Self {
        match error {
            ContractRegistryError::Unknown { .. } => {
                Self::not_found("unknown_contract", error.to_string())
            }
            ContractRegistryError::VersionConflict { .. } => {
                Self::unprocessable("duplicate_id", error.to_string())
            }
        }
    }
}

impl From<MemoryError> for ApiError {
    fn from(error: MemoryError) -> Self {
        let detail = error.to_string();
        match error {
            MemoryError::Store(error) => error.into(),
            MemoryError::Conflict { .. } => Self::new(StatusCode::CONFLICT, "conflict", detail),
            MemoryError::Scope(_) => Self::unprocessable("scope", detail),
            MemoryError::NotFound { .. } => Self::not_found("not_found", detail),
            MemoryError::RowGone { .. } => Self::new(StatusCode::GONE, "gone", detail),
            _ => Self::unprocessable("refused", detail),
        }
    }
}

impl From<ContextError> for ApiError {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::Memory(error) => error.into(),
            ContextError::Compose(error) => Self::unprocessable("not_composed", error.to_string()),
            ContextError::Render(error) => Self::unprocessable("not_composed", error.to_string()),
        }
    }
}

impl From<TenantRuntimeError> for ApiError {
    fn from(error: TenantRuntimeError) -> Self {
        Self::internal("folder", error.to_string())
    }
}

impl From<DocumentAnswerError> for ApiError {
    fn from(error: DocumentAnswerError) -> Self {
        let detail = error.to_string();
        match error {
            DocumentAnswerError::Engine(error) => error.into(),
            DocumentAnswerError::Workspace(error) => error.into(),
            _ => Self::bad_request("bad_query", detail),
        }
    }
}

impl From<WorkspaceError> for ApiError {
    fn from(error: WorkspaceError) -> Self {
        Self::unprocessable("file", error.to_string())
    }
}

impl From<KeyringError> for ApiError {
    fn from(_: KeyringError) -> Self {
        Self::internal("keys", "the key file cannot be read; see the server log for the reason")
    }
}

impl From<HostError> for ApiError {
    fn from(fault: HostError) -> Self {
        let code = match fault {
            HostError::Host { .. } => "foreign_host",
            HostError::Origin { .. } => "foreign_origin",
        };
        Self::new(StatusCode::FORBIDDEN, code, fault.to_string())
    }
}

impl From<Vec<Diagnostic>> for ApiError {
    fn from(faults: Vec<Diagnostic>) -> Self {
        let found = if faults.len() == 1 {
            "1 error".to_owned()
        } else {
            format!("{} errors", faults.len())
        };
        Self::unprocessable("invalid_protocol", format!("{found} in the files"))
            .with_diagnostics(&faults)
    }
}
