//! Listening: connections are taken, served, and, when the server is to end, brought to their end.
//!
//! Whoever is being answered gets the answer; streams get a last event; nobody new comes in.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use countersign_runtime::worker::{Crew, Ending, News, Report, Stopper, Terms, Worker};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::access::{Demand, Hosts, Keyring};
use crate::house::House;
use crate::http::{App, Rates, router};
use crate::stop::Stopping;

/// How many connections there are at most; who comes then waits.
const MOST_CONNECTIONS: usize = 4_096;

/// How often a key may ask in a second, where nobody says; for a while twice as often.
const RATE: u32 = 100;

/// How many runs are worked on at once.
const AT_ONCE: usize = 64;

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(15);

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
    grace: Duration,
    rate: u32,
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
        Ok(Self { listeners, addresses: bound, house, keyring, hosts, grace: GRACE, rate: RATE })
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The same server, which lets each key ask so many times a second.
    #[must_use]
    pub fn with_rate(self, rate: u32) -> Self {
        Self { rate, ..self }
    }

    /// The same server, which gives what is under way so long to end.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Serves, and keeps runs going, until it is to end. Then whatever is under way is brought to its end.
    pub async fn run(self, stopping: Stopping) {
        let house = Arc::clone(&self.house);
        let app = App {
            house: self.house,
            keyring: self.keyring,
            hosts: self.hosts,
            inboxes: Arc::default(),
            metrics: Arc::default(),
            traces: Arc::default(),
            rates: Arc::new(Rates::new(self.rate)),
            stopping: stopping.clone(),
        };
        let (router, _) = router(app);
        let served = self.listeners.into_iter().map(|listener| {
            tokio::spawn(accept(listener, router.clone(), stopping.clone(), self.grace))
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

async fn accept(listener: TcpListener, router: Router, mut stopping: Stopping, grace: Duration) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
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
        let connection = served(stream, router.clone());
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

fn served(
    stream: TcpStream,
    router: Router,
) -> http1::Connection<TokioIo<TcpStream>, TowerToHyperService<Router>> {
    // Events are small, and wanted at once.
    drop(stream.set_nodelay(true));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}
