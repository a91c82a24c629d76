//! What the API says about itself: OpenAPI 3.1, made of the code, and a page that lists it.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use utoipa::OpenApi as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};

use super::App;
use super::problem::{PROBLEM, Problem};
use crate::access::{Need, Role, needed};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "Models propose, contracts decide. Runs, contracts, the inbox and memory.",
        license(name = "MIT OR Apache-2.0"),
    ),
    components(schemas(Problem)),
    tags(
        (name = "house", description = "The server itself."),
        (name = "protocols", description = "What runs can be started of."),
        (name = "contracts", description = "What replies are held against."),
        (name = "runs", description = "Runs: looked at, started, given something, steered."),
        (name = "inbox", description = "What waits for a person."),
        (name = "memory", description = "What is remembered, and packets of it."),
    ),
)]
struct Head;

/// What stands before the routes.
pub(crate) fn head() -> OpenApi {
    Head::openapi()
}

/// The description with what holds for every route: its problem, and what it needs.
pub(crate) fn finished(mut described: OpenApi) -> OpenApi {
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
                complete(operation, needed(method, path));
            }
        }
    }
    described
}

fn complete(operation: &mut Operation, need: Option<Need>) {
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let told = ResponseBuilder::new()
        .description("What went wrong, with a stable `code`.")
        .content(PROBLEM, problem)
        .build();
    operation.responses.responses.insert("default".to_owned(), RefOr::T(told));
    let needs = match need {
        None | Some(Need::Nothing) => "Needs nothing.".to_owned(),
        Some(Need::Role(role)) => format!("Needs the role `{role}`."),
        Some(Need::House(role)) => format!("Needs the role `{role}` in tenant `local`."),
    };
    if !matches!(need, None | Some(Need::Nothing)) {
        let none: [&str; 0] = [];
        operation.security = Some(vec![SecurityRequirement::new("key", none)]);
    }
    let text = operation.description.take().unwrap_or_default();
    operation.description = Some(format!("{text}\n\n{needs}").trim().to_owned());
}

/// The description itself, and the page that lists it.
pub(crate) fn routes(described: &OpenApi) -> Router<App> {
    let text = described.to_json().expect("a description is JSON");
    let page = page(described);
    let json = move || {
        let text = text.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], text).into_response() }
    };
    Router::new()
        .route("/v1/openapi.json", get(json))
        .route("/v1/docs", get(move || async move { Html(page.clone()) }))
}

/// Every route in a line, for people. No script, nothing from elsewhere.
fn page(described: &OpenApi) -> String {
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
            let needs = match needed(method, path) {
                None | Some(Need::Nothing) => "–",
                Some(Need::Role(role) | Need::House(role)) => Role::as_str(role),
            };
            let [path, summary] = [path.as_str(), summary].map(escaped);
            rows.push_str(&format!(
                "<tr><td>{method}</td><td><code>{path}</code></td><td>{needs}</td><td>{summary}</td></tr>\n"
            ));
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Countersign: HTTP</title>\n\
         <h1>Countersign: HTTP</h1>\n\
         <p>The whole description, with every shape: <a href=\"/v1/openapi.json\">openapi.json</a>.</p>\n\
         <table>\n<tr><th>Method</th><th>Path</th><th>Role</th><th>What it does</th></tr>\n{rows}</table>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
