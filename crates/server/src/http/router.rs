//! All routes, and the description that is made of them.

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse as _;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    ApiError, App, admit, answers, blobs, contracts, description, documents, guard, health, inbox,
    inputs, limits, looks, me, memory, metrics, protocols, request_body, runs, start, stream,
    traced, workers,
};

/// The routes and their description.
pub fn router(app: App) -> (Router, OpenApi) {
    let (router, described) = described();
    let web = crate::web::routes(app.hosts.clone(), app.token.clone());
    let router = router
        .merge(description::routes(&described))
        .merge(crate::mcp::routes(app.clone()))
        .fallback(async || {
            ApiError::missing("unknown_path", "there is nothing at this path").into_response()
        })
        .layer(from_fn_with_state(app.clone(), answers::answer_once))
        .layer(from_fn_with_state(app.clone(), request_body::read_whole))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .layer(from_fn(limits::in_time))
        .layer(CatchPanicLayer::custom(limits::broke_down))
        .layer(from_fn_with_state(app.clone(), metrics::counted))
        .layer(from_fn_with_state(app.clone(), traced::traced))
        .layer(from_fn(limits::guarded))
        .layer(CompressionLayer::new())
        .with_state(app)
        .merge(web);
    (router, described)
}

/// Every route that has a description.
fn described() -> (Router<App>, OpenApi) {
    let (router, described) = OpenApiRouter::with_openapi(description::head())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(metrics::show))
        .routes(routes!(workers::list))
        .routes(routes!(me::me))
        .routes(routes!(protocols::list))
        .routes(routes!(protocols::show))
        .routes(routes!(protocols::graph))
        .routes(routes!(contracts::list))
        .routes(routes!(contracts::show))
        .routes(routes!(contracts::export))
        .routes(routes!(admit::check))
        .routes(routes!(admit::admit))
        .routes(routes!(admit::diff))
        .routes(routes!(runs::list, start::start))
        .routes(routes!(runs::show))
        .routes(routes!(looks::document))
        .routes(routes!(looks::state))
        .routes(routes!(looks::versions))
        .routes(routes!(looks::events))
        .routes(routes!(looks::diff))
        .routes(routes!(looks::graph))
        .routes(routes!(looks::next))
        .routes(routes!(looks::verify))
        .routes(routes!(start::fork))
        .routes(routes!(inputs::submit))
        .routes(routes!(inputs::answer))
        .routes(routes!(documents::document))
        .routes(routes!(inputs::approve))
        .routes(routes!(inputs::deny))
        .routes(routes!(inputs::halt))
        .routes(routes!(inputs::resume))
        .routes(routes!(inputs::cancel))
        .routes(routes!(blobs::show))
        .routes(routes!(inbox::list))
        .routes(routes!(stream::run))
        .routes(routes!(stream::inbox))
        .routes(routes!(memory::remember))
        .routes(routes!(memory::compose))
        .routes(routes!(memory::search))
        .routes(routes!(memory::explain))
        .routes(routes!(memory::replay))
        .routes(routes!(memory::forget))
        .split_for_parts();
    (router, description::finished(described))
}
