//! The one map from what went wrong to what a client is told: RFC 9457, with a stable code.
//!
//! The words of an error never hold secrets or model text; what a program must know stands in members of its
//! own.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::contract::RegistryError;
use countersign_core::reply::Violation;
use countersign_core::run::Rejection;
use countersign_core::spec::Diagnostic;
use countersign_memory::store::MemoryError;
use countersign_runtime::engine::EngineError;
use countersign_runtime::remember::PacketError;
use countersign_runtime::workspace::WorkspaceError;
use countersign_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{HostFault, KeyringError};
use crate::catalog::CatalogError;
use crate::house::HouseError;
use crate::wire::Finding;

/// The media type of a problem.
pub(super) const PROBLEM: &str = "application/problem+json";

/// What went wrong, as it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Problem {
    /// `urn:countersign:problem:` and the code.
    #[schema(example = "urn:countersign:problem:unknown_run")]
    pub r#type: String,
    /// What kind of problem, in a few words.
    #[schema(example = "Not Found")]
    pub title: String,
    /// The status of the response.
    #[schema(example = 404)]
    pub status: u16,
    /// What happened, in a sentence.
    #[schema(example = "no run `k7mw2p`")]
    pub detail: String,
    /// A stable word for programs.
    #[schema(example = "unknown_run")]
    pub code: String,
    /// Everything wrong with a value that was handed in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub violations: Vec<Violation>,
    /// Every fault in files that were handed in, or that the house has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The version that the run is at, where another was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// What went wrong.
#[derive(Debug, Clone)]
pub struct ApiError {
    problem: Box<Problem>,
    retry_after: Option<u64>,
    allow: Option<String>,
}

impl ApiError {
    /// A problem with a status, a code and a sentence.
    #[must_use]
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let problem = Problem {
            r#type: format!("urn:countersign:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            violations: Vec::new(),
            findings: Vec::new(),
            version: None,
        };
        Self { problem: Box::new(problem), retry_after: None, allow: None }
    }

    /// Something in the request cannot be read.
    #[must_use]
    pub fn bad(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// There is no such thing.
    #[must_use]
    pub fn missing(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// It is not for this caller.
    #[must_use]
    pub fn forbidden(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, detail)
    }

    /// The request can be read, and what it says cannot be done.
    #[must_use]
    pub fn wrong(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    /// Something outside does not do its part now.
    #[must_use]
    pub fn away(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).again_in(1)
    }

    /// The fault is ours.
    #[must_use]
    pub fn ours(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code, detail)
    }

    /// The same, with the seconds after which another try may help.
    #[must_use]
    pub fn again_in(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same, with the methods that there are.
    #[must_use]
    pub fn allowing(mut self, methods: String) -> Self {
        self.allow = Some(methods);
        self
    }

    /// What is sent.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    fn with_findings(mut self, faults: &[Diagnostic]) -> Self {
        self.problem.findings = faults.iter().map(Finding::from).collect();
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.problem.status)
            .expect("it was made of a status a few lines above");
        let body = serde_json::to_vec(&self.problem).expect("a problem is JSON");
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
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

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let status = match &rejection {
            Rejection::NotYours { .. } => StatusCode::FORBIDDEN,
            Rejection::UnknownWait { .. } => StatusCode::NOT_FOUND,
            Rejection::WrongKind { .. }
            | Rejection::WrongShape { .. }
            | Rejection::TooDeep { .. }
            | Rejection::TooLarge { .. }
            | Rejection::CannotStart { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        };
        let mut told = Self::new(status, rejection.code(), rejection.to_string());
        told.problem.violations = rejection.violations().to_vec();
        told
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let detail = error.to_string();
        match error {
            EngineError::Rejected(rejection) => rejection.into(),
            EngineError::NoRun { version: None, .. } => Self::missing("unknown_run", detail),
            EngineError::NoRun { .. } => Self::missing("unknown_version", detail),
            EngineError::Store(error) => error.into(),
            EngineError::Faults(faults) => Self::wrong("faults", detail).with_findings(&faults),
            EngineError::Moved { found, .. } => {
                let mut told = Self::new(StatusCode::PRECONDITION_FAILED, "version_moved", detail);
                told.problem.version = Some(found);
                told
            }
            EngineError::Credentials => Self::wrong("credentials", detail),
            EngineError::OtherInput { .. } => Self::wrong("key_reused", detail),
            EngineError::Contended { .. } => Self::away("contended", detail),
            EngineError::Corrupt { .. } => Self::ours("damaged", detail),
            EngineError::Pruned { .. } => Self::new(StatusCode::GONE, "pruned", detail),
            EngineError::Protocol { .. } => Self::ours("protocol_unusable", detail),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        match error {
            StoreError::NotFound { run } => {
                Self::missing("unknown_run", format!("no run `{}`", run.id))
            }
            StoreError::Conflict { .. } | StoreError::Fenced { .. } => {
                Self::new(StatusCode::CONFLICT, "conflict", detail)
            }
            StoreError::DuplicateKey { .. } => {
                Self::new(StatusCode::CONFLICT, "key_reused", detail)
            }
            StoreError::Malformed { .. } => Self::wrong("malformed", detail),
            StoreError::Corrupt { .. } => Self::ours("damaged", detail),
            StoreError::Replaced { .. } => Self::away("store_replaced", detail),
            StoreError::LowSpace { .. } => Self::away("low_space", detail),
            StoreError::Full => Self::new(StatusCode::INSUFFICIENT_STORAGE, "store_full", detail),
            _ => Self::away("store_unavailable", detail),
        }
    }
}

impl From<CatalogError> for ApiError {
    fn from(error: CatalogError) -> Self {
        let detail = error.to_string();
        match error {
            CatalogError::Unknown { .. } => Self::missing("unknown_protocol", detail),
            CatalogError::NoFolder => Self::wrong("no_protocol", detail),
            CatalogError::NoWorkflow(_) => Self::missing("unknown_workflow", detail),
            CatalogError::Faults(faults) => Self::wrong("faults", detail).with_findings(&faults),
            CatalogError::NoModel { .. } => Self::wrong(
                "no_model",
                format!("{detail}; name one as `model`, such as `openai:NAME` or `human`"),
            ),
            CatalogError::Folder(_) | CatalogError::Unwritable { .. } => {
                Self::ours("folder", detail)
            }
        }
    }
}

impl From<RegistryError> for ApiError {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Unknown { .. } => Self::missing("unknown_contract", error.to_string()),
            RegistryError::Taken { .. } => Self::wrong("duplicate_id", error.to_string()),
        }
    }
}

impl From<MemoryError> for ApiError {
    fn from(error: MemoryError) -> Self {
        let detail = error.to_string();
        match error {
            MemoryError::Store(error) => error.into(),
            MemoryError::Conflict { .. } => Self::new(StatusCode::CONFLICT, "conflict", detail),
            MemoryError::Scope(_) => Self::wrong("scope", detail),
            MemoryError::NotFound { .. } => Self::missing("nothing_there", detail),
            MemoryError::Gone { .. } => Self::new(StatusCode::GONE, "gone", detail),
            _ => Self::wrong("refused", detail),
        }
    }
}

impl From<PacketError> for ApiError {
    fn from(error: PacketError) -> Self {
        match error {
            PacketError::Memory(error) => error.into(),
            PacketError::Compose(error) => Self::wrong("not_composed", error.to_string()),
            PacketError::Render(error) => Self::wrong("not_composed", error.to_string()),
        }
    }
}

impl From<HouseError> for ApiError {
    fn from(error: HouseError) -> Self {
        Self::ours("folder", error.to_string())
    }
}

impl From<WorkspaceError> for ApiError {
    fn from(error: WorkspaceError) -> Self {
        Self::wrong("file", error.to_string())
    }
}

impl From<KeyringError> for ApiError {
    fn from(_: KeyringError) -> Self {
        Self::ours("keys", "the file of keys cannot be read; the server's log says why")
    }
}

impl From<HostFault> for ApiError {
    fn from(fault: HostFault) -> Self {
        let code = match fault {
            HostFault::Host { .. } => "foreign_host",
            HostFault::Origin { .. } => "foreign_origin",
        };
        Self::new(StatusCode::FORBIDDEN, code, fault.to_string())
    }
}

impl From<Vec<Diagnostic>> for ApiError {
    fn from(faults: Vec<Diagnostic>) -> Self {
        let found = if faults.len() == 1 {
            "1 fault".to_owned()
        } else {
            format!("{} faults", faults.len())
        };
        Self::wrong("faults", format!("{found} in the files")).with_findings(&faults)
    }
}
