//! Puts Countersign's routes beside a route of one's own, in one axum application.
//!
//! ```sh
//! cargo run -p countersign --example embed_server
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use countersign::runtime::folder::EngineHome;
use countersign::server::access::{AuthMode, Keyring};
use countersign::server::app_state::{AppState, ServerDeps};
use countersign::server::embed::EmbeddedServer;
use countersign::server::shutdown::ShutdownTrigger;
use countersign::store::SqliteStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let home = EngineHome::create(folder.path())?;
    let keyring = Arc::new(Keyring::open(home.folder().join("keys.json")));
    let store = Arc::new(SqliteStore::open(home.database_path())?);
    let app_state = Arc::new(AppState::open(ServerDeps::new(store, home)));

    // On loopback, callers without a key present the token of the server.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = EmbeddedServer::open(&[address], app_state, keyring, AuthMode::LoopbackToken)?;
    let token = server.token().ok_or("a server on loopback has a token")?.reveal().to_owned();

    let (shutdown, signal) = ShutdownTrigger::new();
    let application = Router::new()
        .route("/hello", get(async || "hello from the application"))
        .merge(server.build_router(signal.clone()));
    let mut stopped = signal.clone();
    let serving = tokio::spawn(async move {
        axum::serve(listener, application)
            .with_graceful_shutdown(async move { stopped.wait().await })
            .await
    });
    // The worker continues runs in this process.
    let working = tokio::spawn(async move { server.run_worker(signal).await });

    let hello = send_get(address, "/hello", &token).await?;
    println!("/hello: {hello}");
    let me = send_get(address, "/v1/me", &token).await?;
    println!("/v1/me: {me}");
    let stranger = send_get(address, "/v1/me", "wrong").await?;
    println!("/v1/me with a wrong token: {stranger}");

    shutdown.trigger();
    serving.await??;
    working.await?;
    println!("stopped");
    let is_expected =
        hello.starts_with("200 hello") && me.starts_with("200 ") && stranger.starts_with("401 ");
    if is_expected { Ok(()) } else { Err("an unexpected response".into()) }
}

/// Sends a GET request, and returns the status and the body.
async fn send_get(address: SocketAddr, path: &str, token: &str) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    stream.write_all(format!("{head}Authorization: Bearer {token}\r\n\r\n").as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let status = response.split(' ').nth(1).unwrap_or_default();
    let body = response.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok(format!("{status} {body}"))
}
