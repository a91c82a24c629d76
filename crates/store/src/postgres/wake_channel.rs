//! Wake hints between programs: a program that makes a run due notifies the others with `NOTIFY`.
//!
//! The notification is never part of a commit, because the server serializes the commits of
//! transactions that notify. Hints at about the same time are merged into one. If a hint is lost,
//! polling finds the due run anyway; so a pooler that keeps no sessions, through which
//! notifications do not arrive, does no harm.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;

use super::database::SharedPgDatabase;
use crate::WakeListener;
use crate::wake::WakeNotifier;

const LISTEN: &str = "LISTEN countersign_due";

/// How long hints are collected before one is sent.
const NOTIFY_DELAY: Duration = Duration::from_millis(20);

/// How long to wait before a broken connection is opened again; notifications in the meantime are
/// lost.
const RECONNECT_PAUSE: Duration = Duration::from_secs(2);

/// Notifies local listeners and other programs, and receives notifications from them.
#[derive(Debug)]
pub(super) struct PgWakeChannel {
    database: SharedPgDatabase,
    wake_notifier: Arc<WakeNotifier>,
    /// Whether a notification is about to be sent.
    notify_pending: Arc<AtomicBool>,
    /// Whether a task listens for notifications of other programs.
    listening: Arc<AtomicBool>,
    /// Id in this program's own notifications, so that it can ignore them.
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

    /// Announces that something may be due.
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
            // A lost notification does no harm.
            drop(database.commit_once(&[super::pipeline::SqlStatement::new(&notify)]).await);
        }));
    }

    /// Subscribes to hints from this program and from others, from now on.
    pub(super) fn subscribe(&self) -> WakeListener {
        // Outside a runtime, nothing can listen.
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

/// Clears the `listening` flag when dropped, because a runtime may end before the store.
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
            // Covers the notifications that were lost while nothing listened.
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
