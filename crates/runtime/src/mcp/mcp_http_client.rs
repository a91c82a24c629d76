//! Speaks streamable HTTP with an MCP server: one address, no redirects, limited sizes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::read_limit::ReadLimit;

const SESSION_HEADER: &str = "mcp-session-id";
const ACCEPTED_TYPES: &str = "text/event-stream, application/json";

/// Sends messages with one HTTP client, and counts what comes back.
#[derive(Debug, Clone)]
pub(super) struct McpHttpClient {
    client: Client,
    limit: Arc<ReadLimit>,
}

type HttpError = StreamableHttpError<reqwest::Error>;

impl McpHttpClient {
    /// Uses a client that follows no redirects.
    pub(super) fn new(client: Client, limit: Arc<ReadLimit>) -> Self {
        Self { client, limit }
    }

    /// Reads a whole body within the limit.
    async fn read_body(&self, mut response: Response) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(StreamableHttpError::Client)? {
            if !self.limit.count(&chunk, false) {
                return Err(refuse_response("the response is too large"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Reads a body as a stream of events; it ends when the limit is exceeded.
    fn read_events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let limit = Arc::clone(&self.limit);
        let chunks = stream::unfold(response, move |mut response| {
            let limit = Arc::clone(&limit);
            async move {
                let chunk = response.chunk().await.transpose()?;
                let is_over = chunk.as_ref().is_ok_and(|chunk| !limit.count(chunk, false));
                (!is_over).then_some((chunk, response))
            }
        });
        SseStream::from_bytes_stream(chunks.boxed()).boxed()
    }
}

fn refuse_response(message: impl Into<Cow<'static, str>>) -> HttpError {
    StreamableHttpError::UnexpectedServerResponse(message.into())
}

fn add_headers(
    mut request: RequestBuilder,
    session: Option<&str>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION_HEADER, session),
        None => request,
    }
}

fn has_type(response: &Response, expected: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE).and_then(|found| found.to_str().ok());
    found.is_some_and(|found| found.starts_with(expected))
}

impl StreamableHttpClient for McpHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let body = serde_json::to_vec(&message)?;
        let request = self.client.post(uri.as_ref()).header(ACCEPT, ACCEPTED_TYPES);
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let request = add_headers(request, session_id.as_deref(), custom_headers);
        let response = request.send().await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = response.headers().get(SESSION_HEADER);
        let session = session.and_then(|value| value.to_str().ok()).map(str::to_owned);
        if status.is_success() && has_type(&response, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(self.read_events(response), session));
        }
        let is_json = has_type(&response, "application/json");
        let body = self.read_body(response).await?;
        let parsed = if is_json { serde_json::from_slice(&body).ok() } else { None };
        match parsed {
            Some(message @ ServerJsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            Some(message) if status.is_success() => {
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            _ if status.is_success() && !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            _ => Err(refuse_response(format!("it answered with status {}", status.as_u16()))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let request = self.client.delete(uri.as_ref());
        let request = add_headers(request, Some(&session_id), custom_headers);
        request.send().await.map_err(StreamableHttpError::Client)?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let mut request = self.client.get(uri.as_ref()).header(ACCEPT, ACCEPTED_TYPES);
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let request = add_headers(request, session_id.as_deref(), custom_headers);
        let response = request.send().await.map_err(StreamableHttpError::Client)?;
        if response.status().is_success() && has_type(&response, "text/event-stream") {
            Ok(self.read_events(response))
        } else {
            Err(StreamableHttpError::ServerDoesNotSupportSse)
        }
    }
}
