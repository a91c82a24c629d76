//! The OpenAPI 3.1 description of the API, generated from the code, and an HTML page that lists the
//! routes.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use utoipa::OpenApi as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};

use super::HttpState;
use super::api_error::{PROBLEM_MEDIA_TYPE, ProblemDetails};
use crate::access::{AccessRole, RoutePolicy, find_route_policy};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "The HTTP API for runs, protocols, contracts, the inbox and memory.",
        license(name = "MIT OR Apache-2.0"),
    ),
    components(schemas(ProblemDetails)),
    tags(
        (name = "server", description = "The state of the server."),
        (name = "protocols", description = "Protocols that runs can be started from."),
        (name = "contracts", description = "Contracts that replies are checked against."),
        (name = "runs", description = "Start, read and control runs, and submit inputs to them."),
        (name = "inbox", description = "Open waits that need a person."),
        (name = "memory", description = "Add records to memory, search it, and compose packets from it."),
    ),
)]
struct ApiDoc;

/// The description without routes: title, license and tags.
pub(crate) fn base_openapi() -> OpenApi {
    ApiDoc::openapi()
}

/// Adds what applies to all routes: the error response and the required role.
pub(crate) fn complete_openapi(mut described: OpenApi) -> OpenApi {
    let key = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    described.components.get_or_insert_default().add_security_scheme("key", key);
    for (path, item) in &mut described.paths.paths {
        let operations = [
            ("GET", &mut item.get),
            ("PUT", &mut item.put),
            ("POST", &mut item.post),
            ("DELETE", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                complete_operation(operation, find_route_policy(method, path));
            }
        }
    }
    described
}

fn complete_operation(operation: &mut Operation, need: Option<RoutePolicy>) {
    let problem =
        ContentBuilder::new().schema(Some(Ref::from_schema_name("ProblemDetails"))).build();
    let response = ResponseBuilder::new()
        .description("An error, with a stable `code`.")
        .content(PROBLEM_MEDIA_TYPE, problem)
        .build();
    operation.responses.responses.insert("default".to_owned(), RefOr::T(response));
    let needs = match need {
        None | Some(RoutePolicy::Public) => "Needs no authentication.".to_owned(),
        Some(RoutePolicy::Role(role)) => format!("Needs the role `{role}`."),
        Some(RoutePolicy::DefaultTenant(role)) => {
            format!("Needs the role `{role}` in tenant `default`.")
        }
    };
    if !matches!(need, None | Some(RoutePolicy::Public)) {
        let none: [&str; 0] = [];
        operation.security = Some(vec![SecurityRequirement::new("key", none)]);
    }
    let text = operation.description.take().unwrap_or_default();
    operation.description = Some(format!("{text}\n\n{needs}").trim().to_owned());
}

/// Builds the routes for the description and the HTML page.
pub(crate) fn routes(described: &OpenApi) -> Router<HttpState> {
    let text = described.to_json().expect("the description serializes to JSON");
    let page = render_page(described);
    let json = move || {
        let text = text.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], text).into_response() }
    };
    Router::new()
        .route("/v1/openapi.json", get(json))
        .route("/v1/docs", get(move || async move { Html(page.clone()) }))
}

/// Renders a table with one line per route. The page has no scripts and loads nothing from other
/// servers.
fn render_page(described: &OpenApi) -> String {
    let mut rows = String::new();
    for (path, item) in &described.paths.paths {
        let operations = [
            ("GET", &item.get),
            ("PUT", &item.put),
            ("POST", &item.post),
            ("DELETE", &item.delete),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            let summary = operation.summary.as_deref().unwrap_or_default();
            let needs = match find_route_policy(method, path) {
                None | Some(RoutePolicy::Public) => "–",
                Some(RoutePolicy::Role(role) | RoutePolicy::DefaultTenant(role)) => {
                    AccessRole::as_str(role)
                }
            };
            let [path, summary] = [path.as_str(), summary].map(escape_html);
            rows.push_str(&format!(
                "<tr><td>{method}</td><td><code>{path}</code></td><td>{needs}</td><td>{summary}</td></tr>\n"
            ));
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Countersign: HTTP</title>\n\
         <h1>Countersign: HTTP</h1>\n\
         <p>The complete OpenAPI description: <a href=\"/v1/openapi.json\">openapi.json</a>.</p>\n\
         <table>\n<tr><th>Method</th><th>Path</th><th>Role</th><th>What it does</th></tr>\n{rows}</table>\n"
    )
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
