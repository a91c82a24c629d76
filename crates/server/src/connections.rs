//! Connections: how many are served at once, and a few more for whoever asks whether the server lives.

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

/// Connections beyond the limit, for probes alone.
const RESERVED_CONNECTIONS: usize = 64;

/// Open files that are left for everything else: databases, uploads, programs, models.
const RESERVED_FILES: u64 = 256;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);

/// The same for a connection beyond the limit.
const RESERVED_HEADER_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes that are read ahead on a connection, and so the longest head of a request.
const MAX_BUFFER: usize = 64 << 10;

/// What is asked of a server by those who watch over it.
const PROBE_PATHS: [&str; 2] = ["/v1/health", "/v1/ready"];

/// A connection as hyper serves it.
pub(crate) type HttpConnection =
    http1::Connection<TokioIo<WriteTimeout<TcpStream>>, TowerToHyperService<Router>>;

/// Connections that are served at once.
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    regular: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    router: Router,
    probes: Router,
}

impl ConnectionSlots {
    /// So many connections for a router, as far as the system lets the process open files.
    pub(crate) fn new(connections: usize, router: Router) -> Self {
        let probes = router.clone().layer(from_fn(answer_probes_only));
        let regular = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
        Self { regular, reserve: Arc::new(Semaphore::new(RESERVED_CONNECTIONS)), router, probes }
    }

    /// A slot for the next connection. Waits only where the reserve is taken too.
    pub(crate) async fn reserve_slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.reserve).acquire_owned().await.ok()
    }

    /// Serves a connection that was taken with a reserved slot: as usual where there is room, else one probe.
    pub(crate) fn serve_connection(
        &self,
        stream: TcpStream,
        reserved: OwnedSemaphorePermit,
    ) -> (HttpConnection, OwnedSemaphorePermit) {
        // Events are small, and wanted at once.
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

/// Answers probes, and tells everybody else to come back.
async fn answer_probes_only(request: Request, next: Next) -> Response {
    if PROBE_PATHS.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let detail = "the server holds as many connections as it may";
    ApiError::unavailable("busy", detail).with_retry_after(2).into_response()
}

/// How many connections fit beside everything else that is a file. Asks the system for as many files as it gives.
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

/// How many connections fit beside everything else that is a file.
#[cfg(not(unix))]
pub(crate) fn fit_connections(wanted: usize) -> usize {
    wanted
}
