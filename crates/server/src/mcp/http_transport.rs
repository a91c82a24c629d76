//! MCP over streamable HTTP at `/mcp`, with the same authentication and limits as `/v1`.
//!
//! The transport has no sessions: every request is complete, carries its own key, and can go to any
//! process of the installation. So a restart loses nothing, and there is no session that could be
//! hijacked.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use countersign_contract::limits::MAX_BODY_BYTES;
use http_body_util::{BodyExt as _, Limited};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::mcp_server::{McpCallerSource, McpServer};
use crate::http::{ApiError, HttpState};

/// Maximum length of a transport error that is passed on to the client, in bytes.
const MAX_ERROR_BYTES: usize = 4_096;

/// Builds the `/mcp` route.
pub(crate) fn routes(app: HttpState) -> Router<HttpState> {
    let door = McpServer::new(app, McpCallerSource::PerRequest, true);
    // The authentication middleware has already checked host and origin; it also knows the host
    // names that keys allow.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(door.clone()), sessions, config);
    let handler = move |request: Request| {
        let service = service.clone();
        async move { to_problem_response(service.handle(request).await.map(Body::new)).await }
    };
    Router::new().route("/mcp", post(handler))
}

/// Converts a plain-text error of the transport into problem details.
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
    let detail = said.unwrap_or_else(|| "this is not an MCP request".to_owned());
    let code = if status == StatusCode::PAYLOAD_TOO_LARGE { "too_large" } else { "not_mcp" };
    ApiError::new(status, code, detail).into_response()
}
