//! Bodies of requests: bounded before they are read, counted while they are in memory, and given up when the
//! client stops sending.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::{Bytes, BytesMut};
use countersign_core::limits::MAX_BODY_BYTES;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout, timeout_at};

use super::uploads::UPLOAD_PATH;
use super::{ApiError, HttpState};
use crate::access::Caller;

/// How long all of a body that is kept in memory may take. Less than an answer may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// The body of a request, read whole.
#[derive(Debug, Clone)]
pub(super) struct BufferedBody(pub(super) Bytes);

/// Reads the body of every request that somebody was let in with, but for documents, which are spooled.
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

/// The pieces of a body, as they come.
pub(super) struct BodyChunks {
    body: Body,
    max_bytes: usize,
    bytes_read: usize,
    idle_timeout: Duration,
}

impl BodyChunks {
    /// The pieces of a body of at most so many bytes.
    ///
    /// # Errors
    /// 413 where the head says already that it is longer.
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

    /// The next piece; `Empty` at the end.
    ///
    /// # Errors
    /// 413 where the body is longer than it may be, 408 where the client stops sending, 400 where it goes away.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let frame =
                timeout(self.idle_timeout, self.body.frame()).await.map_err(|_| body_too_slow())?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| {
                ApiError::bad_request("cut_off", format!("the body did not come whole: {error}"))
            })?;
            // Trailers say nothing to us.
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
    let detail = format!("the body is longer than {most} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
}

fn body_too_slow() -> ApiError {
    let detail = "the body comes too slowly; nothing was kept, so send it again";
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow_body", detail)
}
