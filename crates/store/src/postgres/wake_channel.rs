//! Hints between programs: who makes a run due tells the others, by `NOTIFY`.
//!
//! Never inside a commit: the server lets those that notify commit one after the other. Many hints at
//! about the same time are one. Where they are lost, whoever polls finds what is due all the same; so a
//! pooler that keeps no sessions, through which nothing is heard, does no harm.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;

use super::database::SharedPgDatabase;
use crate::WakeListener;
use crate::wake::WakeNotifier;

const LISTEN: &str = "LISTEN countersign_due";

/// How long hints are gathered before one is sent.
const NOTIFY_DELAY: Duration = Duration::from_millis(20);

/// How long it takes until a connection that broke is made again; what was said meanwhile is lost.
const RECONNECT_PAUSE: Duration = Duration::from_secs(2);

/// Rings here, tells others, and hears them.
#[derive(Debug)]
pub(super) struct PgWakeChannel {
    database: SharedPgDatabase,
    wake_notifier: Arc<WakeNotifier>,
    /// Whether one is about to be sent.
    notify_pending: Arc<AtomicBool>,
    /// Whether others are heard.
    listening: Arc<AtomicBool>,
    /// What this program's own hints are known by.
    sender_id: String,
}

impl PgWakeChannel {
    pub(super) fn new(database: SharedPgDatabase) -> Self {
        use std::hash::BuildHasher as _;
        let chance = std::hash::RandomState::new().hash_one(std::process::id());
        let sender_id = format!("{chance:016x}");
        let (wake_notifier, notify_pending, listening) =
            <(Arc<WakeNotifier>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        Self { database, wake_notifier, notify_pending, listening, sender_id }
    }

    /// Something may be due.
    pub(super) fn notify(&self) {
        self.wake_notifier.notify();
        if self.notify_pending.swap(true, Ordering::SeqCst) {
            return;
        }
        let (database, sending) = (Arc::clone(&self.database), Arc::clone(&self.notify_pending));
        let notify = format!("SELECT pg_notify('countersign_due', '{}')", self.sender_id);
        drop(tokio::spawn(async move {
            tokio::time::sleep(NOTIFY_DELAY).await;
            sending.store(false, Ordering::SeqCst);
            // Lost without harm.
            drop(database.commit_once(&[super::pipeline::SqlStatement::new(&notify)]).await);
        }));
    }

    /// Hints from here and from others, from now on.
    pub(super) fn subscribe(&self) -> WakeListener {
        // Outside a runtime there is nobody to hear.
        if let Ok(runtime) = Handle::try_current()
            && !self.listening.swap(true, Ordering::SeqCst)
        {
            let hearing = PgListenGuard(Arc::clone(&self.listening));
            let (database, bell) =
                (Arc::downgrade(&self.database), Arc::downgrade(&self.wake_notifier));
            drop(runtime.spawn(run_listener(database, bell, self.sender_id.clone(), hearing)));
        }
        self.wake_notifier.subscribe()
    }
}

/// Says when it is over that nobody hears: a runtime may end before the store.
struct PgListenGuard(Arc<AtomicBool>);

impl Drop for PgListenGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

async fn run_listener(
    database: Weak<super::database::PostgresDatabase>,
    bell: Weak<WakeNotifier>,
    name: String,
    _hearing: PgListenGuard,
) {
    while let Some(server) = database.upgrade().map(|database| database.server().clone()) {
        let (rung, own) = (bell.clone(), name.clone());
        let heard = Box::new(move |from: &str| {
            if let Some(bell) = rung.upgrade().filter(|_| from != own) {
                bell.notify();
            }
        });
        if let Ok(client) = server.connect_with_handler(Some(heard)).await
            && client.batch_execute(LISTEN).await.is_ok()
        {
            // Whatever was said while nobody listened.
            let Some(bell) = bell.upgrade() else { return };
            bell.notify();
            drop(bell);
            while !client.is_closed() && database.strong_count() > 0 {
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        } else {
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }
}
