//! Listening: connections are taken, served, and, when the server is to end, brought to their end.
//!
//! Whoever is being answered gets the answer; streams get a last event; nobody new comes in.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_runtime::worker::{Crew, Ending, News, Report, Stopper, Terms, Worker};
use hyper_util::server::graceful::GracefulShutdown;
use thiserror::Error;
use tokio::net::TcpListener;

use crate::access::{Demand, Hosts, Keyring, LocalToken};
use crate::connections::{ConnectionSlots, fit_connections};
use crate::house::House;
use crate::http::{App, Quotas, Rates, router};
use crate::service_limits::ServiceLimits;
use crate::stop::Stopping;

/// How often a key may ask in a second, where nobody says; for a while twice as often.
const RATE: u32 = 100;

/// How many runs are worked on at once.
const AT_ONCE: usize = 64;

/// How long answers and steps may still take when the server is to end.
const GRACE: Duration = Duration::from_secs(20);

/// Why nothing can be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Another program listens there.
    #[error("`{address}` is taken: another program listens there")]
    Taken {
        /// Where.
        address: SocketAddr,
    },
    /// The system does not let us listen there.
    #[error("cannot listen at `{address}`: {source}")]
    Refused {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Everybody needs a key, and nobody has one.
    #[error("every request at `{address}` would need a key, and there is none that is alive")]
    Open {
        /// Where.
        address: SocketAddr,
    },
    /// The token cannot be kept.
    #[error("the token of this server cannot be kept in `{}`: {source}", folder.display())]
    Token {
        /// The engine's folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] crate::access::KeyringError),
}

/// A server that is bound and not yet serving.
pub struct Server {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    house: Arc<House>,
    keyring: Arc<Keyring>,
    hosts: Hosts,
    token: Option<Arc<LocalToken>>,
    grace: Duration,
    rate: u32,
    limits: ServiceLimits,
}

impl Server {
    /// Binds to addresses.
    pub async fn bind(
        addresses: &[SocketAddr],
        house: Arc<House>,
        keyring: Arc<Keyring>,
        demand: Demand,
    ) -> Result<Self, ServeError> {
        let now = house.furniture().clock.now();
        let hosts = Hosts::of(addresses, demand);
        let open = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(address) = open.or(addresses.first()).copied().filter(|_| !hosts.keyless())
            && keyring.keys()?.iter().all(|key| key.dead(now).is_some())
        {
            return Err(ServeError::Open { address });
        }
        let (mut listeners, mut bound) = (Vec::new(), Vec::new());
        for &address in addresses {
            let listener =
                TcpListener::bind(address).await.map_err(|source| match source.kind() {
                    std::io::ErrorKind::AddrInUse => ServeError::Taken { address },
                    _ => ServeError::Refused { address, source },
                })?;
            bound.push(listener.local_addr().unwrap_or(address));
            listeners.push(listener);
        }
        let token = match bound.first() {
            Some(first) if hosts.keyless() && demand == Demand::BeyondLoopback => {
                let folder = house.furniture().home.folder().to_owned();
                let token = LocalToken::open(&folder, first.port());
                Some(Arc::new(token.map_err(|source| ServeError::Token { folder, source })?))
            }
            _ => None,
        };
        let (grace, rate, limits) = (GRACE, RATE, ServiceLimits::default());
        let addresses = bound;
        Ok(Self { listeners, addresses, house, keyring, hosts, token, grace, rate, limits })
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What whoever comes without a key must show; `None` where nobody must, or everybody needs a key.
    #[must_use]
    pub fn token(&self) -> Option<&LocalToken> {
        self.token.as_deref()
    }

    /// The same server, which lets each key ask so many times a second.
    #[must_use]
    pub fn with_rate(self, rate: u32) -> Self {
        Self { rate, ..self }
    }

    /// The same server, which holds so much at once.
    #[must_use]
    pub fn with_limits(self, limits: ServiceLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same server, which gives what is under way so long to end.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Serves, and keeps runs going, until it is to end. Then whatever is under way is brought to its end.
    pub async fn run(self, stopping: Stopping) {
        let house = Arc::clone(&self.house);
        let connections = fit_connections(self.limits.connections);
        let limits = ServiceLimits { connections, ..self.limits };
        let app = App {
            house: self.house,
            keyring: self.keyring,
            hosts: self.hosts,
            token: self.token,
            inboxes: Arc::default(),
            metrics: Arc::default(),
            traces: Arc::default(),
            rates: Arc::new(Rates::new(self.rate)),
            quotas: Arc::new(Quotas::new(&limits)),
            body_pause: limits.body_pause,
            answers: Arc::default(),
            stopping: stopping.clone(),
        };
        let (router, _) = router(app);
        let slots = ConnectionSlots::new(connections, router);
        let served = self.listeners.into_iter().map(|listener| {
            tokio::spawn(accept(listener, slots.clone(), stopping.clone(), self.grace))
        });
        let served: Vec<_> = served.collect();
        work(&house, stopping, self.grace).await;
        for one in served {
            // A listener that broke down has nothing left to end.
            drop(one.await);
        }
    }
}

/// Keeps runs going until the server is to end.
pub(crate) async fn work(house: &Arc<House>, mut stopping: Stopping, grace: Duration) {
    let furniture = house.furniture();
    let terms = Terms {
        host: furniture.host.clone(),
        capacity: AT_ONCE,
        grace: i64::try_from(grace.as_millis()).unwrap_or(i64::MAX),
        ..Terms::new(house.worker())
    };
    let (store, clock) = (Arc::clone(&furniture.store), Arc::clone(&furniture.clock));
    let crew = Arc::clone(house) as Arc<dyn Crew>;
    let report = Arc::new(Warnings(Arc::clone(house)));
    let worker = Worker::new(store, clock, crew, report, terms);
    let worker = match house.presence() {
        Some(presence) => worker.present(Arc::clone(presence)),
        None => worker,
    };
    let (stopper, stop) = Stopper::new();
    let mut ear = stopping.clone();
    let told = async {
        ear.said().await;
        stopper.stop();
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = worker.work(Ending::Told, stop) => ended,
        () = told => Ok(()),
    };
    if let Err(error) = ended {
        let told = format!("no run is worked on any more, but by other processes: {error}");
        furniture.watch.warned("any", &told);
        stopping.said().await;
    }
}

/// Tells what went wrong, and nothing else.
struct Warnings(Arc<House>);

impl Report for Warnings {
    fn told(&self, news: News) {
        let watch = &self.0.furniture().watch;
        match news {
            News::Failed(run, why) => {
                watch.warned(&run.id, &format!("it cannot be worked on: {why}"));
            }
            News::Away(why) => watch.warned("any", &format!("the store is away: {why}")),
            News::Back(_) => watch.warned("any", "the store is back"),
            _ => {}
        }
    }
}

async fn accept(
    listener: TcpListener,
    slots: ConnectionSlots,
    mut stopping: Stopping,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    loop {
        let reserved = tokio::select! {
            biased;
            () = stopping.said() => break,
            reserved = slots.reserve() => reserved,
        };
        let Some(reserved) = reserved else { break };
        let stream = tokio::select! {
            biased;
            () = stopping.said() => break,
            taken = listener.accept() => match taken {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // Mostly too many open files: they become fewer.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (connection, permit) = slots.serve(stream, reserved);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away is no fault of ours.
            drop(connection.await);
            drop(permit);
        });
    }
    drop(listener);
    drop(tokio::time::timeout(grace, graceful.shutdown()).await);
}
