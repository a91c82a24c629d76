//! Answers to requests with an `Idempotency-Key`, kept for a while so that the same request gets the same answer.
//!
//! Only answers that went well are kept: a request that was refused changed nothing, and may be sent again. What is
//! kept is bounded in number, bytes and time, and is gone when the process ends; inputs of runs are recognised by
//! the log after that too ([`Engine::find_repeated`](countersign_runtime::engine::Engine::find_repeated)).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use countersign_core::json::sha256;
use http_body_util::BodyExt as _;
use tokio::sync::watch;

use super::idempotency::read_key;
use super::request_body::WholeBody;
use super::{ApiError, App};
use crate::access::Caller;

/// Answers that are kept at most.
const MAX_ANSWERS: usize = 10_000;

/// Bytes of answers that are kept at most.
const MAX_BYTES: usize = 64 << 20;

/// Bytes of one answer; a longer one is not kept.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// How long an answer is kept.
const KEPT_FOR: Duration = Duration::from_hours(24);

/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The headers of an answer that are kept with it.
const KEPT_HEADERS: [HeaderName; 3] = [header::CONTENT_TYPE, header::LOCATION, header::ETAG];

/// Answers that are kept, and requests that are being answered.
#[derive(Debug, Default)]
pub struct KeptAnswers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    slots: BTreeMap<String, Slot>,
    /// Finished answers, the oldest first.
    order: VecDeque<(String, Instant)>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Slot {
    /// The digest of the request that has the key.
    request: String,
    tenant: String,
    answer: Option<Arc<KeptAnswer>>,
    /// Closes when the request was answered.
    done: watch::Receiver<()>,
}

#[derive(Debug)]
struct KeptAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Stands behind the guard, before every route: gives an answer again, or has it made once.
pub(super) async fn answer_once(State(app): State<App>, request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let (Some(caller), Some(WholeBody(body)), false) =
        (request.extensions().get::<Caller>(), request.extensions().get::<WholeBody>(), reads)
    else {
        return next.run(request).await;
    };
    let key = match read_key(request.headers()) {
        Ok(Some(key)) => key,
        Ok(None) => return next.run(request).await,
        Err(error) => return error.into_response(),
    };
    let asked = AskedOnce::new(caller, &request, body, &key);
    let forgets = request.extensions().get::<MatchedPath>();
    let forgets = forgets.is_some_and(|path| path.as_str() == "/v1/memory/forget");
    let working = loop {
        match app.answers.begin(&asked) {
            Begun::Known(answer) => return answer.to_response(),
            Begun::Other => return reused(),
            Begun::Working(mut done) => drop(done.changed().await),
            Begun::Fresh(working) => break working,
        }
    };
    let response = next.run(request).await;
    if !response.status().is_success() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return ApiError::ours("broke_down", "the answer broke off").into_response();
    };
    if forgets {
        app.answers.forget_tenant(&asked.tenant);
    }
    let kept = KEPT_HEADERS.into_iter();
    let kept = kept.filter_map(|name| Some((name.clone(), parts.headers.get(name)?.clone())));
    let headers = kept.collect();
    working.finish(KeptAnswer { status: parts.status, headers, body: body.clone() });
    Response::from_parts(parts, Body::from(body))
}

fn reused() -> Response {
    let detail = "this `Idempotency-Key` was used for another request; use a new one";
    ApiError::wrong("key_reused", detail).into_response()
}

impl KeptAnswer {
    fn to_response(&self) -> Response {
        let mut response = (self.status, self.body.clone()).into_response();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().extend(self.headers.clone());
        response.headers_mut().insert(REPLAYED, axum::http::HeaderValue::from_static("true"));
        response
    }
}

/// A request with a key: whose it is, and what it asks.
struct AskedOnce {
    /// Tells the keys of callers and routes apart.
    name: String,
    request: String,
    tenant: String,
}

impl AskedOnce {
    fn new(caller: &Caller, request: &Request, body: &Bytes, key: &str) -> Self {
        let path = request.uri().path_and_query().map_or("", |path| path.as_str());
        let by = caller.key.as_deref().unwrap_or_default();
        let parts = [caller.tenant(), by, &caller.user, request.method().as_str(), path, key];
        let condition = request.headers().get(header::IF_MATCH);
        let condition = condition.map_or(&b""[..], |condition| condition.as_bytes());
        Self {
            name: sha256(&[parts.join("\n").as_bytes()]),
            request: sha256(&[condition, b"\n", body]),
            tenant: caller.tenant().to_owned(),
        }
    }
}

enum Begun<'k> {
    Known(Arc<KeptAnswer>),
    /// The key was used for another request.
    Other,
    /// The same request is being answered.
    Working(watch::Receiver<()>),
    Fresh(Working<'k>),
}

/// A request that is being answered. Dropped, it leaves nothing behind.
struct Working<'k> {
    answers: &'k KeptAnswers,
    name: String,
    _done: watch::Sender<()>,
}

impl KeptAnswers {
    fn begin(&self, asked: &AskedOnce) -> Begun<'_> {
        let mut kept = self.lock();
        kept.drop_old(Instant::now());
        if let Some(slot) = kept.slots.get(&asked.name) {
            return match &slot.answer {
                _ if slot.request != asked.request => Begun::Other,
                Some(answer) => Begun::Known(Arc::clone(answer)),
                None => Begun::Working(slot.done.clone()),
            };
        }
        let (sender, done) = watch::channel(());
        let (request, tenant) = (asked.request.clone(), asked.tenant.clone());
        let slot = Slot { request, tenant, answer: None, done };
        kept.slots.insert(asked.name.clone(), slot);
        Begun::Fresh(Working { answers: self, name: asked.name.clone(), _done: sender })
    }

    /// Drops every finished answer of a tenant: somebody was erased, and answers may name them.
    fn forget_tenant(&self, tenant: &str) {
        let mut kept = self.lock();
        let Kept { slots, order, bytes } = &mut *kept;
        order.retain(|(name, _)| {
            let Some(slot) = slots.get(name).filter(|slot| slot.tenant == tenant) else {
                return true;
            };
            *bytes -= slot.answer.as_ref().map_or(0, |answer| answer.body.len());
            slots.remove(name);
            false
        });
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn drop_old(&mut self, now: Instant) {
        while let Some((_, since)) = self.order.front() {
            let full = self.order.len() > MAX_ANSWERS || self.bytes > MAX_BYTES;
            if !full && now.duration_since(*since) < KEPT_FOR {
                return;
            }
            let Some((name, _)) = self.order.pop_front() else { return };
            if let Some(slot) = self.slots.remove(&name) {
                self.bytes -= slot.answer.map_or(0, |answer| answer.body.len());
            }
        }
    }
}

impl Working<'_> {
    fn finish(self, answer: KeptAnswer) {
        if answer.body.len() > MAX_ANSWER_BYTES {
            return;
        }
        let mut kept = self.answers.lock();
        kept.bytes += answer.body.len();
        if let Some(slot) = kept.slots.get_mut(&self.name) {
            slot.answer = Some(Arc::new(answer));
        }
        kept.order.push_back((self.name.clone(), Instant::now()));
        kept.drop_old(Instant::now());
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut kept = self.answers.lock();
        if kept.slots.get(&self.name).is_some_and(|slot| slot.answer.is_none()) {
            kept.slots.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, tenant: &str) -> AskedOnce {
        let (name, request, tenant) = (name.to_owned(), "r".to_owned(), tenant.to_owned());
        AskedOnce { name, request, tenant }
    }

    fn keep(answers: &KeptAnswers, asked: &AskedOnce, bytes: usize) {
        let Begun::Fresh(working) = answers.begin(asked) else { panic!("it is not known") };
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        working.finish(KeptAnswer { status, headers, body: Bytes::from(vec![b'x'; bytes]) });
    }

    fn is_known(answers: &KeptAnswers, asked: &AskedOnce) -> bool {
        matches!(answers.begin(asked), Begun::Known(_))
    }

    #[test]
    fn answers_are_bounded_in_number_bytes_and_time() {
        let answers = KeptAnswers::default();
        let first = asked("first", "t");
        keep(&answers, &first, 1);
        assert!(is_known(&answers, &first));
        for number in 0..=MAX_ANSWERS {
            keep(&answers, &asked(&format!("n{number}"), "t"), 1);
        }
        assert!(!is_known(&answers, &first), "the oldest is dropped for the newest");
        for number in 0..=MAX_BYTES / MAX_ANSWER_BYTES {
            keep(&answers, &asked(&format!("b{number}"), "t"), MAX_ANSWER_BYTES);
        }
        assert!(answers.lock().bytes <= MAX_BYTES);
        let large = asked("large", "t");
        keep(&answers, &large, MAX_ANSWER_BYTES + 1);
        assert!(!is_known(&answers, &large));
        answers.lock().drop_old(Instant::now() + KEPT_FOR);
        assert!(answers.lock().slots.is_empty() && answers.lock().bytes == 0);
    }

    #[test]
    fn what_a_tenant_was_answered_goes_with_whom_it_erases() {
        let answers = KeptAnswers::default();
        let (ours, theirs) = (asked("a", "ours"), asked("b", "theirs"));
        keep(&answers, &ours, 5);
        keep(&answers, &theirs, 7);
        answers.forget_tenant("ours");
        assert!(!is_known(&answers, &ours) && is_known(&answers, &theirs));
        assert_eq!(answers.lock().bytes, 7);
    }

    #[test]
    fn a_request_that_is_given_up_leaves_its_key_free() {
        let answers = KeptAnswers::default();
        let one = asked("a", "t");
        let Begun::Fresh(working) = answers.begin(&one) else { panic!("it is not known") };
        assert!(matches!(answers.begin(&one), Begun::Working(_)));
        let other = AskedOnce { request: "other".to_owned(), ..asked("a", "t") };
        assert!(matches!(answers.begin(&other), Begun::Other));
        drop(working);
        assert!(matches!(answers.begin(&one), Begun::Fresh(_)));
    }
}
