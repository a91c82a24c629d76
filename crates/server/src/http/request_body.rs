//! Request bodies: limited before they are read, counted while they are in memory, and abandoned
//! when the client stops sending.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::{Bytes, BytesMut};
use countersign_contract::limits::MAX_BODY_BYTES;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout, timeout_at};

use super::uploads::UPLOAD_PATH;
use super::{ApiError, HttpState};
use crate::access::Caller;

/// How long a client may take to send a whole body into memory. Shorter than the response timeout.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// The complete body of a request.
#[derive(Debug, Clone)]
pub(super) struct BufferedBody(pub(super) Bytes);

/// Middleware that reads the body of every authenticated request, except document uploads, which
/// are spooled to disk.
pub(super) async fn buffer_body(
    State(app): State<HttpState>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>();
    let is_upload = path.is_some_and(|path| path.as_str() == UPLOAD_PATH);
    let Some(caller) = request.extensions().get::<Caller>().cloned().filter(|_| !is_upload) else {
        return next.run(request).await;
    };
    let (mut parts, body) = request.into_parts();
    let mut share = app.quotas.body_bytes.new_share(&caller);
    let mut whole = BytesMut::new();
    let mut pieces = BodyChunks::new(&parts.headers, body, MAX_BODY_BYTES, app.body_idle_timeout);
    let read = async {
        while let Some(piece) = pieces.as_mut().map_err(|error| error.clone())?.next_chunk().await?
        {
            share.acquire(piece.len() as u64)?;
            whole.extend_from_slice(&piece);
        }
        Ok::<(), ApiError>(())
    };
    let read = timeout_at(Instant::now() + BODY_TIMEOUT, read).await;
    if let Err(error) = read.unwrap_or_else(|_| Err(body_too_slow())) {
        return error.into_response();
    }
    let whole = whole.freeze();
    parts.extensions.insert(BufferedBody(whole.clone()));
    let response = next.run(Request::from_parts(parts, Body::from(whole))).await;
    drop(share);
    response
}

/// The chunks of a body, as they arrive.
pub(super) struct BodyChunks {
    body: Body,
    max_bytes: usize,
    bytes_read: usize,
    idle_timeout: Duration,
}

impl BodyChunks {
    /// Prepares to read a body of at most `most` bytes.
    ///
    /// # Errors
    /// Status 413 if `Content-Length` already exceeds the limit.
    pub(super) fn new(
        headers: &HeaderMap,
        body: Body,
        most: usize,
        pause: Duration,
    ) -> Result<Self, ApiError> {
        let announced = headers.get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > most as u64) {
            return Err(body_too_large(most));
        }
        Ok(Self { body, max_bytes: most, bytes_read: 0, idle_timeout: pause })
    }

    /// Returns the next chunk; `None` at the end.
    ///
    /// # Errors
    /// Status 413 if the body exceeds the limit, 408 if the client stops sending, 400 if it
    /// disconnects.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let frame =
                timeout(self.idle_timeout, self.body.frame()).await.map_err(|_| body_too_slow())?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| {
                ApiError::bad_request(
                    "incomplete_body",
                    format!("the request body is incomplete: {error}"),
                )
            })?;
            // The server ignores trailers.
            let Ok(piece) = frame.into_data() else { continue };
            self.bytes_read += piece.len();
            if self.bytes_read > self.max_bytes {
                return Err(body_too_large(self.max_bytes));
            }
            return Ok(Some(piece));
        }
    }
}

fn body_too_large(most: usize) -> ApiError {
    let detail = format!("the request body is larger than {most} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
}

fn body_too_slow() -> ApiError {
    let detail =
        "the request body arrived too slowly; nothing was saved, so send the request again";
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow_body", detail)
}
