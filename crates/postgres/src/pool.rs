//! A bounded pool of reusable connections. A broken connection does not return to the pool.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::error::PgError;
use crate::server::PgServer;

/// How long to wait for a connection while all are in use.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// A pool of connections to one server.
#[derive(Debug)]
pub struct PgPool {
    server: PgServer,
    max_connections: usize,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
}

impl PgPool {
    /// Creates a pool that connects on demand, up to `most` connections (at least one).
    #[must_use]
    pub fn new(server: PgServer, most: usize) -> Self {
        let max_connections = most.max(1);
        Self {
            server,
            max_connections,
            permits: Semaphore::new(max_connections),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Returns the server that the pool connects to.
    #[must_use]
    pub fn server(&self) -> &PgServer {
        &self.server
    }

    /// Maximum number of connections that are open at once.
    #[must_use]
    pub fn max_connections(&self) -> usize {
        self.max_connections
    }

    /// Acquires a connection, from the idle ones if possible. Fails with `PoolExhausted` after ten
    /// seconds.
    pub async fn acquire(&self) -> Result<PooledClient<'_>, PgError> {
        let turn = match timeout(ACQUIRE_TIMEOUT, self.permits.acquire()).await {
            Ok(turn) => turn.map_err(|_| PgError::ConnectionLost)?,
            Err(_) => return Err(PgError::PoolExhausted),
        };
        let idle = {
            let mut idle = self.lock_idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let client = match idle {
            Some(client) => client,
            None => self.server.connect().await?,
        };
        Ok(PooledClient { pool: self, client: Some(client), _permit: turn })
    }

    /// Closes idle connections: what broke one connection has probably broken the others too.
    pub fn close_idle(&self) {
        self.lock_idle().clear();
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        // A poisoned lock is safe to use: the list holds connections and no half-made change.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that returns to the pool when it is dropped, unless it broke.
#[derive(Debug)]
pub struct PooledClient<'p> {
    pool: &'p PgPool,
    client: Option<Client>,
    _permit: SemaphorePermit<'p>,
}

impl PooledClient<'_> {
    /// Closes the connection instead of returning it to the pool.
    pub fn discard(mut self) {
        self.client = None;
    }
}

impl Deref for PooledClient<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("it is taken only when this is dropped")
    }
}

impl Drop for PooledClient<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.pool.lock_idle().push(client);
        }
    }
}
