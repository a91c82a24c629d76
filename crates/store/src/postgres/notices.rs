//! Hints between programs: who makes a run due tells the others, by `NOTIFY`.
//!
//! Never inside a commit: the server lets those that notify commit one after the other. Many hints at
//! about the same time are one. Where they are lost, whoever polls finds what is due all the same; so a
//! pooler that keeps no sessions, through which nothing is heard, does no harm.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;

use super::database::Shared;
use crate::Wakes;
use crate::wakes::Bell;

const LISTEN: &str = "LISTEN countersign_due";

/// How long hints are gathered before one is sent.
const GATHERED: Duration = Duration::from_millis(20);

/// How long it takes until a connection that broke is made again; what was said meanwhile is lost.
const PAUSE: Duration = Duration::from_secs(2);

/// Rings here, tells others, and hears them.
#[derive(Debug)]
pub(super) struct Notices {
    database: Shared,
    bell: Arc<Bell>,
    /// Whether one is about to be sent.
    sending: Arc<AtomicBool>,
    /// Whether others are heard.
    hearing: Arc<AtomicBool>,
    /// What this program's own hints are known by.
    name: String,
}

impl Notices {
    pub(super) fn new(database: Shared) -> Self {
        use std::hash::BuildHasher as _;
        let chance = std::hash::RandomState::new().hash_one(std::process::id());
        let name = format!("{chance:016x}");
        let (bell, sending, hearing) = <(Arc<Bell>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        Self { database, bell, sending, hearing, name }
    }

    /// Something may be due.
    pub(super) fn tell(&self) {
        self.bell.ring();
        if self.sending.swap(true, Ordering::SeqCst) {
            return;
        }
        let (database, sending) = (Arc::clone(&self.database), Arc::clone(&self.sending));
        let notify = format!("SELECT pg_notify('countersign_due', '{}')", self.name);
        drop(tokio::spawn(async move {
            tokio::time::sleep(GATHERED).await;
            sending.store(false, Ordering::SeqCst);
            // Lost without harm.
            drop(database.keep(&[super::pipeline::Call::new(&notify)]).await);
        }));
    }

    /// Hints from here and from others, from now on.
    pub(super) fn listen(&self) -> Wakes {
        // Outside a runtime there is nobody to hear.
        if let Ok(runtime) = Handle::try_current()
            && !self.hearing.swap(true, Ordering::SeqCst)
        {
            let hearing = Hearing(Arc::clone(&self.hearing));
            let (database, bell) = (Arc::downgrade(&self.database), Arc::downgrade(&self.bell));
            drop(runtime.spawn(hear(database, bell, self.name.clone(), hearing)));
        }
        self.bell.listen()
    }
}

/// Says when it is over that nobody hears: a runtime may end before the store.
struct Hearing(Arc<AtomicBool>);

impl Drop for Hearing {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

async fn hear(
    database: Weak<super::database::PostgresDatabase>,
    bell: Weak<Bell>,
    name: String,
    _hearing: Hearing,
) {
    while let Some(server) = database.upgrade().map(|database| database.server().clone()) {
        let (rung, own) = (bell.clone(), name.clone());
        let heard = Box::new(move |from: &str| {
            if let Some(bell) = rung.upgrade().filter(|_| from != own) {
                bell.ring();
            }
        });
        if let Ok(client) = server.connect_hearing(Some(heard)).await
            && client.batch_execute(LISTEN).await.is_ok()
        {
            // Whatever was said while nobody listened.
            let Some(bell) = bell.upgrade() else { return };
            bell.ring();
            drop(bell);
            while !client.is_closed() && database.strong_count() > 0 {
                tokio::time::sleep(PAUSE).await;
            }
        } else {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
