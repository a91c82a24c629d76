//! Connections that are used again. At most so many at a time; one that broke is not put back.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::outage::Outage;
use crate::server::Server;

/// How long one waits for a connection that others use.
const WAITING: Duration = Duration::from_secs(10);

/// A few connections to one server.
#[derive(Debug)]
pub struct Pool {
    server: Server,
    most: usize,
    turns: Semaphore,
    idle: Mutex<Vec<Client>>,
}

impl Pool {
    /// A pool that connects when it must, at most so often.
    #[must_use]
    pub fn new(server: Server, most: usize) -> Self {
        let most = most.max(1);
        Self { server, most, turns: Semaphore::new(most), idle: Mutex::new(Vec::new()) }
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// How many connections there may be.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// A connection for a while.
    pub async fn lend(&self) -> Result<Lent<'_>, Outage> {
        let turn = match timeout(WAITING, self.turns.acquire()).await {
            Ok(turn) => turn.map_err(|_| Outage::Cut)?,
            Err(_) => return Err(Outage::AllInUse),
        };
        let idle = {
            let mut idle = self.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let client = match idle {
            Some(client) => client,
            None => self.server.connect().await?,
        };
        Ok(Lent { pool: self, client: Some(client), _turn: turn })
    }

    /// Closes what nobody uses: what one connection suffered, the others have suffered too.
    pub fn forget(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        // It holds connections and no half-made change.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back when it is dropped, unless it broke.
#[derive(Debug)]
pub struct Lent<'p> {
    pool: &'p Pool,
    client: Option<Client>,
    _turn: SemaphorePermit<'p>,
}

impl Lent<'_> {
    /// Closes the connection instead of giving it back.
    pub fn discard(mut self) {
        self.client = None;
    }
}

impl Deref for Lent<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("it is taken only when this is dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.pool.idle().push(client);
        }
    }
}
