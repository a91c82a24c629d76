//! Limits the number of open connections, and keeps a reserve for health probes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::ApiError;
use crate::write_timeout::WriteTimeout;

/// Connections above the limit that are reserved for health probes.
const RESERVED_CONNECTIONS: usize = 64;

/// File descriptors reserved for everything else: databases, uploads, programs, models.
const RESERVED_FILES: u64 = 256;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a client may take to send the head of a request on a reserved connection.
const RESERVED_HEADER_TIMEOUT: Duration = Duration::from_secs(2);

/// Read buffer of a connection in bytes, which is also the maximum length of a request head.
const MAX_BUFFER: usize = 64 << 10;

/// The paths of health probes.
const PROBE_PATHS: [&str; 2] = ["/v1/health", "/v1/ready"];

/// A connection as hyper serves it.
pub(crate) type HttpConnection =
    http1::Connection<TokioIo<WriteTimeout<TcpStream>>, TowerToHyperService<Router>>;

/// The connection slots of a server, regular and reserved.
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    regular: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    router: Router,
    probes: Router,
}

impl ConnectionSlots {
    /// Creates slots for `connections` regular connections, all served by `router`.
    pub(crate) fn new(connections: usize, router: Router) -> Self {
        let probes = router.clone().layer(from_fn(answer_probes_only));
        let regular = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
        Self { regular, reserve: Arc::new(Semaphore::new(RESERVED_CONNECTIONS)), router, probes }
    }

    /// Waits for a slot for the next connection. Blocks only while the reserve is exhausted too.
    pub(crate) async fn reserve_slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.reserve).acquire_owned().await.ok()
    }

    /// Serves a connection that holds a reserved slot: as a regular connection if a slot is free,
    /// otherwise for a single probe.
    pub(crate) fn serve_connection(
        &self,
        stream: TcpStream,
        reserved: OwnedSemaphorePermit,
    ) -> (HttpConnection, OwnedSemaphorePermit) {
        // Server-sent events are small and should arrive without delay.
        drop(stream.set_nodelay(true));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).max_buf_size(MAX_BUFFER);
        let (router, permit) = match Arc::clone(&self.regular).try_acquire_owned() {
            Ok(permit) => {
                builder.header_read_timeout(HEADER_TIMEOUT);
                (&self.router, permit)
            }
            Err(_) => {
                builder.header_read_timeout(RESERVED_HEADER_TIMEOUT).keep_alive(false);
                (&self.probes, reserved)
            }
        };
        let service = TowerToHyperService::new(router.clone());
        (builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service), permit)
    }
}

/// Answers probes, and tells every other client to retry later.
async fn answer_probes_only(request: Request, next: Next) -> Response {
    if PROBE_PATHS.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let detail = "the server has reached its connection limit; retry later";
    ApiError::unavailable("busy", detail).with_retry_after(2).into_response()
}

/// Returns how many of the `wanted` connections fit into the limit of open files, after raising
/// that limit as far as the system allows.
#[cfg(unix)]
pub(crate) fn fit_connections(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = (wanted as u64).saturating_add(RESERVED_FILES);
    let Some(current) = current.filter(|current| *current < needed) else { return wanted };
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
    let raise = Rlimit { current: Some(raised), maximum };
    let files = setrlimit(Resource::Nofile, raise).map_or(current, |()| raised);
    let room = files.saturating_sub(RESERVED_FILES).max(files / 2);
    usize::try_from(room).unwrap_or(wanted).min(wanted)
}

/// Returns `wanted`: this system has no limit of open files that the program could query.
#[cfg(not(unix))]
pub(crate) fn fit_connections(wanted: usize) -> usize {
    wanted
}
