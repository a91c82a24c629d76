//! Builds all routes, and the OpenAPI description of them.

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse as _;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    ApiError, HttpState, auth, blobs, contracts, event_streams, files, health, http_tracing,
    idempotency_cache, inbox, inputs, me, memory, metrics, openapi, protocols, request_body,
    response_middleware, run_reads, run_stats, runs, start, uploads, validation, workers,
};

/// Builds the router and the description of its routes.
pub fn build_router(app: HttpState) -> (Router, OpenApi) {
    let (router, described) = build_documented_routes();
    let web = crate::web::routes(app.host_policy.clone(), app.token.clone());
    let router = router
        .merge(openapi::routes(&described))
        .merge(crate::mcp::routes(app.clone()))
        .fallback(async || {
            ApiError::not_found("unknown_path", "this path does not exist").into_response()
        })
        .layer(from_fn_with_state(app.clone(), idempotency_cache::answer_once))
        .layer(from_fn_with_state(app.clone(), request_body::buffer_body))
        .layer(from_fn_with_state(app.clone(), auth::authenticate))
        .layer(from_fn(response_middleware::enforce_timeout))
        .layer(CatchPanicLayer::custom(response_middleware::respond_to_panic))
        .layer(from_fn_with_state(app.clone(), metrics::count_request))
        .layer(from_fn(http_tracing::trace_request))
        .layer(from_fn(response_middleware::add_security_headers))
        .layer(CompressionLayer::new())
        .with_state(app)
        .merge(web);
    (router, described)
}

/// Builds every route that is part of the description.
fn build_documented_routes() -> (Router<HttpState>, OpenApi) {
    let (router, described) = OpenApiRouter::with_openapi(openapi::base_openapi())
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
        .routes(routes!(metrics::get_metrics))
        .routes(routes!(workers::list_workers))
        .routes(routes!(me::get_caller))
        .routes(routes!(protocols::list_protocols))
        .routes(routes!(protocols::get_protocol))
        .routes(routes!(protocols::get_protocol_graph))
        .routes(routes!(protocols::get_protocol_agent))
        .routes(routes!(contracts::list_contracts))
        .routes(routes!(contracts::get_contract))
        .routes(routes!(contracts::get_contract_export))
        .routes(routes!(validation::check_protocol_files))
        .routes(routes!(validation::admit_reply))
        .routes(routes!(validation::diff_contracts))
        .routes(routes!(runs::list_runs, start::start_run))
        .routes(routes!(runs::get_run))
        .routes(routes!(run_stats::get_run_stats))
        .routes(routes!(run_reads::get_document))
        .routes(routes!(run_reads::get_state))
        .routes(routes!(run_reads::list_versions))
        .routes(routes!(run_reads::list_events))
        .routes(routes!(run_reads::diff_versions))
        .routes(routes!(run_reads::get_run_graph))
        .routes(routes!(run_reads::get_next_step))
        .routes(routes!(run_reads::get_verification))
        .routes(routes!(start::fork_run))
        .routes(routes!(inputs::submit_reply))
        .routes(routes!(inputs::answer_wait))
        .routes(routes!(uploads::upload_document))
        .routes(routes!(inputs::approve_wait))
        .routes(routes!(inputs::deny_wait))
        .routes(routes!(inputs::delegate_wait))
        .routes(routes!(inputs::halt_run))
        .routes(routes!(inputs::resume_run))
        .routes(routes!(inputs::cancel_run))
        .routes(routes!(files::list_files))
        .routes(routes!(files::get_file))
        .routes(routes!(blobs::get_blob))
        .routes(routes!(inbox::list_inbox))
        .routes(routes!(event_streams::stream_run))
        .routes(routes!(event_streams::stream_inbox))
        .routes(routes!(memory::submit_memories))
        .routes(routes!(memory::compose_memory_packet))
        .routes(routes!(memory::search_memory))
        .routes(routes!(memory::explain_build))
        .routes(routes!(memory::replay_build))
        .routes(routes!(memory::forget_user))
        .split_for_parts();
    (router, openapi::complete_openapi(described))
}
