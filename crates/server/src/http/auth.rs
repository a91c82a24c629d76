//! Authentication middleware: checks the host, the origin, the key and the role of every request.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use countersign_run::{IdentitySource, InputSender};
use countersign_runtime::Runtime;
use countersign_store::TenantId;

use super::{ApiError, HttpState};
use crate::access::{AccessRole, Caller, Keyring, ROUTE_POLICIES, RoutePolicy, find_route_policy};
use crate::app_state::AppState;

/// Request header that names the user on whose behalf the caller acts, if the caller may act as
/// others.
const COUNTERSIGN_AS_HEADER: HeaderName = HeaderName::from_static("countersign-as");

/// Request header in which a browser tells the relation of the requesting page to this server.
const SEC_FETCH_SITE_HEADER: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Middleware that runs before every route.
pub(crate) async fn authenticate(
    State(app): State<HttpState>,
    mut request: Request,
    next: Next,
) -> Response {
    let need = match check_route(&app, &request) {
        Ok(RoutePolicy::Public) => return next.run(request).await,
        Ok(need) => need,
        Err(error) => return error.into_response(),
    };
    let shown = RequestCredentials::from_headers(&app, request.headers());
    let admitted = async { authorize(&app, shown?, need).await }.await;
    match admitted {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

/// Checks the host and the origin, and returns the policy of the route.
fn check_route(app: &HttpState, request: &Request) -> Result<RoutePolicy, ApiError> {
    let headers = request.headers();
    app.host_policy
        .check(header_text(headers, &header::HOST), header_text(headers, &header::ORIGIN))?;
    let path = request.extensions().get::<MatchedPath>();
    let path =
        path.ok_or_else(|| ApiError::not_found("unknown_path", "this path does not exist"))?;
    find_route_policy(request.method().as_str(), path.as_str()).ok_or_else(|| {
        let methods: Vec<&str> = ROUTE_POLICIES
            .iter()
            .filter(|one| one.path == path.as_str())
            .map(|one| one.method)
            .collect();
        let allow = methods.join(", ");
        let detail = format!("method {} is not allowed; allowed: {allow}", request.method());
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
            .with_allow(allow)
    })
}

/// Resolves the caller and checks that its role suffices.
async fn authorize(
    app: &HttpState,
    shown: RequestCredentials,
    need: RoutePolicy,
) -> Result<Caller, ApiError> {
    let (role, default_only) = match need {
        RoutePolicy::Public => (AccessRole::Reader, false),
        RoutePolicy::Role(role) => (role, false),
        RoutePolicy::DefaultTenant(role) => (role, true),
    };
    let caller = shown.resolve_caller(app).await?;
    if let Some(key) = &caller.key_id
        && let Err(seconds) = app.rate_limiter.try_acquire(key)
    {
        let detail = "this key sends too many requests; retry later";
        let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail);
        return Err(error.with_retry_after(seconds));
    }
    if caller.role < role {
        let detail =
            format!("this request needs the role `{role}`; your role is `{}`", caller.role);
        return Err(ApiError::new(StatusCode::FORBIDDEN, "role", detail));
    }
    if default_only && caller.tenant() != TenantId::default().as_str() {
        let detail = "this covers all tenants and is available only to tenant `default`";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "tenant", detail));
    }
    Ok(caller)
}

/// The credentials of a request.
struct RequestCredentials {
    /// The presented key; `None` for the owner of the server, who needs none.
    key: Option<String>,
    /// The user named in `Countersign-As`, if any.
    acting_user: Option<String>,
}

impl RequestCredentials {
    fn from_headers(app: &HttpState, headers: &HeaderMap) -> Result<Self, ApiError> {
        let acting = parse_acting_user(headers)?;
        let Some(shown) = header_text(headers, &header::AUTHORIZATION) else {
            let odd = headers.contains_key(header::AUTHORIZATION);
            if !app.host_policy.allows_keyless() || odd {
                return Err(unauthorized_error(
                    "an API key is required: send `Authorization: Bearer KEY`",
                ));
            }
            check_cookie(app, headers)?;
            return Ok(Self { key: None, acting_user: acting });
        };
        let (scheme, secret) = shown.split_once(' ').unwrap_or((shown, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(unauthorized_error(
                "unsupported authorization scheme: send `Authorization: Bearer KEY`",
            ));
        }
        let secret = secret.trim();
        if app.token.as_ref().is_some_and(|token| token.matches(secret)) {
            return Ok(Self { key: None, acting_user: acting });
        }
        Ok(Self { key: Some(secret.to_owned()), acting_user: acting })
    }

    /// Resolves the caller. Keys and folders are files, so this runs on a thread that may block on
    /// disk.
    async fn resolve_caller(self, app: &HttpState) -> Result<Caller, ApiError> {
        let (app_state, keyring) = (Arc::clone(&app.app_state), Arc::clone(&app.keyring));
        if self.key.is_none()
            && let Some(runtime) = app_state.find_tenant(&TenantId::default())
        {
            return Ok(local_caller(runtime, &app_state, self.acting_user));
        }
        let found =
            tokio::task::spawn_blocking(move || self.find_caller(&app_state, &keyring)).await;
        found.map_err(|_| ApiError::internal("internal_error", "looking up the key failed"))?
    }

    fn find_caller(self, app: &AppState, keyring: &Keyring) -> Result<Caller, ApiError> {
        let Self { key: secret, acting_user: acting } = self;
        let Some(secret) = secret else {
            let runtime = app.open_tenant(&TenantId::default())?;
            return Ok(local_caller(runtime, app, acting));
        };
        let key =
            keyring.find_by_secret(&secret)?.ok_or_else(|| unauthorized_error("no such key"))?;
        if let Some(why) = key.inactive_reason(app.deps().clock.now()) {
            return Err(unauthorized_error(&format!("the key is {why}")));
        }
        let user = match acting {
            Some(user) if key.role == AccessRole::Admin || user == key.user => user,
            Some(_) => {
                let detail = format!(
                    "only an admin can act as another user; this key belongs to `{}`",
                    key.user
                );
                return Err(ApiError::new(StatusCode::FORBIDDEN, "impersonation_denied", detail));
            }
            None => key.user.clone(),
        };
        let sender = InputSender {
            identity: IdentitySource::Key,
            principal: None,
            groups: key.groups,
            roles: key.role.included_names(),
        };
        let sender = claim_name(sender, &key.user, &user);
        let runtime = app.open_tenant(&TenantId::new(key.tenant))?;
        Ok(Caller { runtime, role: key.role, user, sender, key_id: Some(key.id) })
    }
}

/// The owner of the server, who needs no key, possibly under another name.
fn local_caller(runtime: Arc<Runtime>, app: &AppState, acting: Option<String>) -> Caller {
    let deps = app.deps();
    let user = acting.unwrap_or_else(|| deps.default_user.clone());
    let sender = claim_name(deps.default_sender.clone(), &deps.default_user, &user);
    Caller { runtime, role: AccessRole::Admin, user, sender, key_id: None }
}

/// The sender of an input under the name `user`: a claim, if the authenticated name is another.
fn claim_name(sender: InputSender, authenticated: &str, user: &str) -> InputSender {
    if authenticated == user {
        return sender;
    }
    let principal = sender.principal.unwrap_or_else(|| authenticated.to_owned());
    InputSender {
        identity: IdentitySource::Claim,
        principal: Some(principal),
        groups: Vec::new(),
        roles: Vec::new(),
    }
}

/// Accepts the cookie of a browser if the server requires a token. Browsers send cookies to every
/// port of a host, so the request must also state that it comes from the server's own page.
fn check_cookie(app: &HttpState, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(token) = &app.token else { return Ok(()) };
    let cookies = headers.get_all(header::COOKIE).iter();
    let shown =
        cookies.filter_map(|cookies| cookies.to_str().ok()).any(|one| token.is_in_cookies(one));
    if !shown {
        let detail = format!(
            "this server requires its token: send `Authorization: Bearer TOKEN` with the token from `{}`, or open the web page with `countersign serve --open`",
            token.path().display()
        );
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, "no_token", detail));
    }
    match header_text(headers, &SEC_FETCH_SITE_HEADER) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => {
            let detail = "pages from other origins are not allowed to call this server";
            Err(ApiError::forbidden("foreign_origin", detail))
        }
    }
}

/// Reads the user from the `Countersign-As` header; `None` if the header is absent.
fn parse_acting_user(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(COUNTERSIGN_AS_HEADER) else { return Ok(None) };
    let name = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
    if name.is_empty() || name.chars().count() > 200 {
        let detail = "`Countersign-As` must be a name of 1 to 200 characters";
        return Err(ApiError::bad_request("bad_header", detail));
    }
    Ok(Some(name.to_owned()))
}

fn unauthorized_error(detail: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "no_key", detail)
}

fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
