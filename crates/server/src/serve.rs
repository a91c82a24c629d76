//! Accepts and serves connections until shutdown.
//!
//! On shutdown, requests in progress get their responses, event streams get a last event, and no
//! new connection is accepted.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_runtime::worker::{
    DriverProvider, Worker, WorkerConfig, WorkerEvent, WorkerExitPolicy, WorkerObserver,
    WorkerStopHandle,
};
use hyper_util::server::graceful::GracefulShutdown;
use thiserror::Error;
use tokio::net::TcpListener;

use crate::access::{AuthMode, HostPolicy, Keyring, LocalToken};
use crate::app_state::AppState;
use crate::connections::{ConnectionSlots, fit_connections};
use crate::http::{HttpState, build_router};
use crate::service_limits::ServiceLimits;
use crate::shutdown::ShutdownSignal;

/// Requests per second that a key may send by default; bursts may reach twice as many.
pub(crate) const DEFAULT_REQUESTS_PER_SECOND: u32 = 100;

/// Maximum number of runs that this process works on at the same time.
const MAX_CONCURRENT_RUNS: usize = 64;

/// How long requests and steps in progress may continue after the shutdown signal.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(20);

/// Why the server cannot start.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Another program listens on the address.
    #[error("address `{address}` is already in use by another program")]
    AddressInUse {
        /// The address that is in use.
        address: SocketAddr,
    },
    /// The operating system refuses to bind the address.
    #[error("cannot listen on `{address}`: {source}")]
    Bind {
        /// The address that cannot be bound.
        address: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Every request needs a key, and no active key exists.
    #[error("every request to `{address}` needs an API key, but there is no active key")]
    NoActiveKey {
        /// The address that needs a key.
        address: SocketAddr,
    },
    /// The token of the server cannot be stored.
    #[error("cannot store the server token in `{}`: {source}", folder.display())]
    Token {
        /// The engine's folder, where the token file belongs.
        folder: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The key file cannot be read.
    #[error(transparent)]
    Keys(#[from] crate::access::KeyringError),
}

/// A server that is bound to its addresses and not yet serving.
pub struct HttpServer {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    app_state: Arc<AppState>,
    keyring: Arc<Keyring>,
    host_policy: HostPolicy,
    token: Option<Arc<LocalToken>>,
    grace: Duration,
    requests_per_second: u32,
    limits: ServiceLimits,
}

impl HttpServer {
    /// Binds to the addresses. Fails if every request would need a key and no active key exists.
    pub async fn bind(
        addresses: &[SocketAddr],
        app_state: Arc<AppState>,
        keyring: Arc<Keyring>,
        demand: AuthMode,
    ) -> Result<Self, ServeError> {
        let hosts = open_host_policy(addresses, &app_state, &keyring, demand)?;
        let (mut listeners, mut bound) = (Vec::new(), Vec::new());
        for &address in addresses {
            let listener =
                TcpListener::bind(address).await.map_err(|source| match source.kind() {
                    std::io::ErrorKind::AddrInUse => ServeError::AddressInUse { address },
                    _ => ServeError::Bind { address, source },
                })?;
            bound.push(listener.local_addr().unwrap_or(address));
            listeners.push(listener);
        }
        let token = open_token(&bound, &hosts, &app_state, demand)?;
        let (grace, rate, limits) =
            (SHUTDOWN_GRACE, DEFAULT_REQUESTS_PER_SECOND, ServiceLimits::default());
        let addresses = bound;
        Ok(Self {
            listeners,
            addresses,
            app_state,
            keyring,
            host_policy: hosts,
            token,
            grace,
            requests_per_second: rate,
            limits,
        })
    }

    /// The bound addresses, with the actual ports.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The token that callers without a key must present; `None` if no token is needed or if every
    /// caller needs a key.
    #[must_use]
    pub fn token(&self) -> Option<&LocalToken> {
        self.token.as_deref()
    }

    /// Sets how many requests per second each key may send.
    #[must_use]
    pub fn with_rate(self, rate: u32) -> Self {
        Self { requests_per_second: rate, ..self }
    }

    /// Sets the limits of connections, streams, uploads and bytes.
    #[must_use]
    pub fn with_limits(self, limits: ServiceLimits) -> Self {
        Self { limits, ..self }
    }

    /// Sets how long work in progress may continue after the shutdown signal.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Serves requests and works on runs until the shutdown signal, then waits for the work in
    /// progress.
    pub async fn run(self, stopping: ShutdownSignal) {
        let app_state = Arc::clone(&self.app_state);
        let connections = fit_connections(self.limits.connections);
        let limits = ServiceLimits { connections, ..self.limits };
        let (router, _) = build_router(HttpState::new(
            self.app_state,
            self.keyring,
            self.host_policy,
            self.token,
            &limits,
            self.requests_per_second,
            stopping.clone(),
        ));
        let slots = ConnectionSlots::new(connections, router);
        let served = self.listeners.into_iter().map(|listener| {
            tokio::spawn(accept_connections(listener, slots.clone(), stopping.clone(), self.grace))
        });
        let served: Vec<_> = served.collect();
        run_worker(&app_state, stopping, self.grace).await;
        for one in served {
            // A listener task that panicked needs no further shutdown.
            drop(one.await);
        }
    }
}

/// Creates the host policy of the listen addresses. Fails if every request would need a key and no
/// active key exists.
pub(crate) fn open_host_policy(
    addresses: &[SocketAddr],
    app_state: &AppState,
    keyring: &Keyring,
    demand: AuthMode,
) -> Result<HostPolicy, ServeError> {
    let now = app_state.deps().clock.now();
    let hosts = HostPolicy::from_addresses(addresses, demand);
    let open = addresses.iter().find(|address| !address.ip().is_loopback());
    if let Some(address) = open.or(addresses.first()).copied().filter(|_| !hosts.allows_keyless())
        && keyring.load_keys()?.iter().all(|key| key.inactive_reason(now).is_some())
    {
        return Err(ServeError::NoActiveKey { address });
    }
    Ok(hosts)
}

/// Opens the token of a server on loopback; `None` if no token is needed or if every caller needs a
/// key.
pub(crate) fn open_token(
    bound: &[SocketAddr],
    hosts: &HostPolicy,
    app_state: &AppState,
    demand: AuthMode,
) -> Result<Option<Arc<LocalToken>>, ServeError> {
    let needs_token = hosts.allows_keyless() && demand == AuthMode::LoopbackToken;
    let Some(first) = bound.first().filter(|_| needs_token) else { return Ok(None) };
    let folder = app_state.deps().home.folder().to_owned();
    match LocalToken::open(&folder, first.port()) {
        Ok(token) => Ok(Some(Arc::new(token))),
        Err(source) => Err(ServeError::Token { folder, source }),
    }
}

/// Works on runs until the shutdown signal.
pub(crate) async fn run_worker(
    app_state: &Arc<AppState>,
    mut stopping: ShutdownSignal,
    grace: Duration,
) {
    let deps = app_state.deps();
    let terms = WorkerConfig {
        host: deps.host.clone(),
        capacity: MAX_CONCURRENT_RUNS,
        grace_period: i64::try_from(grace.as_millis()).unwrap_or(i64::MAX),
        ..WorkerConfig::new(app_state.worker())
    };
    let (store, clock) = (Arc::clone(&deps.store), Arc::clone(&deps.clock));
    let drivers = Arc::clone(app_state) as Arc<dyn DriverProvider>;
    let report = Arc::new(WorkerWarnings(Arc::clone(app_state)));
    let worker = Worker::new(store, clock, drivers, report, terms);
    let worker = match app_state.heartbeat() {
        Some(presence) => worker.with_heartbeat(Arc::clone(presence)),
        None => worker,
    };
    let (stopper, stop) = WorkerStopHandle::new();
    let mut signal = stopping.clone();
    let stop_requested = async {
        signal.wait().await;
        stopper.stop();
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = worker.run(WorkerExitPolicy::OnStop, stop) => ended,
        () = stop_requested => Ok(()),
    };
    if let Err(error) = ended {
        let message = format!(
            "the worker in this process has stopped; runs continue in other processes: {error}"
        );
        deps.watch.on_warning("any", &message);
        stopping.wait().await;
    }
}

/// Reports the problems of the worker as warnings, and ignores all other events.
struct WorkerWarnings(Arc<AppState>);

impl WorkerObserver for WorkerWarnings {
    fn on_event(&self, news: WorkerEvent) {
        let watch = &self.0.deps().watch;
        match news {
            WorkerEvent::RunFailed(run, why) => {
                watch.on_warning(&run.id, &format!("the worker cannot process this run: {why}"));
            }
            WorkerEvent::StoreUnavailable(why) => {
                watch.on_warning("any", &format!("the store is unavailable: {why}"));
            }
            WorkerEvent::StoreRecovered(_) => {
                watch.on_warning("any", "the store is available again");
            }
            _ => {}
        }
    }
}

async fn accept_connections(
    listener: TcpListener,
    slots: ConnectionSlots,
    mut stopping: ShutdownSignal,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    loop {
        let reserved = tokio::select! {
            biased;
            () = stopping.wait() => break,
            reserved = slots.reserve_slot() => reserved,
        };
        let Some(reserved) = reserved else { break };
        let stream = tokio::select! {
            biased;
            () = stopping.wait() => break,
            taken = listener.accept() => match taken {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // Usually there are too many open files; the next attempt may succeed.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (connection, permit) = slots.serve_connection(stream, reserved);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that disconnects is not an error of the server.
            drop(connection.await);
            drop(permit);
        });
    }
    drop(listener);
    drop(tokio::time::timeout(grace, graceful.shutdown()).await);
}
