//! Lets a request in, or says why not: its host, its origin, its key, its role.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use countersign_store::TenantId;

use super::{ApiError, App};
use crate::access::{Caller, Keyring, NEEDS, Need, Role, needed};
use crate::house::House;

/// Says who acts, where the caller may say so.
const ACTS_AS: HeaderName = HeaderName::from_static("countersign-as");

/// What a browser says about who makes it ask.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Stands before every route.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let need = match needed_by(&app, &request) {
        Ok(Need::Nothing) => return next.run(request).await,
        Ok(need) => need,
        Err(error) => return error.into_response(),
    };
    let shown = Shown::read(&app, request.headers());
    let admitted = async { admit(&app, shown?, need).await }.await;
    match admitted {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

/// What the route of a request needs, once its host and its origin are ours.
fn needed_by(app: &App, request: &Request) -> Result<Need, ApiError> {
    let headers = request.headers();
    app.hosts.check(text(headers, &header::HOST), text(headers, &header::ORIGIN))?;
    let path = request.extensions().get::<MatchedPath>();
    let path =
        path.ok_or_else(|| ApiError::missing("unknown_path", "there is nothing at this path"))?;
    needed(request.method().as_str(), path.as_str()).ok_or_else(|| {
        let methods: Vec<&str> =
            NEEDS.iter().filter(|one| one.path == path.as_str()).map(|one| one.method).collect();
        let allow = methods.join(", ");
        let detail = format!("`{}` does not go here; {allow} does", request.method());
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).allowing(allow)
    })
}

/// Lets somebody in whose role is enough.
async fn admit(app: &App, shown: Shown, need: Need) -> Result<Caller, ApiError> {
    let (role, house) = match need {
        Need::Nothing => (Role::Reader, false),
        Need::Role(role) => (role, false),
        Need::House(role) => (role, true),
    };
    let caller = shown.caller(app).await?;
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
    Ok(caller)
}

/// What a request shows to be let in.
struct Shown {
    /// A key; `None` for whoever owns the house.
    key: Option<String>,
    /// Who acts, where it says so.
    acting: Option<String>,
}

impl Shown {
    fn read(app: &App, headers: &HeaderMap) -> Result<Self, ApiError> {
        let acting = acting(headers)?;
        let Some(shown) = text(headers, &header::AUTHORIZATION) else {
            let odd = headers.contains_key(header::AUTHORIZATION);
            if !app.hosts.keyless() || odd {
                return Err(unknown("a key is needed: `Authorization: Bearer KEY`"));
            }
            check_cookie(app, headers)?;
            return Ok(Self { key: None, acting });
        };
        let (scheme, secret) = shown.split_once(' ').unwrap_or((shown, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(unknown("a key is shown as `Authorization: Bearer KEY`"));
        }
        let secret = secret.trim();
        if app.token.as_ref().is_some_and(|token| token.is(secret)) {
            return Ok(Self { key: None, acting });
        }
        Ok(Self { key: Some(secret.to_owned()), acting })
    }

    /// Who that is. Keys and folders are files, which are read in a thread that may wait for the disk.
    async fn caller(self, app: &App) -> Result<Caller, ApiError> {
        let (house, keyring) = (Arc::clone(&app.house), Arc::clone(&app.keyring));
        if self.key.is_none()
            && let Some(desk) = house.known_desk(&TenantId::default())
        {
            let user = self.acting.unwrap_or_else(|| house.furniture().user.clone());
            return Ok(Caller { desk, role: Role::Admin, user, key: None });
        }
        let found = tokio::task::spawn_blocking(move || self.find(&house, &keyring)).await;
        found.map_err(|_| ApiError::ours("broke_down", "looking for the key broke down"))?
    }

    fn find(self, house: &House, keyring: &Keyring) -> Result<Caller, ApiError> {
        let Self { key: secret, acting } = self;
        let Some(secret) = secret else {
            let desk = house.desk(&TenantId::default())?;
            let user = acting.unwrap_or_else(|| house.furniture().user.clone());
            return Ok(Caller { desk, role: Role::Admin, user, key: None });
        };
        let key = keyring.find(&secret)?.ok_or_else(|| unknown("no such key"))?;
        if let Some(why) = key.dead(house.furniture().clock.now()) {
            return Err(unknown(&format!("the key was {why}")));
        }
        let user = match acting {
            Some(user) if key.role == Role::Admin || user == key.user => user,
            Some(_) => {
                let detail = format!("only an admin acts as another; this key is `{}`'s", key.user);
                return Err(ApiError::new(StatusCode::FORBIDDEN, "acts_as", detail));
            }
            None => key.user,
        };
        let desk = house.desk(&TenantId::new(key.tenant))?;
        Ok(Caller { desk, role: key.role, user, key: Some(key.id) })
    }
}

/// Lets a browser in by its cookie, where a token is needed. Cookies are sent for pages at any port of this machine,
/// so the browser must say that it is our own page that asks.
fn check_cookie(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(token) = &app.token else { return Ok(()) };
    let cookies = headers.get_all(header::COOKIE).iter();
    let shown =
        cookies.filter_map(|cookies| cookies.to_str().ok()).any(|one| token.is_in_cookies(one));
    if !shown {
        let detail = format!(
            "this server lets in who has its token: send `Authorization: Bearer TOKEN` with what stands in `{}`, or open the page at the address that `countersign serve --open` opens",
            token.path().display()
        );
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, "no_token", detail));
    }
    match text(headers, &FETCH_SITE) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => {
            let detail = "a page of another origin may not use this server";
            Err(ApiError::forbidden("foreign_origin", detail))
        }
    }
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
