//! Lets a request in, or says why not: its host, its origin, its key, its role.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use countersign_store::TenantId;

use super::{ApiError, App};
use crate::access::{Caller, NEEDS, Need, Role, needed};

/// Says who acts, where the caller may say so.
const ACTS_AS: HeaderName = HeaderName::from_static("countersign-as");

/// Stands before every route.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match admitted(&app, &request) {
        Ok(Some(caller)) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Ok(None) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Who the request comes from; `None` where the route is nobody's.
fn admitted(app: &App, request: &Request) -> Result<Option<Caller>, ApiError> {
    let headers = request.headers();
    app.hosts.check(text(headers, &header::HOST), text(headers, &header::ORIGIN))?;
    let path = request.extensions().get::<MatchedPath>();
    let path =
        path.ok_or_else(|| ApiError::missing("unknown_path", "there is nothing at this path"))?;
    let need = needed(request.method().as_str(), path.as_str()).ok_or_else(|| {
        let methods: Vec<&str> =
            NEEDS.iter().filter(|one| one.path == path.as_str()).map(|one| one.method).collect();
        let allow = methods.join(", ");
        let detail = format!("`{}` does not go here; {allow} does", request.method());
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).allowing(allow)
    })?;
    let (role, house) = match need {
        Need::Nothing => return Ok(None),
        Need::Role(role) => (role, false),
        Need::House(role) => (role, true),
    };
    let caller = caller(app, headers)?;
    if let Some(key) = &caller.key
        && let Err(seconds) = app.rates.take(key)
    {
        let detail = "this key asks too often";
        let told = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_often", detail);
        return Err(told.again_in(seconds));
    }
    if caller.role < role {
        let detail = format!("this needs the role `{role}`, and yours is `{}`", caller.role);
        return Err(ApiError::new(StatusCode::FORBIDDEN, "role", detail));
    }
    if house && caller.tenant() != TenantId::default().as_str() {
        let detail = "this tells of the whole house, and is for tenant `local` alone";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "tenant", detail));
    }
    Ok(Some(caller))
}

fn caller(app: &App, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let Some(shown) = text(headers, &header::AUTHORIZATION) else {
        if !app.hosts.keyless() || headers.contains_key(header::AUTHORIZATION) {
            return Err(unknown("a key is needed: `Authorization: Bearer KEY`"));
        }
        let desk = app.house.desk(&TenantId::default())?;
        let user = acting(headers)?.unwrap_or_else(|| app.house.furniture().user.clone());
        return Ok(Caller { desk, role: Role::Admin, user, key: None });
    };
    let (scheme, secret) = shown.split_once(' ').unwrap_or((shown, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unknown("a key is shown as `Authorization: Bearer KEY`"));
    }
    let key = app.keyring.find(secret.trim())?.ok_or_else(|| unknown("no such key"))?;
    if let Some(why) = key.dead(app.house.furniture().clock.now()) {
        return Err(unknown(&format!("the key was {why}")));
    }
    let user = match acting(headers)? {
        Some(user) if key.role == Role::Admin || user == key.user => user,
        Some(_) => {
            let detail = format!("only an admin acts as another; this key is `{}`'s", key.user);
            return Err(ApiError::new(StatusCode::FORBIDDEN, "acts_as", detail));
        }
        None => key.user,
    };
    let desk = app.house.desk(&TenantId::new(key.tenant))?;
    Ok(Caller { desk, role: key.role, user, key: Some(key.id) })
}

/// Who acts, where the request says it.
fn acting(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(ACTS_AS) else { return Ok(None) };
    let name = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
    if name.is_empty() || name.chars().count() > 200 {
        let detail = "`Countersign-As` must be a name of 1 to 200 characters";
        return Err(ApiError::bad("bad_header", detail));
    }
    Ok(Some(name.to_owned()))
}

fn unknown(detail: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "no_key", detail)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
