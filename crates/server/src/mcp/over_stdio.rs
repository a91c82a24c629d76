//! MCP over standard input and output, for the agent that started this process. Runs are kept going meanwhile.

use std::sync::Arc;
use std::time::Duration;

use countersign_store::TenantId;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::io::stdio_pipes;
use thiserror::Error;

use super::door::{Door, Who};
use crate::access::{Caller, Demand, Hosts, Keyring, Role};
use crate::house::{House, HouseError};
use crate::http::{App, Quotas, Rates};
use crate::serve::work;
use crate::service_limits::ServiceLimits;
use crate::stop::Stop;

/// How long steps that are under way may still take once the agent has gone.
const GRACE: Duration = Duration::from_secs(5);

/// Why nothing can be spoken.
#[derive(Debug, Error)]
pub enum StdioError {
    /// There is no desk to work at.
    #[error(transparent)]
    House(#[from] HouseError),
    /// The other side does not speak MCP.
    #[error("no session of MCP: {0}")]
    NoSession(String),
}

/// What a session over standard input and output is like.
pub struct Session {
    /// The house.
    pub house: Arc<House>,
    /// Its keys, which nobody asks for here.
    pub keyring: Arc<Keyring>,
    /// Whether the agent may say yes or no in a person's place.
    pub decides: bool,
}

/// Speaks until the agent closes its side, or the end comes; then what is under way is brought to its end.
pub async fn over_stdio(
    session: Session,
    end: impl Future<Output = ()> + Send,
) -> Result<(), StdioError> {
    let Session { house, keyring, decides } = session;
    let (stop, stopping) = Stop::new();
    let desk = house.desk(&TenantId::default())?;
    let user = house.furniture().user.clone();
    let app = App {
        house: Arc::clone(&house),
        keyring,
        hosts: Hosts::of(&[], Demand::default()),
        token: None,
        inboxes: Arc::default(),
        metrics: Arc::default(),
        traces: Arc::default(),
        rates: Arc::new(Rates::new(1)),
        quotas: Arc::new(Quotas::new(&ServiceLimits::default())),
        body_pause: ServiceLimits::default().body_pause,
        answers: Arc::default(),
        stopping: stopping.clone(),
    };
    let caller = Caller { desk, role: Role::Admin, user, key: None };
    let door = Door::new(app, Who::Local(caller), decides);
    let worker = tokio::spawn(async move { work(&house, stopping, GRACE).await });
    let spoken = tokio::select! {
        spoken = speak(door) => spoken,
        () = end => Ok(()),
    };
    stop.say();
    // A worker that broke down has nothing left to end.
    drop(worker.await);
    spoken
}

async fn speak(door: Door) -> Result<(), StdioError> {
    let no_session = |error: &dyn std::error::Error| StdioError::NoSession(error.to_string());
    let running = match rmcp::serve_server(door, stdio_pipes()).await {
        Ok(running) => running,
        // An agent that thought better of it.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(no_session(&error)),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(no_session(&error)),
        Ok(_) => Ok(()),
    }
}
