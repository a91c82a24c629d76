//! MCP over streamable HTTP, under `/mcp`, behind the same guard and limits as `/v1`.
//!
//! Without sessions: every request is whole by itself, comes with its key, and finds any process of the house. So
//! nothing is lost when the server is started again, and a session that is overheard opens nothing.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use countersign_core::limits::MAX_BODY_BYTES;
use http_body_util::{BodyExt as _, Limited};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::mcp_server::{McpCallerSource, McpServer};
use crate::http::{ApiError, HttpState};

/// How long a refusal of the transport may be that is told on.
const MAX_ERROR_BYTES: usize = 4_096;

/// The route.
pub(crate) fn routes(app: HttpState) -> Router<HttpState> {
    let door = McpServer::new(app, McpCallerSource::PerRequest, true);
    // Hosts and origins were looked at by the guard, which also knows names that keys open.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(door.clone()), sessions, config);
    let asked = move |request: Request| {
        let service = service.clone();
        async move { to_problem_response(service.handle(request).await.map(Body::new)).await }
    };
    Router::new().route("/mcp", post(asked))
}

/// What the transport refuses, it refuses in plain text; here it is a problem like any other.
async fn to_problem_response(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if status.as_u16() < 400 || kind.starts_with("application/json") {
        return response;
    }
    let said = Limited::new(response.into_body(), MAX_ERROR_BYTES).collect().await;
    let said = said.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned());
    let said = said.ok().filter(|said| !said.trim().is_empty());
    let detail = said.unwrap_or_else(|| "this is no request of MCP".to_owned());
    let code = if status == StatusCode::PAYLOAD_TOO_LARGE { "too_large" } else { "not_mcp" };
    ApiError::new(status, code, detail).into_response()
}
