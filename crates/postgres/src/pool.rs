//! Connections that are used again. At most so many at a time; one that broke is not put back.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::error::PgError;
use crate::server::PgServer;

/// How long one waits for a connection that others use.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// A few connections to one server.
#[derive(Debug)]
pub struct PgPool {
    server: PgServer,
    max_connections: usize,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
}

impl PgPool {
    /// A pool that connects when it must, at most so often.
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

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &PgServer {
        &self.server
    }

    /// How many connections there may be.
    #[must_use]
    pub fn max_connections(&self) -> usize {
        self.max_connections
    }

    /// A connection for a while.
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

    /// Closes what nobody uses: what one connection suffered, the others have suffered too.
    pub fn close_idle(&self) {
        self.lock_idle().clear();
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        // It holds connections and no half-made change.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back when it is dropped, unless it broke.
#[derive(Debug)]
pub struct PooledClient<'p> {
    pool: &'p PgPool,
    client: Option<Client>,
    _permit: SemaphorePermit<'p>,
}

impl PooledClient<'_> {
    /// Closes the connection instead of giving it back.
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
