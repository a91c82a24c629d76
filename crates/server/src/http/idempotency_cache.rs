//! Stores the responses to requests with an `Idempotency-Key` for a while, so that a repeated
//! request gets the same response.
//!
//! Only successful responses are stored: a refused request changed nothing and may be sent again.
//! The cache is bounded in number, bytes and time, and ends with the process; after that, the
//! engine still recognizes repeated inputs of runs by their log
//! ([`Engine::find_repeated_input`](countersign_runtime::engine::Engine::find_repeated_input)).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use countersign_contract::json::sha256_hex;
use http_body_util::BodyExt as _;
use tokio::sync::watch;

use super::idempotency_key::read_idempotency_key;
use super::request_body::BufferedBody;
use super::{ApiError, HttpState};
use crate::access::Caller;

/// Maximum number of stored responses.
const MAX_RESPONSES: usize = 10_000;

/// Maximum total size of the stored responses, in bytes.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// Maximum size of one stored response, in bytes; a larger one is not stored.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// How long a response is stored.
const RESPONSE_TTL: Duration = Duration::from_hours(24);

/// Response header that marks a stored response.
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The response headers that are stored with the body.
const CACHED_HEADERS: [HeaderName; 3] = [header::CONTENT_TYPE, header::LOCATION, header::ETAG];

/// Stored responses, and requests in progress.
#[derive(Debug, Default)]
pub struct IdempotencyCache {
    entries: Mutex<IdempotencyEntries>,
}

#[derive(Debug, Default)]
struct IdempotencyEntries {
    slots: BTreeMap<String, IdempotencySlot>,
    /// The keys of stored responses, the oldest first.
    finished: VecDeque<(String, Instant)>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct IdempotencySlot {
    /// The digest of the request that uses the key.
    request_digest: String,
    tenant: String,
    response: Option<Arc<CachedResponse>>,
    /// Closes when the request is complete.
    done: watch::Receiver<()>,
}

#[derive(Debug)]
struct CachedResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Middleware between authentication and the routes: returns the stored response, or runs the
/// request exactly once.
pub(super) async fn answer_once(
    State(app): State<HttpState>,
    request: Request,
    next: Next,
) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let (Some(caller), Some(BufferedBody(body)), false) =
        (request.extensions().get::<Caller>(), request.extensions().get::<BufferedBody>(), reads)
    else {
        return next.run(request).await;
    };
    let key = match read_idempotency_key(request.headers()) {
        Ok(Some(key)) => key,
        Ok(None) => return next.run(request).await,
        Err(error) => return error.into_response(),
    };
    let identity = IdempotentRequest::new(caller, &request, body, &key);
    let forgets = request.extensions().get::<MatchedPath>();
    let forgets = forgets.is_some_and(|path| path.as_str() == "/v1/memory/forget");
    let working = loop {
        match app.idempotency_cache.begin_request(&identity) {
            IdempotencyLookup::Cached(answer) => return answer.to_response(),
            IdempotencyLookup::KeyReused => return key_reused_response(),
            IdempotencyLookup::InProgress(mut done) => drop(done.changed().await),
            IdempotencyLookup::Started(working) => break working,
        }
    };
    let response = next.run(request).await;
    if !response.status().is_success() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return ApiError::internal("internal_error", "reading the response failed").into_response();
    };
    if forgets {
        app.idempotency_cache.forget_tenant(&identity.tenant);
    }
    let kept = CACHED_HEADERS.into_iter();
    let kept = kept.filter_map(|name| Some((name.clone(), parts.headers.get(name)?.clone())));
    let headers = kept.collect();
    working.store_response(CachedResponse { status: parts.status, headers, body: body.clone() });
    Response::from_parts(parts, Body::from(body))
}

fn key_reused_response() -> Response {
    let detail = "this `Idempotency-Key` was used for another request; use a new one";
    ApiError::unprocessable("key_reused", detail).into_response()
}

impl CachedResponse {
    fn to_response(&self) -> Response {
        let mut response = (self.status, self.body.clone()).into_response();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().extend(self.headers.clone());
        response
            .headers_mut()
            .insert(IDEMPOTENCY_REPLAYED, axum::http::HeaderValue::from_static("true"));
        response
    }
}

/// A request with an idempotency key: its caller, its route and its digest.
struct IdempotentRequest {
    /// Digest that separates the keys of different callers and routes.
    cache_key: String,
    request_digest: String,
    tenant: String,
}

impl IdempotentRequest {
    fn new(caller: &Caller, request: &Request, body: &Bytes, key: &str) -> Self {
        let path = request.uri().path_and_query().map_or("", |path| path.as_str());
        let by = caller.key_id.as_deref().unwrap_or_default();
        let parts = [caller.tenant(), by, &caller.user, request.method().as_str(), path, key];
        let condition = request.headers().get(header::IF_MATCH);
        let condition = condition.map_or(&b""[..], |condition| condition.as_bytes());
        Self {
            cache_key: sha256_hex(&[parts.join("\n").as_bytes()]),
            request_digest: sha256_hex(&[condition, b"\n", body]),
            tenant: caller.tenant().to_owned(),
        }
    }
}

enum IdempotencyLookup<'k> {
    Cached(Arc<CachedResponse>),
    /// The key was used for another request.
    KeyReused,
    /// The same request is in progress.
    InProgress(watch::Receiver<()>),
    Started(PendingResponse<'k>),
}

/// A request in progress. Dropping it without a response frees the key.
struct PendingResponse<'k> {
    cache: &'k IdempotencyCache,
    cache_key: String,
    _done: watch::Sender<()>,
}

impl IdempotencyCache {
    fn begin_request(&self, identity: &IdempotentRequest) -> IdempotencyLookup<'_> {
        let mut kept = self.lock();
        kept.evict_expired(Instant::now());
        if let Some(slot) = kept.slots.get(&identity.cache_key) {
            return match &slot.response {
                _ if slot.request_digest != identity.request_digest => IdempotencyLookup::KeyReused,
                Some(answer) => IdempotencyLookup::Cached(Arc::clone(answer)),
                None => IdempotencyLookup::InProgress(slot.done.clone()),
            };
        }
        let (sender, done) = watch::channel(());
        let (request, tenant) = (identity.request_digest.clone(), identity.tenant.clone());
        let slot = IdempotencySlot { request_digest: request, tenant, response: None, done };
        kept.slots.insert(identity.cache_key.clone(), slot);
        IdempotencyLookup::Started(PendingResponse {
            cache: self,
            cache_key: identity.cache_key.clone(),
            _done: sender,
        })
    }

    /// Drops every stored response of a tenant. Called after an erasure, because responses may
    /// contain the erased data.
    fn forget_tenant(&self, tenant: &str) {
        let mut kept = self.lock();
        let IdempotencyEntries { slots, finished: order, bytes } = &mut *kept;
        order.retain(|(name, _)| {
            let Some(slot) = slots.get(name).filter(|slot| slot.tenant == tenant) else {
                return true;
            };
            *bytes -= slot.response.as_ref().map_or(0, |answer| answer.body.len());
            slots.remove(name);
            false
        });
    }

    fn lock(&self) -> MutexGuard<'_, IdempotencyEntries> {
        // Every change under the lock is complete or absent, so the data is usable after a panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IdempotencyEntries {
    fn evict_expired(&mut self, now: Instant) {
        while let Some((_, since)) = self.finished.front() {
            let full = self.finished.len() > MAX_RESPONSES || self.bytes > MAX_TOTAL_BYTES;
            if !full && now.duration_since(*since) < RESPONSE_TTL {
                return;
            }
            let Some((name, _)) = self.finished.pop_front() else { return };
            if let Some(slot) = self.slots.remove(&name) {
                self.bytes -= slot.response.map_or(0, |answer| answer.body.len());
            }
        }
    }
}

impl PendingResponse<'_> {
    fn store_response(self, answer: CachedResponse) {
        if answer.body.len() > MAX_RESPONSE_BYTES {
            return;
        }
        let mut kept = self.cache.lock();
        kept.bytes += answer.body.len();
        if let Some(slot) = kept.slots.get_mut(&self.cache_key) {
            slot.response = Some(Arc::new(answer));
        }
        kept.finished.push_back((self.cache_key.clone(), Instant::now()));
        kept.evict_expired(Instant::now());
    }
}

impl Drop for PendingResponse<'_> {
    fn drop(&mut self) {
        let mut kept = self.cache.lock();
        if kept.slots.get(&self.cache_key).is_some_and(|slot| slot.response.is_none()) {
            kept.slots.remove(&self.cache_key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_request(name: &str, tenant: &str) -> IdempotentRequest {
        let (name, request, tenant) = (name.to_owned(), "r".to_owned(), tenant.to_owned());
        IdempotentRequest { cache_key: name, request_digest: request, tenant }
    }

    fn keep(answers: &IdempotencyCache, identity: &IdempotentRequest, bytes: usize) {
        let IdempotencyLookup::Started(working) = answers.begin_request(identity) else {
            panic!("it is not known")
        };
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        working.store_response(CachedResponse {
            status,
            headers,
            body: Bytes::from(vec![b'x'; bytes]),
        });
    }

    fn is_known(answers: &IdempotencyCache, identity: &IdempotentRequest) -> bool {
        matches!(answers.begin_request(identity), IdempotencyLookup::Cached(_))
    }

    #[test]
    fn answers_are_bounded_in_number_bytes_and_time() {
        let answers = IdempotencyCache::default();
        let first = build_request("first", "t");
        keep(&answers, &first, 1);
        assert!(is_known(&answers, &first));
        for number in 0..=MAX_RESPONSES {
            keep(&answers, &build_request(&format!("n{number}"), "t"), 1);
        }
        assert!(!is_known(&answers, &first), "the oldest is dropped for the newest");
        for number in 0..=MAX_TOTAL_BYTES / MAX_RESPONSE_BYTES {
            keep(&answers, &build_request(&format!("b{number}"), "t"), MAX_RESPONSE_BYTES);
        }
        assert!(answers.lock().bytes <= MAX_TOTAL_BYTES);
        let large = build_request("large", "t");
        keep(&answers, &large, MAX_RESPONSE_BYTES + 1);
        assert!(!is_known(&answers, &large));
        answers.lock().evict_expired(Instant::now() + RESPONSE_TTL);
        assert!(answers.lock().slots.is_empty() && answers.lock().bytes == 0);
    }

    #[test]
    fn what_a_tenant_was_answered_goes_with_whom_it_erases() {
        let answers = IdempotencyCache::default();
        let (ours, theirs) = (build_request("a", "ours"), build_request("b", "theirs"));
        keep(&answers, &ours, 5);
        keep(&answers, &theirs, 7);
        answers.forget_tenant("ours");
        assert!(!is_known(&answers, &ours) && is_known(&answers, &theirs));
        assert_eq!(answers.lock().bytes, 7);
    }

    #[test]
    fn a_request_that_is_given_up_leaves_its_key_free() {
        let answers = IdempotencyCache::default();
        let one = build_request("a", "t");
        let IdempotencyLookup::Started(working) = answers.begin_request(&one) else {
            panic!("it is not known")
        };
        assert!(matches!(answers.begin_request(&one), IdempotencyLookup::InProgress(_)));
        let other =
            IdempotentRequest { request_digest: "other".to_owned(), ..build_request("a", "t") };
        assert!(matches!(answers.begin_request(&other), IdempotencyLookup::KeyReused));
        drop(working);
        assert!(matches!(answers.begin_request(&one), IdempotencyLookup::Started(_)));
    }
}
