//! The routes of the web page, and the headers of its responses.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::{ASSETS_DIGEST, WebAsset, find_asset, render_index};
use crate::access::{HostPolicy, LocalToken};
use crate::http::ApiError;

/// The content security policy: the page may run and show its own files and call this server, and
/// nothing else.
pub const PAGE_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// For responses that a browser must revalidate on every use; the server answers 304 while the
/// contents are unchanged.
const REVALIDATE: &str = "no-cache";

/// For files whose contents never change at their URL. A debug build reads the files from disk,
/// where they can change.
const IMMUTABLE: &str =
    if cfg!(debug_assertions) { REVALIDATE } else { "public, max-age=31536000, immutable" };

/// The paths that return the page; `web/js/core/routes.js` has the same list.
pub const PAGE_PATHS: &[&str] = &[
    "/",
    "/inbox",
    "/inbox/{run}/{wait}",
    "/runs",
    "/runs/{run}",
    "/runs/{run}/{tab}",
    "/stats",
    "/start",
    "/start/{protocol}",
    "/protocols",
    "/protocols/{name}",
    "/contracts",
    "/contracts/{id}",
    "/packets",
    "/system",
];

/// Builds the routes of the page. They reject requests with a foreign `Host` header, and turn a
/// token in the URL into a cookie.
pub fn routes(hosts: HostPolicy, token: Option<Arc<LocalToken>>) -> Router {
    let mut router = Router::new().route("/assets/{*path}", get(serve_asset));
    for &page in PAGE_PATHS {
        router = router.route(page, get(serve_index));
    }
    router.layer(from_fn_with_state(token, take_token)).layer(from_fn_with_state(hosts, check_host))
}

/// Removes the token from the URL: sets the cookie and redirects to the same URL without the token.
async fn take_token(
    State(token): State<Option<Arc<LocalToken>>>,
    request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let (shown, others): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|pair| pair.starts_with("token="));
    let (Some(shown), Some(token)) = (shown.first(), token) else { return next.run(request).await };
    let rest = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    let location = HeaderValue::try_from(format!("{}{rest}", request.uri().path()));
    headers.insert(LOCATION, location.unwrap_or(HeaderValue::from_static("/")));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if token.matches(&shown["token=".len()..])
        && let Ok(cookie) = HeaderValue::try_from(token.to_set_cookie())
    {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

async fn check_host(State(hosts): State<HostPolicy>, request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    match hosts.check(host, None) {
        Ok(()) => next.run(request).await,
        Err(fault) => ApiError::from(fault).into_response(),
    }
}

async fn serve_index(headers: HeaderMap) -> Response {
    asset_response(render_index(), &headers, REVALIDATE)
}

async fn serve_asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
    let of_edition =
        path.strip_prefix(ASSETS_DIGEST.as_str()).and_then(|rest| rest.strip_prefix('/'));
    let path = of_edition.unwrap_or(&path);
    // The page is available only at its own paths.
    let found = find_asset(path).filter(|_| path != "index.html");
    asset_response(found, &headers, if of_edition.is_some() { IMMUTABLE } else { REVALIDATE })
}

fn asset_response(found: Option<WebAsset>, headers: &HeaderMap, caching: &'static str) -> Response {
    let Some(WebAsset { bytes, content_type, etag }) = found else {
        return ApiError::not_found("unknown_path", "the page has no such file").into_response();
    };
    let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let known = known
        .is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag));
    let mut response =
        if known { StatusCode::NOT_MODIFIED.into_response() } else { bytes.into_response() };
    let mut say = |name: HeaderName, value: &'static str| {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    };
    say(CONTENT_TYPE, content_type);
    say(CONTENT_SECURITY_POLICY, PAGE_SECURITY_POLICY);
    say(X_CONTENT_TYPE_OPTIONS, "nosniff");
    say(REFERRER_POLICY, "no-referrer");
    say(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    say(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    say(CACHE_CONTROL, caching);
    if let Ok(tag) = HeaderValue::try_from(etag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str) -> String {
        String::from_utf8(find_asset(path).unwrap().bytes.into_owned()).unwrap()
    }

    #[test]
    fn the_page_and_the_server_have_the_same_addresses() {
        let script = text("js/core/routes.js");
        let known = script.lines().filter_map(|line| line.trim().strip_prefix("[\"/"));
        let known = known.filter_map(|rest| rest.split('"').next());
        let known: Vec<String> = known.map(|path| format!("/{path}")).collect();
        assert_eq!(known, PAGE_PATHS);
    }

    #[test]
    fn every_language_has_the_same_words() {
        let keys = |language: &str| {
            let text = text(&format!("js/words/{language}.js"));
            let parts: Vec<&str> = text.split('"').collect();
            let named = parts.windows(2).filter(|pair| pair[1].starts_with(": "));
            let mut keys: Vec<String> = named.map(|pair| pair[0].to_owned()).collect();
            keys.sort_unstable();
            keys
        };
        let english = keys("en");
        assert!(english.len() > 300, "only {} words", english.len());
        assert_eq!(keys("ru"), english);
        assert_eq!(keys("zh"), english);
    }

    #[test]
    fn nothing_is_written_into_the_page_that_the_policy_forbids() {
        let page = text("index.html");
        assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" on"));
        assert_eq!(
            page.matches("<script").count(),
            page.matches("<script type=\"module\" src=\"/assets/").count()
        );
        for path in crate::web::asset_paths().filter(|path| path.ends_with(".js")) {
            let script = text(&path);
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "http://",
                "https://",
            ] {
                let allowed = word == "http://" && path == "js/view/dom.js";
                assert!(allowed || !script.contains(word), "{path} has `{word}`");
            }
        }
    }

    #[test]
    fn the_page_loads_only_what_there_is() {
        let page = text("index.html");
        for path in page.split("/assets/").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(find_asset(path).is_some(), "index.html wants {path}");
        }
        for path in crate::web::asset_paths().filter(|path| path.ends_with(".js")) {
            let folder = path.rsplit_once('/').unwrap().0.to_owned();
            let script = text(&path);
            for wanted in script.split(" from \"").skip(1).filter_map(|rest| rest.split('"').next())
            {
                let mut segments: Vec<&str> = folder.split('/').collect();
                for step in wanted.split('/') {
                    match step {
                        "." => {}
                        ".." => drop(segments.pop()),
                        step => segments.push(step),
                    }
                }
                assert!(find_asset(&segments.join("/")).is_some(), "{path} wants {wanted}");
            }
        }
    }
}
